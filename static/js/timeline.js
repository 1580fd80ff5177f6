// What remains, beside the talk: fetched as html, fetched again when the server says that something settled.

import { keepingFocus } from './focus.js';
import { thisBrowser } from './storage.js';
import { localiseTimes } from './times.js';
import { counted, word } from './words.js';

const SETTLE_MS = 150;
const OPEN_KEY = 'echovessel:timeline';

export async function fetchFragment(url) {
  const answer = await fetch(url, { headers: { 'X-Requested-With': 'fetch' }, credentials: 'same-origin' });
  if (!answer.ok || answer.redirected) throw new Error(`${answer.status} from ${url}`);
  const template = document.createElement('template');
  template.innerHTML = await answer.text();
  return template.content;
}

const timeOf = (row) => Date.parse(row.querySelector('time').dateTime);

export class Timeline {
  constructor(chat) {
    this.chat = chat;
    this.panel = document.getElementById('timeline');
    this.body = document.getElementById('timeline-body');
    this.toggle = document.getElementById('timeline-toggle');
    this.badge = document.getElementById('timeline-badge');
    this.veil = document.getElementById('veil');
    this.wide = window.matchMedia('(min-width: 62rem)');
    this.known = null;
    this.newest = 0;
    this.unseen = 0;
    this.listen();
    this.arrange();
  }

  listen() {
    this.toggle.addEventListener('click', () => this.set(!this.isOpen(), true));
    document.getElementById('timeline-close').addEventListener('click', () => this.set(false, true));
    this.veil.addEventListener('click', () => this.set(false, true));
    this.wide.addEventListener('change', () => this.arrange());
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.isOpen() && !this.wide.matches) this.set(false, true);
    });
  }

  isOpen() {
    return this.chat.dataset.timeline === 'open';
  }

  arrange() {
    this.set(this.wide.matches && thisBrowser.get(OPEN_KEY) !== 'closed', false);
  }

  set(open, chosen) {
    const over = open && !this.wide.matches;
    this.chat.dataset.timeline = open ? 'open' : 'closed';
    this.toggle.setAttribute('aria-expanded', String(open));
    this.panel.inert = !open;
    this.veil.hidden = !over;
    for (const beside of this.chat.querySelectorAll('.chat__head, .chat__main')) beside.inert = over;
    if (open) this.seen();
    if (!chosen) return;
    if (this.wide.matches) thisBrowser.set(OPEN_KEY, open ? 'open' : 'closed');
    (open ? document.getElementById('timeline-title') : this.toggle).focus();
  }

  seen() {
    this.unseen = 0;
    this.badge.hidden = true;
  }

  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), SETTLE_MS);
  }

  // Answers may overtake each other: only the newest one asked for is drawn.
  async refresh() {
    const asked = (this.asked = Symbol('asked'));
    try {
      const fragment = await fetchFragment(this.chat.dataset.timelineUrl);
      if (asked === this.asked) this.draw(fragment);
    } catch {
      if (asked === this.asked && this.known === null) this.body.textContent = word('unreachable');
    }
  }

  draw(fragment) {
    const rows = [...fragment.querySelectorAll('[data-key]')];
    const fresh = this.known === null ? [] : rows.filter((row) => !this.known.has(row.dataset.key));
    this.known = new Set(rows.map((row) => row.dataset.key));
    for (const row of fresh) row.classList.add('is-new');
    localiseTimes(fragment);
    const top = this.body.scrollTop;
    keepingFocus(this.body, () => this.body.replaceChildren(fragment));
    this.body.scrollTop = top;
    // As the rule that ends a conversation counts: memories that are new, and no people, moods, or older ones that
    // were changed, shown again or have come into the list because another one went.
    const memories = fresh.filter((row) => ['event', 'fact'].includes(row.dataset.kind) && timeOf(row) > this.newest);
    this.newest = Math.max(this.newest, ...rows.map(timeOf));
    if (memories.length && !this.isOpen()) this.count(memories.length);
  }

  count(n) {
    this.unseen += n;
    const label = document.createElement('span');
    label.className = 'sr-only';
    label.textContent = counted('newMemories', this.unseen);
    const number = document.createElement('span');
    number.setAttribute('aria-hidden', 'true');
    number.textContent = this.unseen > 99 ? '99+' : String(this.unseen);
    this.badge.replaceChildren(number, label);
    this.badge.hidden = false;
  }
}
