// The talk as it is drawn. Every method may be called twice with the same thing and draws it once.

import { localiseTimes } from './times.js';
import { counted, shape, word } from './words.js';

// The day (2026-01-31) in the zone the server counts days in, which need not be the browser's.
function dayOf(moment) {
  const zone = document.getElementById('chat').dataset.zone;
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(moment);
}

// Where the preview of forgetting these is: [kind, id] each.
function forgetting(asked) {
  return `${document.getElementById('chat').dataset.forgetUrl}?${new URLSearchParams(asked)}`;
}

export class Lines {
  constructor(root) {
    this.root = root;
    this.hello = document.getElementById('hello');
    this.unsent = document.getElementById('unsent');
  }

  find(role, name, value) {
    return value ? this.root.querySelector(`[data-role="${role}"][data-${name}="${CSS.escape(value)}"]`) : null;
  }

  // Words

  // Returns what is noted beside the line (that she is an AI, where there is help), when it is drawn; else ''.
  addUser(data) {
    if (this.find('user', 'message', data.message_id)) return '';
    const line = shape('user');
    line.querySelector('.bubble').textContent = data.content;
    this.name(line, data);
    if (data.off_the_record) this.markOffRecord(line, data.session_id);
    this.dropUnsent(data.client_id);
    if (data.ai_notice) line.prepend(shape('ai-notice'));
    if (data.care) line.append(this.help(data.care.texts));
    this.append(line);
    if (data.care) this.openLastHelp();
    const notes = [...line.querySelectorAll('[role="note"]')];
    return notes.map((note) => note.textContent.replace(/\s+/g, ' ').trim()).join(' ');
  }

  // Help that was found to be needed after the message had been drawn. Returns its words where it is new, else ''.
  addHelp(data) {
    const line = this.find('user', 'message', data.message_id);
    if (!line || line.querySelector('[data-help]')) return '';
    const help = this.help(data.care.texts);
    line.append(help);
    this.openLastHelp();
    return help.textContent.replace(/\s+/g, ' ').trim();
  }

  help(texts) {
    const help = shape('help');
    const place = help.querySelector('[data-help-texts]');
    for (const text of texts) {
      const words = document.createElement('div');
      words.dir = 'auto';
      for (const line of text.split('\n')) {
        const one = document.createElement('p');
        one.textContent = line;
        words.append(one, '\n'); // Read aloud, what one line says must not run into the next.
      }
      place.append(words, '\n');
    }
    return help;
  }

  // The same words stand open once: beside the newest line that asked for them. The others can be opened.
  openLastHelp() {
    const all = [...this.root.querySelectorAll('[data-help-fold]')];
    for (const fold of all) fold.open = fold === all.at(-1);
  }

  name(line, data) {
    if (data.message_id) line.dataset.message = data.message_id;
    if (data.turn_id) line.dataset.turn = data.turn_id;
    if (data.client_id) line.dataset.clientId = data.client_id;
    if (data.created_at) line.querySelector('time').dateTime = data.created_at;
    if (data.message_id) line.querySelector('[data-act="remember"]').hidden = Boolean(line.dataset.offRecord);
    this.nameForget(line);
    localiseTimes(line);
  }

  nameForget(line) {
    const link = line.querySelector('[data-forget-line]');
    if (!link || !line.dataset.message) return;
    link.href = forgetting([['message', line.dataset.message]]);
    link.hidden = Boolean(line.dataset.offRecord);
  }

  markOffRecord(line, session) {
    line.dataset.offRecord = session;
    line.querySelector('[data-note="off-record"]')?.removeAttribute('hidden');
    for (const action of line.querySelectorAll('[data-act="remember"], [data-forget-line]')) action.hidden = true;
  }

  append(line, after = null) {
    this.hello.hidden = true;
    if (after) {
      after.after(line);
      return;
    }
    this.startDay();
    this.root.append(line);
  }

  startDay() {
    const today = dayOf(new Date());
    const days = this.root.querySelectorAll('[data-day]');
    const last = days[days.length - 1];
    if (last && last.dataset.day >= today) return;
    const line = shape('day');
    line.dataset.day = today;
    line.firstElementChild.textContent = word('today');
    this.root.append(line);
  }

  // Replies

  replyOf(turn) {
    return this.find('persona', 'turn', turn);
  }

  isDone(turn) {
    return Boolean(this.replyOf(turn)?.dataset.message);
  }

  draw(turn, text) {
    const line = this.replyOf(turn) ?? this.startReply(turn);
    line.querySelector('.bubble').textContent = text;
  }

  // The model has said nothing so far: it thinks, is being loaded, or is slow.
  think(turn, state = 'thinking') {
    const line = this.replyOf(turn) ?? this.startReply(turn);
    const thinking = document.createElement('span');
    thinking.className = 'thinking';
    thinking.dataset.testid = state;
    thinking.textContent = word(state);
    line.querySelector('.bubble').replaceChildren(thinking);
  }

  add(turn, delta) {
    const bubble = this.replyOf(turn)?.querySelector('.bubble');
    if (!bubble) return;
    if (bubble.firstChild?.nodeType === Node.TEXT_NODE) bubble.firstChild.appendData(delta);
    else bubble.textContent = delta;
  }

  // Another answer to the messages of `original` stands below the answers that are there.
  startOtherAnswer(turn, original) {
    if (this.replyOf(turn)) return;
    const line = shape('persona');
    line.classList.add('line--streaming', 'line--arriving');
    line.setAttribute('aria-busy', 'true');
    line.dataset.turn = turn;
    line.dataset.original = original;
    const id = CSS.escape(original);
    const before = [...this.root.querySelectorAll(`[data-turn="${id}"], [data-original="${id}"]`)].at(-1);
    if (!before) return;
    this.inherit(line, before);
    before.after(line);
  }

  isSilent(turn) {
    return this.replyOf(turn)?.querySelector('.bubble').childNodes.length === 0;
  }

  dropReply(turn) {
    const line = this.replyOf(turn);
    if (line && !line.dataset.message) line.remove();
  }

  startReply(turn, spokeFirst = false) {
    const line = shape(spokeFirst ? 'first-word' : 'persona');
    line.classList.add('line--streaming', 'line--arriving');
    line.setAttribute('aria-busy', 'true');
    line.dataset.turn = turn;
    this.place(line, turn);
    return line;
  }

  // What answers a line off the record is off the record.
  inherit(line, asked) {
    if (asked?.dataset.offRecord) this.markOffRecord(line, asked.dataset.offRecord);
  }

  // A reply stands below the lines it answers: lines that came later belong to the next turn.
  place(line, turn) {
    const failed = this.find('failed', 'turn', turn);
    const asked = [...this.root.querySelectorAll(`[data-turn="${CSS.escape(turn)}"]`)].at(-1) ?? null;
    this.inherit(line, asked);
    if (failed) failed.replaceWith(line);
    else this.append(line, asked);
  }

  finish(data) {
    const line = this.replyOf(data.turn_id) ?? this.startReply(data.turn_id, data.spoke_first);
    line.classList.remove('line--streaming');
    line.removeAttribute('aria-busy');
    const bubble = line.querySelector('.bubble');
    if (data.html) bubble.innerHTML = data.html; // Sanitised by the server; the only html that frames carry.
    else bubble.textContent = data.content ?? '';
    line.querySelector('[data-note="stopped"]').hidden = !data.stopped;
    line.querySelector('[data-note="cut"]').hidden = !data.cut;
    line.querySelector('[data-act="why"]').hidden = false;
    this.name(line, data);
    line.dataset.message ||= data.turn_id;
    if (data.original_turn_id) {
      line.toggleAttribute('data-set-aside', true);
      line.querySelector('[data-act="remember"]').hidden = true;
    }
    line.querySelector('[data-note="set-aside"]').hidden = !data.original_turn_id;
    return bubble.textContent;
  }

  fail(data) {
    if (this.isDone(data.turn_id)) return;
    this.find('failed', 'turn', data.turn_id)?.remove();
    const line = shape('failed');
    line.dataset.turn = data.turn_id;
    line.querySelector('[data-partial]').textContent = data.partial ?? '';
    line.querySelector('[data-message-text]').textContent = data.message || word('failed');
    line.querySelector('[data-act="retry"]').hidden = data.retryable === false;
    const reply = this.replyOf(data.turn_id);
    this.inherit(line, reply);
    if (reply) reply.replaceWith(line);
    else this.place(line, data.turn_id);
  }

  // The failed reply to a message that was worded anew.
  dropFailed(message) {
    const turn = this.root.querySelector(`[data-message="${CSS.escape(message)}"]`)?.dataset.turn;
    this.find('failed', 'turn', turn)?.remove();
  }

  // The end of a talk

  closing(session, offTheRecord) {
    const label = offTheRecord ? word('offRecordClosing') : `${word('talkClosed')} · ${word('remembering')}`;
    this.rule(session, label, '').dataset.pending = '';
  }

  waiting(data) {
    const why = data.reason === 'budget' ? word('laterBudget') : word('laterProvider');
    delete this.rule(data.session_id, `${word('talkClosed')} · ${why}`, '').dataset.pending;
  }

  // A talk off the record leaves nothing here either.
  erase(session) {
    const id = CSS.escape(session);
    for (const line of this.root.querySelectorAll(`[data-off-record="${id}"], [data-session="${id}"]`)) line.remove();
    this.tidy();
  }

  // What was forgotten: its lines, and what stood about it.
  forget(data) {
    for (const id of data.message_ids ?? []) this.root.querySelector(`[data-message="${CSS.escape(id)}"]`)?.remove();
    for (const id of data.session_ids ?? []) this.root.querySelector(`[data-session="${CSS.escape(id)}"]`)?.remove();
    this.withhold(data.withheld_ids);
    for (const ask of this.root.querySelectorAll('[data-ask]')) ask.remove(); // They show words of memories; the open ones are drawn anew.
    for (const place of this.root.querySelectorAll('[data-xray]')) this.close(place);
    this.tidy();
  }

  withhold(ids) {
    for (const id of ids ?? []) {
      const line = this.root.querySelector(`[data-message="${CSS.escape(id)}"]`);
      line?.querySelector('[data-note="withheld"]')?.removeAttribute('hidden');
      line?.querySelector('[data-act="remember"]')?.setAttribute('hidden', '');
    }
  }

  // An account of a reply is asked for anew: something of it may be gone.
  close(place) {
    place.hidden = true;
    delete place.dataset.loaded;
    place.replaceChildren();
    place.closest('[data-turn]')?.querySelector('[data-act="why"]')?.setAttribute('aria-expanded', 'false');
  }

  // Days on which nothing is left are not named.
  tidy() {
    for (const day of this.root.querySelectorAll('[data-day]')) {
      if (!day.nextElementSibling || day.nextElementSibling.matches('[data-day]')) day.remove();
    }
    this.hello.hidden = Boolean(this.root.firstElementChild);
  }

  closed(data) {
    const rule = this.rule(data.closed_session_id, `${word('talkClosed')} · ${this.kept(data)}`, data.summary);
    delete rule.dataset.pending;
  }

  kept(data) {
    if (data.failed) return word('notKept');
    return this.counts(data.events_count, data.thoughts_count);
  }

  counts(events, thoughts) {
    const counts = [];
    if (events) counts.push(counted('event', events));
    if (thoughts) counts.push(counted('thought', thoughts));
    return counts.join(', ') || word('nothingKept');
  }

  // The rule of a session that has been remembered says how much there is of it, after a reload as when it ended.
  count(rule, events, thoughts) {
    delete rule.dataset.pending;
    rule.querySelector('[data-rule-label]').textContent = `${word('talkClosed')} · ${this.counts(events, thoughts)}`;
  }

  rule(session, label, summary) {
    let rule = this.root.querySelector(`[data-session="${CSS.escape(session)}"]`);
    if (!rule) {
      rule = shape('session');
      rule.dataset.session = session;
      this.append(rule);
    }
    rule.querySelector('[data-rule-label]').textContent = label;
    const forget = rule.querySelector('[data-forget-talk]');
    forget.href = forgetting([['session', session]]);
    forget.hidden = label === word('offRecordClosing');
    const place = rule.querySelector('[data-rule-summary]');
    place.textContent = summary ?? '';
    place.hidden = !summary;
    return rule;
  }

  // Somebody asked in words that something be forgotten: offered below their turn, once.

  ask(data) {
    if (data.asked_id) return this.askBelow('find', data.turn_id);
    const meant = [['message', data.message_ids], ['node', data.node_ids]];
    const asked = meant.flatMap(([kind, ids]) => (ids ?? []).map((id) => [kind, id]));
    if (!asked.length) return null;
    this.withhold(data.withheld_ids);
    const shaped = data.withheld_ids?.length ? 'withheld' : data.sure === false ? 'ask-unsure' : 'ask';
    const ask = this.askBelow(shaped, data.turn_id);
    ask.querySelector('a').href = forgetting(asked);
    return ask;
  }

  askBelow(name, turn) {
    const ask = shape(name);
    ask.dataset.ask = turn;
    this.append(ask, [...this.root.querySelectorAll(`[data-turn="${CSS.escape(turn)}"], [data-ask="${CSS.escape(turn)}"]`)].at(-1) ?? null);
    return ask;
  }

  // What was withheld at a word was put back.
  restore(data) {
    for (const id of data.message_ids.filter((id) => !data.withheld_ids?.includes(id))) {
      const line = this.root.querySelector(`[data-message="${CSS.escape(id)}"]`);
      line?.querySelector('[data-note="withheld"]')?.setAttribute('hidden', '');
      line?.querySelector('[data-act="remember"]')?.removeAttribute('hidden');
    }
    if (data.turn_id) this.root.querySelector(`[data-ask="${CSS.escape(data.turn_id)}"][data-testid="withheld-ask"]`)?.remove();
  }

  // Lines the server has not confirmed

  drawUnsent(line, words) {
    let drawn = this.unsent.querySelector(`[data-client-id="${CSS.escape(line.client_id)}"]`);
    if (!drawn) {
      drawn = shape('unsent');
      drawn.dataset.clientId = line.client_id;
      drawn.querySelector('.bubble').textContent = line.content;
      if (line.off_the_record) this.markOffRecord(drawn, '');
      this.unsent.append(drawn);
      this.hello.hidden = true;
    }
    drawn.toggleAttribute('data-refused', line.refused !== null);
    drawn.querySelector('.line__note').textContent = words;
    for (const button of drawn.querySelectorAll('button')) button.hidden = line.refused === null;
  }

  dropUnsent(clientId) {
    if (clientId) this.unsent.querySelector(`[data-client-id="${CSS.escape(clientId)}"]`)?.remove();
  }

  // Earlier lines

  firstMessage() {
    return this.root.querySelector('[data-message]:not([data-message=""])')?.dataset.message;
  }

  prepend(fragment) {
    this.root.querySelector('[data-more]')?.remove();
    this.forgetRepeatedDay(fragment);
    localiseTimes(fragment);
    this.root.prepend(fragment);
  }

  forgetRepeatedDay(fragment) {
    const days = fragment.querySelectorAll('[data-day]');
    const first = this.root.querySelector('[data-day]');
    if (days.length && first && days[days.length - 1].dataset.day === first.dataset.day) first.remove();
  }
}
