// Where one writes. Enter sends, Shift+Enter breaks the line, and an input method may use Enter for itself.

import { thisTab } from './storage.js';
import { numbered } from './words.js';

const WARN_BELOW = 2000;

function lengthOf(text) {
  let n = 0;
  for (const _ of text) n += 1; // Characters as the server counts them, not UTF-16 halves.
  return n;
}

export class Composer {
  constructor(form, { persona, maxChars, onSend }) {
    this.form = form;
    this.input = form.querySelector('textarea');
    this.count = form.querySelector('#composer-count');
    this.button = form.querySelector('#send');
    this.maxChars = maxChars;
    this.onSend = onSend;
    this.draftKey = `echovessel:draft:${persona}`;
    this.editing = null; // The message that what is written takes the place of, and the draft that was here before.
    this.editingBar = form.querySelector('#editing');
    this.listen();
    this.write(thisTab.get(this.draftKey) ?? '');
  }

  listen() {
    this.input.addEventListener('input', () => this.changed());
    this.input.addEventListener('keydown', (event) => this.pressed(event));
    this.form.querySelector('#editing-cancel').addEventListener('click', () => this.stopEditing());
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.send();
    });
  }

  pressed(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return;
    if (event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.send();
  }

  send() {
    const content = this.input.value;
    if (!content.trim() || this.isOver()) return;
    const replaces = this.editing?.message ?? null;
    if (replaces) this.stopEditing();
    else this.write('');
    this.input.focus();
    this.onSend(content, replaces);
  }

  edit(message, content) {
    this.editing = { message, draft: this.editing?.draft ?? this.input.value };
    this.editingBar.hidden = false;
    this.write(content);
    this.input.focus();
    this.input.setSelectionRange(content.length, content.length);
  }

  stopEditing() {
    const { draft } = this.editing ?? { draft: this.input.value };
    this.editing = null;
    this.editingBar.hidden = true;
    this.write(draft);
    this.input.focus();
  }

  write(text) {
    this.input.value = text;
    this.changed();
  }

  isOver() {
    const text = this.input.value;
    return text.length > this.maxChars && lengthOf(text) > this.maxChars;
  }

  changed() {
    thisTab.set(this.draftKey, this.editing ? this.editing.draft : this.input.value);
    this.grow();
    this.tellLength();
    this.button.disabled = !this.input.value.trim() || this.isOver();
  }

  grow() {
    this.input.style.height = 'auto';
    this.input.style.height = `${this.input.scrollHeight}px`;
  }

  tellLength() {
    const text = this.input.value;
    const left = text.length < this.maxChars - WARN_BELOW ? Infinity : this.maxChars - lengthOf(text);
    this.input.setAttribute('aria-invalid', String(left < 0));
    this.count.toggleAttribute('data-over', left < 0);
    const numbers = { n: Math.abs(left), limit: this.maxChars };
    this.count.textContent = left >= WARN_BELOW ? '' : numbered(left < 0 ? 'over' : 'left', numbers);
  }
}
