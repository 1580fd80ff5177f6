// Versions of a turn: other answers beside the first, and an earlier wording behind a message that was edited. One of
// them stands; the others are drawn and hidden until they are looked for.

import { numbered } from './words.js';

export class Versions {
  // isOpen() whether the conversation goes on and nothing is being written: only then can versions change.
  constructor(lines, isOpen) {
    this.root = lines.root;
    this.isOpen = isOpen;
    this.viewed = new Map(); // Which of several answers the reader looks at, by the first turn.
  }

  groupOf(line) {
    return line.dataset.original || line.dataset.turn;
  }

  answers(group) {
    const id = CSS.escape(group);
    return [...this.root.querySelectorAll(`[data-role="persona"][data-turn="${id}"], [data-role="persona"][data-original="${id}"]`)];
  }

  standing(answers) {
    return answers.find((line) => !('setAside' in line.dataset));
  }

  // Puts every button and number right. May be called at any time.
  arrange() {
    const said = [...this.root.querySelectorAll('[data-role="user"]')];
    const replies = [...this.root.querySelectorAll('[data-role="persona"]:not([data-turn=""])')];
    const groups = new Map();
    for (const line of replies) groups.set(this.groupOf(line), [...(groups.get(this.groupOf(line)) ?? []), line]);
    for (const [group, answers] of groups) this.arrangeAnswers(group, answers);
    this.arrangeWordings(said);
    const open = this.isOpen();
    const mine = said.findLast((line) => !('setAside' in line.dataset));
    for (const line of said) {
      const withheld = line === mine && line.querySelector('[data-note="withheld"]:not([hidden])');
      line.querySelector('[data-act="editMessage"]').hidden = line !== mine || !open || Boolean(withheld);
    }
    for (const line of replies) {
      const isLast = mine?.dataset.turn && this.groupOf(line) === mine.dataset.turn;
      const again = line.querySelector('[data-act="anotherAnswer"]');
      again.hidden = !isLast || !open || !line.dataset.message || line.hasAttribute('aria-busy');
    }
  }

  arrangeAnswers(group, answers) {
    const standing = this.standing(answers);
    const viewed = answers.find((line) => line.dataset.turn === this.viewed.get(group)) ?? standing ?? answers[0];
    for (const [place, line] of answers.entries()) {
      const several = answers.length > 1;
      line.toggleAttribute('data-hidden', several && line !== viewed && !line.hasAttribute('aria-busy'));
      line.querySelector('[data-answers]').hidden = !several || !standing;
      line.querySelector('[data-answer-number]').textContent = numbered('answerOf', { n: place + 1, total: answers.length });
      line.querySelector('[data-act="earlierAnswer"]').disabled = place === 0;
      line.querySelector('[data-act="laterAnswer"]').disabled = place === answers.length - 1;
      line.querySelector('[data-act="choose"]').hidden = !('setAside' in line.dataset) || !standing || !this.isOpen();
    }
    if (!standing) for (const line of answers) line.toggleAttribute('data-hidden', 'setAside' in line.dataset && !('shown' in line.dataset));
  }

  // The message that stands in the place of others has a button that shows them.
  arrangeWordings(said) {
    const others = this.root.querySelectorAll('[data-set-aside][data-replaced-by]');
    const replaced = new Set([...others].map((line) => line.dataset.replacedBy));
    for (const line of said) {
      const aside = 'setAside' in line.dataset;
      line.querySelector('[data-act="otherWording"]').hidden = aside || !replaced.has(line.dataset.turn);
      line.toggleAttribute('data-hidden', aside && !('shown' in line.dataset));
      line.querySelector('[data-act="choose"]').hidden = !aside || !this.isOpen();
    }
  }

  // What was set aside for this message: the messages and answers of the other wording.
  wordingsBehind(line) {
    const id = line.dataset.turn && CSS.escape(line.dataset.turn);
    return id ? [...this.root.querySelectorAll(`[data-set-aside][data-replaced-by="${id}"]`)] : [];
  }

  showOther(button) {
    const line = button.closest('[data-turn]');
    const open = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(open));
    for (const other of this.wordingsBehind(line)) other.toggleAttribute('data-shown', open);
    this.arrange();
  }

  browse(button, step) {
    const line = button.closest('[data-turn]');
    const answers = this.answers(this.groupOf(line));
    const next = answers[answers.indexOf(line) + step];
    if (!next) return;
    this.view(next);
    next.querySelector(`[data-act="${button.dataset.act}"]:enabled, [data-answers] button:enabled`)?.focus();
  }

  view(line) {
    this.viewed.set(this.groupOf(line), line.dataset.turn);
    this.arrange();
  }

  // Other versions stand from now on. `replacedBy` is the turn in whose favour messages were withheld; what they had
  // replaced themselves is behind it as well.
  setAside(ids, replacedBy = '') {
    for (const id of ids ?? []) {
      const line = this.mark(id, true, replacedBy);
      if (line && replacedBy) for (const other of this.wordingsBehind(line)) other.dataset.replacedBy = replacedBy;
    }
  }

  chosen(data) {
    const chosen = data.message_ids.map((id) => this.find(id)).filter(Boolean);
    const isWording = chosen.some((line) => line.dataset.role === 'user');
    for (const id of data.message_ids) this.mark(id, false);
    this.setAside(data.withheld_ids, isWording ? data.turn_id : '');
    for (const line of chosen) if (line.dataset.role === 'persona') this.viewed.delete(this.groupOf(line));
    this.arrange();
    return isWording;
  }

  find(id) {
    return this.root.querySelector(`[data-message="${CSS.escape(id)}"]`);
  }

  mark(id, aside, replacedBy = '') {
    const line = this.find(id);
    if (!line) return null;
    line.toggleAttribute('data-set-aside', aside);
    delete line.dataset.shown;
    if (replacedBy) line.dataset.replacedBy = replacedBy;
    else delete line.dataset.replacedBy;
    line.querySelector('[data-note="set-aside"]').hidden = !aside;
    line.querySelector('[data-act="otherWording"]')?.setAttribute('aria-expanded', 'false');
    const keep = line.querySelector('[data-act="remember"]');
    if (keep) keep.hidden = aside || Boolean(line.dataset.offRecord);
    return line;
  }
}
