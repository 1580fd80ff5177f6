// What came of each talk, its summary and what was learned, below the rule that ends it: fetched as html, and anew when something settled.

import { keepingFocus } from './focus.js';
import { fetchFragment } from './timeline.js';

const SETTLE_MS = 200;

export class Learned {
  constructor(chat, lines) {
    this.chat = chat;
    this.lines = lines;
  }

  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), SETTLE_MS);
  }

  // Answers may overtake each other: only the newest one asked for is drawn.
  async refresh() {
    const rules = [...this.lines.root.querySelectorAll('[data-session]:not([data-session=""])')].slice(-60);
    if (!rules.length) return;
    const asked = (this.asked = Symbol('asked'));
    const wanted = new URLSearchParams(rules.map((rule) => ['session', rule.dataset.session]));
    const fragment = await fetchFragment(`${this.chat.dataset.learnedUrl}?${wanted}`).catch(() => null);
    if (fragment && asked === this.asked) keepingFocus(this.lines.root, () => this.draw(rules, fragment));
  }

  draw(rules, fragment) {
    for (const rule of rules) {
      const talk = fragment.querySelector(`[data-talk="${CSS.escape(rule.dataset.session)}"]`);
      if (!talk) continue;
      const { memories, thoughts } = talk.dataset;
      if (memories) this.lines.count(rule, Number(memories), Number(thoughts));
      this.tell(rule.querySelector('[data-rule-summary]'), talk.dataset.summary);
      rule.querySelector('[data-learned]')?.remove();
      const chips = talk.querySelector('[data-learned]');
      if (chips) rule.querySelector('[data-forget-talk]').before(chips);
    }
  }

  // The summary may have been wiped since the page was drawn.
  tell(place, summary) {
    place.textContent = summary;
    place.hidden = !summary;
  }
}
