// Looking for words in the conversation, and going to a day: what is far back is shown in a view of its own, so that the
// newest messages stay as they are.

import { addCopyButtons } from './copy.js';
import { fetchFragment } from './timeline.js';
import { localiseTimes } from './times.js';
import { Versions } from './versions.js';
import { word } from './words.js';

const SETTLE_MS = 250;
const SHOWN_MS = 4000;

const byId = (id) => document.getElementById(id);

export class Finder {
  // onLeft() when the newest messages are shown again, onTrouble(words) where something could not be loaded.
  constructor(chat, lines, handlers) {
    this.chat = chat;
    this.live = lines.root;
    this.handlers = handlers;
    this.panel = byId('finder');
    this.input = byId('finder-words');
    this.day = byId('finder-day');
    this.past = byId('past');
    this.root = byId('past-lines');
    this.versions = new Versions({ root: this.root }, () => false);
    this.input.addEventListener('input', () => this.searchSoon());
    byId('finder-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.search();
    });
    byId('finder-close').addEventListener('click', () => this.close());
    byId('past-leave').addEventListener('click', () => this.leave());
    this.day.addEventListener('change', () => this.day.value && this.goToDay(this.day.value));
  }

  isOpen() {
    return !this.panel.hidden;
  }

  open(day = '') {
    this.opener = document.activeElement;
    this.panel.hidden = false;
    if (day) this.day.value = day;
    (day ? this.day : this.input).focus();
    if (day) this.day.showPicker?.();
  }

  close() {
    this.panel.hidden = true;
    byId('finder-found').replaceChildren();
    this.leave();
    (this.opener?.isConnected ? this.opener : byId('words-in')).focus();
  }

  searchSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), SETTLE_MS);
  }

  // Answers may overtake each other: only the newest one asked for is drawn.
  async search() {
    clearTimeout(this.timer);
    const text = this.input.value.trim();
    const asked = (this.asked = Symbol('asked'));
    if (!text) return byId('finder-found').replaceChildren();
    const answer = await fetch(this.chat.dataset.searchUrl, {
      method: 'POST',
      headers: { 'X-CSRFToken': this.chat.dataset.csrf, 'X-Requested-With': 'fetch' },
      body: new URLSearchParams({ text }),
    }).catch(() => null);
    if (asked !== this.asked) return null;
    if (!answer?.ok || answer.redirected) return this.handlers.onTrouble(word('unreachable'));
    const template = document.createElement('template');
    template.innerHTML = await answer.text(); // Escaped by the server.
    return byId('finder-found').replaceChildren(template.content);
  }

  goTo(message) {
    byId('finder-found').replaceChildren();
    const here = this.live.querySelector(`[data-message="${CSS.escape(message)}"]`);
    if (!here) return this.show({ around: message });
    this.leave();
    return this.point(here);
  }

  goToDay(day) {
    byId('finder-found').replaceChildren();
    return this.show({ on: day });
  }

  async show(asked) {
    const fragment = await this.load(asked);
    if (!fragment) return;
    const focus = fragment.querySelector('[data-focus-message]')?.dataset.focusMessage;
    this.root.replaceChildren(fragment);
    byId('log').hidden = true;
    byId('below').classList.add('is-away');
    this.past.hidden = false;
    byId('past-leave').hidden = false;
    this.arrange();
    const line = this.root.querySelector(`[data-message="${CSS.escape(focus)}"]`);
    if (line) this.point(line);
  }

  // More of it, above or below, the words under the reader's eyes staying where they are.
  async more(button) {
    button.disabled = true;
    const place = button.closest('[data-more]');
    const isOlder = button.dataset.act === 'older';
    const fragment = await this.load({ [isOlder ? 'before' : 'after']: place.dataset.more });
    if (!fragment) return;
    fragment.querySelector('[data-focus-message]')?.remove();
    const fromEnd = this.past.scrollHeight - this.past.scrollTop;
    const [near, far] = isOlder ? [place.nextElementSibling, [...fragment.querySelectorAll('[data-day]')].at(-1)] : [fragment.querySelector('[data-day]'), [...this.root.querySelectorAll('[data-day]')].at(-1)];
    if (near?.matches('[data-day]') && near.dataset.day === far?.dataset.day) near.remove();
    place.replaceWith(fragment);
    if (isOlder) this.past.scrollTop = this.past.scrollHeight - fromEnd;
    this.arrange();
  }

  async load(asked) {
    try {
      const fragment = await fetchFragment(`${this.chat.dataset.historyUrl}?${new URLSearchParams(asked)}`);
      localiseTimes(fragment);
      return fragment;
    } catch {
      this.handlers.onTrouble(word('unreachable'));
      return null;
    }
  }

  arrange() {
    addCopyButtons(this.root);
    this.versions.arrange();
    this.handlers.onShown();
  }

  point(line) {
    line.scrollIntoView({ block: 'center' });
    line.classList.add('is-found');
    setTimeout(() => line.classList.remove('is-found'), SHOWN_MS);
    line.tabIndex = -1;
    line.focus({ preventScroll: true });
    this.mark(line.querySelector('.bubble'));
  }

  // The words that were looked for, where one text node has them.
  mark(bubble) {
    const words = this.input.value.trim().toLowerCase();
    if (!words || !('highlights' in CSS)) return;
    const ranges = [];
    const walker = document.createTreeWalker(bubble, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data.toLowerCase();
      for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
        const range = new Range();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + words.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set('found', new Highlight(...ranges));
  }

  leave() {
    if (this.past.hidden) return;
    this.past.hidden = true;
    byId('past-leave').hidden = true;
    byId('log').hidden = false;
    byId('below').classList.remove('is-away');
    this.root.replaceChildren();
    this.handlers.onLeft();
  }
}
