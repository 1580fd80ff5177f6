// What somebody asked to have remembered, as its lines show it: asked for by their buttons, told by the server.

import { word } from './words.js';

const SETTLE_MS = 150;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export class Remembered {
  // onNew(words) when a line turns out to be remembered, onRefused(words) when one could not be.
  constructor(chat, lines, handlers) {
    this.chat = chat;
    this.lines = lines;
    this.handlers = handlers;
    this.known = null;
  }

  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), SETTLE_MS);
  }

  // Answers may overtake each other: only the newest one asked for is drawn.
  async refresh() {
    const since = this.lines.firstMessage();
    if (!since) return;
    const asked = (this.asked = Symbol('asked'));
    const answer = await fetch(`${this.chat.dataset.rememberedUrl}?since=${encodeURIComponent(since)}`).catch(() => null);
    if (!answer?.ok || answer.redirected || asked !== this.asked) return; // The lines stay as they were drawn.
    this.draw((await answer.json()).lines);
  }

  draw(remembered) {
    const now = new Map(remembered.map((one) => [one.message_id, one]));
    for (const line of this.lines.root.querySelectorAll('[data-message]')) this.mark(line, now.get(line.dataset.message));
    for (const [message, one] of now) {
      if (this.known && !this.known.has(message)) this.handlers.onNew(`${word('keptSays')} ${one.words}`);
    }
    this.known = now;
  }

  // `one` says what of the line is remembered; without it nothing is.
  mark(line, one) {
    const button = line.querySelector('[data-act="remember"]');
    if (!button) return;
    button.setAttribute('aria-pressed', String(Boolean(one)));
    button.querySelector('[data-keep-label]').textContent = word(one ? 'remembered' : 'rememberThis');
    const kept = line.querySelector('[data-kept]');
    kept.hidden = !one || one.whole;
    kept.querySelector('[data-kept-words]').textContent = one?.words ?? '';
  }

  async ask(button) {
    if (button.getAttribute('aria-pressed') === 'true' || button.ariaBusy === 'true') return;
    const line = button.closest('[data-message]');
    button.ariaBusy = 'true';
    try {
      const one = await this.post(line.dataset.message);
      this.mark(line, one);
      this.known?.set(one.message_id, one);
      this.handlers.onNew(`${word('keptSays')} ${one.words}`);
    } catch (error) {
      this.handlers.onRefused(error.message || word('notRemembered'));
    } finally {
      button.ariaBusy = null;
    }
  }

  // What is remembered now. Throws an Error whose message is what the server said to it, if it said anything.
  async post(message) {
    const answer = await fetch(this.chat.dataset.rememberUrl.replace(NIL_UUID, message), {
      method: 'POST',
      headers: { 'X-CSRFToken': this.chat.dataset.csrf },
    }).catch(() => null);
    const said = await answer?.json().catch(() => null);
    if (!answer?.ok || !said) throw new Error(said?.message ?? '');
    return said;
  }
}
