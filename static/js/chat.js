// The chat page: what comes through the socket is drawn, what is written goes out and is kept until confirmed.

import { Asked } from './asked.js';
import { Composer } from './composer.js';
import { addCopyButtons, copy, textOf } from './copy.js';
import { greet } from './greeting.js';
import { Lazy, forgetDialog } from './lazy.js';
import { Learned } from './learned.js';
import { Lines } from './lines.js';
import { Remembered } from './remembered.js';
import { Reply } from './reply.js';
import { Scrolling } from './scrolling.js';
import { Shortcuts } from './shortcuts.js';
import { Socket } from './socket.js';
import { Speech } from './speech.js';
import { thisBrowser } from './storage.js';
import { Timeline, fetchFragment } from './timeline.js';
import { localiseTimes } from './times.js';
import { Unsent } from './unsent.js';
import { Versions } from './versions.js';
import { shape, word } from './words.js';

const REPLAY_LIMIT_MS = 2000;
const RESUME_PAUSE_MS = 1000;
const SEEN_LIMIT = 5000;
const NOTICE_MS = 8000;
const SLOW_MS = 8000;
const NOT_SIGNED_IN = 4401;
const OFFLINE_KEY = 'echovessel:offline-banner';
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

const chat = document.getElementById('chat');
const announcer = document.getElementById('announcer');
const noteAnnouncer = document.getElementById('note-announcer');
const stopButton = document.getElementById('stop');
const endButton = document.getElementById('end-talk');
const offRecordButton = document.getElementById('off-record');
const title = document.title;

const lines = new Lines(document.getElementById('lines'));
const unsent = new Unsent(chat.dataset.persona);
const scrolling = new Scrolling(document.getElementById('log'), document.getElementById('below'));
const timeline = new Timeline(chat);
const versions = new Versions(lines, () => Boolean(chat.dataset.openSession) && !runningTurn);
const remembered = new Remembered(chat, lines, { onNew: announce, onRefused: (words) => showNotice(words, null, NOTICE_MS) });
const learned = new Learned(chat, lines);
const dialog = forgetDialog({ onDone: () => announce(word('forgotten')) });
const asked = new Asked(chat, lines, dialog, {
  onDrawn: () => scrolling.grown(),
  onSaid: (words) => announce(words),
  onTrouble: (words) => showNotice(words, null, NOTICE_MS),
  onDone: () => composer.input.focus(),
});
const composer = new Composer(document.getElementById('composer'), {
  persona: chat.dataset.persona,
  maxChars: Number(chat.dataset.maxChars),
  onSend: say,
});

const finder = new Lazy(async () => {
  const { Finder } = await import('./find.js');
  return new Finder(chat, lines, {
    onShown: () => speech.show(document.getElementById('past')),
    onLeft: () => scrolling.grown(),
    onTrouble: (words) => showNotice(words, null, NOTICE_MS),
  });
});
const speech = new Speech(chat.dataset.language, composer, {
  onSay: announce,
  onTrouble: (words) => showNotice(words, null, NOTICE_MS),
});

let lastEventId = Number(chat.dataset.lastEventId) || 0;
let resumeFrom = lastEventId;
let replayUntil = 0;
let replayTimer = null;
let replayed = false; // Old lines are sent again only once the server has told what it already has.
let resumedAt = 0;
let askedToEnd = false;
let runningTurn = chat.dataset.openTurn || null;
const seen = new Set();
const replies = new Map();

// ---- out

const socket = new Socket(chat.dataset.socket, {
  onOpen: () => {
    resumeFrom = lastEventId;
    replayed = false;
    for (const reply of replies.values()) reply.stale = true; // The server may have begun again meanwhile.
  },
  onFrame: receive,
  onState: showState,
  onGone: (code) => {
    showState('gone');
    if (code === NOT_SIGNED_IN) showSignIn();
    else showNotice(word('reload'));
  },
  onRefused: (attempt) => attempt === 3 && askWhetherSignedIn(),
});

function say(content, replaces) {
  const line = unsent.add(content, Boolean(chat.dataset.offRecord), replaces);
  deliver(line);
  speech.stop();
  finder.loaded?.leave();
  scrolling.toEnd();
}

function deliver(line) {
  const { client_id, content, off_the_record = false, replaces = null } = line;
  const sent = replayed && socket.send({ type: 'message', client_id, content, off_the_record, replaces });
  lines.drawUnsent(line, line.refused ?? word(sent ? 'sending' : 'waiting'));
}

function deliverAll() {
  clearTimeout(replayTimer);
  replayed = true;
  for (const line of unsent.toSend()) deliver(line);
}

function resend(clientId) {
  const line = unsent.refuse(clientId, null);
  if (line) deliver(line);
}

function takeBack(clientId) {
  const line = unsent.find(clientId);
  unsent.drop(clientId);
  lines.dropUnsent(clientId);
  if (line) composer.write([line.content, composer.input.value].filter(Boolean).join('\n'));
  composer.input.focus();
}

function resumeAgain() {
  if (Date.now() - resumedAt < RESUME_PAUSE_MS) return;
  resumedAt = Date.now();
  socket.send({ type: 'resume', after: lastEventId });
}

// ---- in

const handlers = {
  'chat.connection.ready': ready,
  'chat.connection.heartbeat': () => {},
  'chat.connection.waking': () => wake(true),
  'chat.connection.awake': () => wake(false),
  'chat.message.user_appended': userAppended,
  'chat.message.care': careAdded,
  'chat.message.replaced': replaced,
  'chat.turn.chosen': chosen,
  'chat.turn.snapshot': snapshot,
  'chat.turn.thinking': thinking,
  'chat.message.token': token,
  'chat.message.done': done,
  'chat.turn.failed': failed,
  'chat.session.closing': sessionClosing,
  'chat.session.boundary': sessionBoundary,
  'chat.session.waiting': sessionWaiting,
  'chat.session.off_the_record': offTheRecord,
  'chat.session.erased': sessionErased,
  'chat.mood.update': moodUpdated,
  'chat.settings.updated': settingsUpdated,
  'memory.node.forgotten': forgotten,
  'memory.forget.asked': (data) => asked.receive('memory.forget.asked', data),
  'memory.correction.asked': (data) => asked.receive('memory.correction.asked', data),
  'memory.request.asked': (data) => asked.receive('memory.request.asked', data),
  'memory.offer.settled': (data) => asked.settled(data),
  'memory.node.updated': (data) => data.change === 'superseded' && asked.superseded(data),
  'memory.message.restored': (data) => lines.restore(data),
  'memory.import.withheld': (data) => lines.withhold(data.message_ids),
  'memory.import.shown': (data) => lines.restore(data),
  error: refused,
};

function receive(frame) {
  const { event, id, data = {} } = frame;
  if (id) {
    if (seen.has(id)) return;
    note(id);
  }
  handlers[event]?.(data);
  if (/^(memory\.|chat\.mood\.|chat\.session\.)/.test(event)) timeline.refreshSoon();
  if (/^memory\.(event|node)\./.test(event)) remembered.refreshSoon();
  if (/^memory\.(event|node|thought)\.|^chat\.session\.boundary$/.test(event)) learned.refreshSoon();
  if (!replayed && id && id >= replayUntil) deliverAll();
}

function note(id) {
  seen.add(id);
  lastEventId = Math.max(lastEventId, id);
  if (seen.size > SEEN_LIMIT) seen.delete(seen.values().next().value);
}

function ready(data) {
  socket.ready();
  wake(false);
  socket.send({ type: 'resume', after: resumeFrom });
  replayUntil = data.last_event_id ?? 0;
  if (replayUntil <= resumeFrom) deliverAll();
  else replayTimer = setTimeout(deliverAll, REPLAY_LIMIT_MS);
}

function userAppended(data) {
  unsent.drop(data.client_id);
  const notes = lines.addUser(data);
  if (notes) noteAnnouncer.textContent = notes; // A place of its own: what is announced next must not take it.
  if (data.session_id) openSession(data.session_id);
  scrolling.news();
}

function replaced(data) {
  versions.setAside(data.message_ids, data.turn_id);
  for (const id of data.message_ids) lines.dropFailed(id);
  versions.arrange();
  announce(word('edited'));
}

function chosen(data) {
  announce(word(versions.chosen(data) ? 'wordingChosen' : 'answerChosen'));
}

function careAdded(data) {
  const notes = lines.addHelp(data);
  if (notes) noteAnnouncer.textContent = notes;
}

function snapshot(data) {
  if (lines.isDone(data.turn_id)) return;
  if (data.original_turn_id) lines.startOtherAnswer(data.turn_id, data.original_turn_id);
  const known = replies.get(data.turn_id);
  if (known && !known.stale && data.seq < known.seq && data.text) return; // An older picture than the one on the page.
  const reply = known ?? new Reply();
  reply.restart(data.text ?? '', data.seq ?? 0);
  reply.stale = false;
  replies.set(data.turn_id, reply);
  lines.draw(data.turn_id, reply.text);
  if (data.thinking) lines.think(data.turn_id);
  else if (data.waking) lines.think(data.turn_id, 'waking');
  if (data.waking) announce(word('waking'));
  else waitFor(data.turn_id);
  run(data.turn_id);
  scrolling.news();
}

// Whoever waits for long is told that it is not the page.
function waitFor(turn) {
  setTimeout(() => runningTurn === turn && lines.isSilent(turn) && lines.think(turn, 'slow'), SLOW_MS);
}

function thinking(data) {
  if (lines.isDone(data.turn_id) || replies.get(data.turn_id)?.text) return;
  lines.think(data.turn_id);
  run(data.turn_id);
  announce(word('isThinking'));
  scrolling.grown();
}

function token(data) {
  if (lines.isDone(data.turn_id)) return;
  if (!replies.has(data.turn_id)) {
    replies.set(data.turn_id, new Reply());
    lines.draw(data.turn_id, '');
    run(data.turn_id);
  }
  const added = replies.get(data.turn_id).take(data.delta, data.seq);
  if (added === null) resumeAgain();
  else if (added) lines.add(data.turn_id, added);
  scrolling.news();
}

function done(data) {
  if (lines.isDone(data.turn_id)) return;
  if (!data.message_id) return ended(data);
  if (data.original_turn_id) lines.startOtherAnswer(data.turn_id, data.original_turn_id);
  const text = lines.finish(data);
  rest(data.turn_id);
  addCopyButtons(lines.replyOf(data.turn_id));
  speech.show(lines.replyOf(data.turn_id));
  if (data.original_turn_id) versions.view(lines.replyOf(data.turn_id));
  announce([word('says'), text, data.cut && word('cutOff')].filter(Boolean).join(' '));
  if (document.hidden) document.title = `● ${title}`;
  scrolling.news();
}

// A reply that came to nothing: stopped before its first word, or another answer that was the same.
function ended(data) {
  if (data.original_turn_id) {
    lines.dropReply(data.turn_id);
    if (data.same) showNotice(word('sameAnswer'), null, NOTICE_MS);
  } else {
    lines.fail({ turn_id: data.turn_id, message: word('stoppedEmpty') });
  }
  rest(data.turn_id);
  announce(word(data.same ? 'sameAnswer' : 'stoppedEmpty'));
}

function failed(data) {
  if (data.original_turn_id) {
    lines.dropReply(data.turn_id);
    rest(data.turn_id);
    return showNotice(data.message || word('failed'), null, NOTICE_MS);
  }
  lines.fail(data);
  rest(data.turn_id);
  announce(data.message || word('failed'));
  scrolling.news();
}

function sessionClosing(data) {
  openSession('');
  lines.closing(data.session_id, chat.dataset.offRecord === data.session_id);
  scrolling.grown();
}

function sessionWaiting(data) {
  if (chat.dataset.openSession !== data.session_id) lines.waiting(data);
}

function offTheRecord(data) {
  const was = Boolean(chat.dataset.offRecord);
  if (data.on) openSession(data.session_id);
  chat.dataset.offRecord = data.on ? data.session_id : '';
  document.getElementById('off-record-banner').hidden = !data.on;
  offRecordButton.setAttribute('aria-pressed', String(data.on));
  offRecordButton.disabled = false;
  if (was === data.on) return;
  announce(word(data.on ? 'offRecordOn' : 'offRecordOver'));
  if (!data.on) showNotice(word('offRecordOver'), null, askedToEnd ? NOTICE_MS : 0); // Else it stays until it is seen.
  askedToEnd = false;
}

function sessionErased(data) {
  lines.erase(data.session_id);
  finder.loaded?.leave();
  announce(word('erased'));
}

function sessionBoundary(data) {
  if (data.closed_session_id) {
    if (chat.dataset.openSession === data.closed_session_id) openSession('');
    lines.closed(data);
    scrolling.grown();
  }
  if (data.new_session_id) openSession(data.new_session_id);
}

function forgotten(data) {
  if (data.persona_ids) return location.assign('/'); // There is nobody here any more.
  lines.forget(data);
  finder.loaded?.leave(); // It may show what was forgotten.
  asked.refresh();
  announce(word('forgotten'));
}

// Another model answers from now on: what says that there is none goes. Or the companion has another name or picture.
function settingsUpdated({ offline, changed_fields: changed = [] }) {
  if (changed.some((name) => ['name', 'colour', 'picture'].includes(name))) showCompanion();
  if (offline !== false) return;
  document.getElementById('offline-banner')?.remove();
  document.querySelector('[data-testid="memory-mode"]')?.remove();
  for (const template of document.querySelectorAll('template')) {
    template.content.querySelector('[data-note="memory-mode"]')?.remove();
  }
}

async function showCompanion() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const id of ['jar', 'persona-name']) {
    document.getElementById(id)?.replaceChildren(...(page.getElementById(id)?.childNodes ?? []));
  }
  document.title = page.title;
}

function moodUpdated(data) {
  const place = document.getElementById('mood-words');
  const mood = data.mood || data.mood_summary || '';
  place.textContent = place.dataset.neutral.split(',').includes(mood.toLowerCase()) ? word('atEase') : mood;
  const energy = Math.round(data.energy ?? 5);
  document.querySelector('#jar .vessel').dataset.level = String(Math.min(10, Math.max(0, energy)));
}

const refusals = {
  too_long: 'tooLong',
  empty: 'empty',
  rate_limited: 'rateLimited',
  not_retryable: 'notRetryable',
  internal: 'internal',
  not_last: 'notLast',
  not_open: 'notOpen',
  busy: 'busy',
  withheld: 'isWithheld',
  enough: 'enough',
  passed_over: 'passedOver',
};
const quiet = new Set(['not_running', 'nothing_open']); // The page was behind: putting it right says enough.

function refused(data) {
  if (data.code === 'too_old') return location.reload();
  const words = word(refusals[data.code]) || data.message || word('refused');
  const line = data.client_id && unsent.refuse(data.client_id, words);
  if (line) lines.drawUnsent(line, words);
  else if (!quiet.has(data.code)) showNotice(words, null, NOTICE_MS);
  if (data.code === 'not_retryable' || data.code === 'not_running') resumeAgain();
  stopButton.disabled = false;
  endButton.disabled = !chat.dataset.openSession;
  offRecordButton.disabled = false;
  if (!quiet.has(data.code)) announce(words);
}

// ---- state

function run(turn) {
  if (runningTurn === turn && !stopButton.hidden) return;
  runningTurn = turn;
  stopButton.hidden = false;
  stopButton.disabled = false;
  versions.arrange();
  announce(word('writing'));
}

function rest(turn) {
  replies.delete(turn);
  if (runningTurn === turn) {
    runningTurn = null;
    stopButton.hidden = true;
  }
  versions.arrange();
}

function openSession(session) {
  chat.dataset.openSession = session;
  endButton.disabled = !session;
  versions.arrange();
}

function showState(state) {
  if (state !== 'online') replayed = false;
  if (chat.dataset.state === 'online' && state !== 'online') announce(word(state));
  chat.dataset.state = state;
  document.getElementById('light-words').textContent = word(state);
  for (const line of unsent.lines) lines.drawUnsent(line, line.refused ?? word(state === 'online' ? 'sending' : 'waiting'));
}

// While what the companion remembers with is being loaded, the page says so where it says that it is connected.
function wake(isWaking) {
  chat.toggleAttribute('data-waking', isWaking);
  document.getElementById('light-words').textContent = word(isWaking ? 'waking' : chat.dataset.state);
}

function announce(words) {
  announcer.textContent = words;
}

function showNotice(words, link = null, lasts = 0) {
  const notice = shape('notice');
  notice.firstElementChild.append(words);
  if (link) notice.firstElementChild.append(' ', link);
  document.getElementById('toasts').replaceChildren(notice);
  if (lasts) setTimeout(() => notice.remove(), lasts);
}

function showSignIn() {
  const link = document.createElement('a');
  link.href = `${chat.dataset.loginUrl}?next=${encodeURIComponent(location.pathname)}`;
  link.textContent = word('signIn');
  showNotice(word('signedOut'), link);
}

// A handshake refused by a signed-out login looks like any other lost connection, so ask a page.
async function askWhetherSignedIn() {
  const answer = await fetch(chat.dataset.timelineUrl, { redirect: 'manual' }).catch(() => null);
  if (answer && (answer.type === 'opaqueredirect' || answer.status === 401 || answer.status === 403)) showSignIn();
}

// ---- the hand

// More of the conversation, where the reader has scrolled to its edge or pressed the button.
function more(button) {
  if (button.disabled) return null;
  return button.closest('#past') ? finder.loaded.more(button) : older(button);
}

async function older(button) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  const before = encodeURIComponent(button.closest('[data-more]').dataset.more);
  try {
    const fragment = await fetchFragment(`${chat.dataset.historyUrl}?before=${before}`);
    scrolling.holding(() => {
      lines.prepend(fragment);
      drawn();
    });
    remembered.refresh();
    learned.refresh();
    if (hadFocus) document.getElementById('log').focus({ preventScroll: true });
  } catch {
    button.disabled = false;
    announce(word('unreachable'));
  }
}

async function why(button) {
  const line = button.closest('[data-turn]');
  const place = line.querySelector('[data-xray]');
  const open = button.getAttribute('aria-expanded') !== 'true';
  place.id ||= `why-${line.dataset.turn}`;
  button.setAttribute('aria-controls', place.id);
  button.setAttribute('aria-expanded', String(open));
  place.hidden = !open;
  if (!open || place.dataset.loaded) return;
  place.replaceChildren(shape('loading'));
  try {
    const address = 'spokeFirst' in line.dataset ? chat.dataset.whyNowUrl : chat.dataset.xrayUrl;
    const fragment = await fetchFragment(address.replace(NIL_UUID, line.dataset.turn));
    localiseTimes(fragment);
    place.replaceChildren(fragment);
    place.dataset.loaded = '1';
  } catch {
    place.firstElementChild.textContent = word('unreachable');
  }
}

function retry(button) {
  const turn = button.closest('[data-turn]').dataset.turn;
  if (!socket.send({ type: 'retry', turn_id: turn })) return;
  button.disabled = true;
  setTimeout(() => (button.disabled = false), 5000);
}

function goOffTheRecord(on) {
  askedToEnd = !on;
  if (socket.send({ type: 'off_the_record', on })) offRecordButton.disabled = true;
  else showNotice(word('cannotChange'), null, NOTICE_MS);
  composer.input.focus();
}

// What was drawn by the server gets its buttons.
function drawn() {
  addCopyButtons(lines.root);
  versions.arrange();
  speech.show(lines.root);
  for (const edge of lines.root.querySelectorAll('[data-more]')) edges.observe(edge);
}

function sendFor(button, type) {
  const turn = button.closest('[data-turn]').dataset.turn;
  if (!socket.send({ type, turn_id: turn })) return showNotice(word('cannotChange'), null, NOTICE_MS);
  button.disabled = true;
  setTimeout(() => (button.disabled = false), NOTICE_MS / 4);
}

function copyFrom(button, text) {
  const refused = (words) => showNotice(words, null, NOTICE_MS);
  return copy(text, button, { onDone: announce, onRefused: refused });
}

// Hide a memory or bring it back; chips and timeline are then drawn anew.
async function curate(button) {
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  const answer = await fetch(button.dataset.url, {
    method: 'POST',
    headers: { 'X-CSRFToken': chat.dataset.csrf, 'X-Requested-With': 'fetch' },
  }).catch(() => null);
  const said = answer?.ok ? await answer.json().catch(() => null) : null;
  button.ariaBusy = null;
  if (!said) {
    showNotice(word('notChanged'), null, NOTICE_MS);
    return;
  }
  announce(said.message);
  timeline.refreshSoon();
  learned.refreshSoon();
}

function leaveMenu(button) {
  button.closest('details[data-menu]')?.removeAttribute('open');
}

const acts = {
  older: more,
  newer: more,
  find: (button) => leaveMenu(button) || finder.with((one) => one.open()),
  shortcuts: (button) => leaveMenu(button) || shortcuts.show(),
  goTo: (button) => finder.with((one) => one.goTo(button.dataset.to)),
  toDay: (button) => finder.with((one) => one.open(button.closest('[data-day]').dataset.day)),
  open: (button) => say(button.textContent, null),
  readAloud: (button) => speech.readAloud(button),
  curate,
  leave: (button) => asked.leave(button),
  look: (button) => asked.look(button),
  putBack: (button) => asked.putBack(button),
  another: (button) => asked.another(button),
  mendThis: (button) => asked.mendThis(button),
  why,
  retry,
  remember: (button) => remembered.ask(button),
  resend: (button) => resend(button.closest('[data-client-id]').dataset.clientId),
  anotherAnswer: (button) => sendFor(button, 'another_answer'),
  choose: (button) => sendFor(button, 'choose'),
  earlierAnswer: (button) => versions.browse(button, -1),
  laterAnswer: (button) => versions.browse(button, 1),
  otherWording: (button) => versions.showOther(button),
  editMessage: (button) => {
    const line = button.closest('[data-message]');
    composer.edit(line.dataset.message, line.querySelector('.bubble').textContent);
  },
  copy: (button) => copyFrom(button, textOf(button.closest('[data-role]').querySelector('.bubble'))),
  copyCode: (button) => copyFrom(button, button.previousElementSibling.textContent),
  edit: (button) => takeBack(button.closest('[data-client-id]').dataset.clientId),
};

// Earlier messages are loaded before the reader gets to the edge; not before they have scrolled.
const edges = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && !scrolling.following) more(target.querySelector('button'));
    }
  },
  { root: document.getElementById('log'), rootMargin: '400px' },
);

function editLast() {
  const button = [...lines.root.querySelectorAll('[data-act="editMessage"]:not([hidden])')].at(-1);
  if (button) acts.editMessage(button);
}

function lastReply(act) {
  const reply = [...lines.root.querySelectorAll('[data-role="persona"]:not([data-hidden])')].at(-1);
  const button = reply?.querySelector(`[data-act="${act}"]:not([hidden]):enabled`);
  if (button) acts[act](button);
}

function stop() {
  if (!runningTurn || !socket.send({ type: 'stop', turn_id: runningTurn })) return false;
  stopButton.disabled = true;
  return true;
}

function escape() {
  if (timeline.isOpen() && !timeline.wide.matches) return false; // It closes itself.
  if (composer.editing) composer.stopEditing();
  else if (finder.loaded?.isOpen()) finder.loaded.close();
  else return stop();
  return true;
}

const shortcuts = new Shortcuts(
  {
    '/': () => finder.with((one) => one.open()),
    a: () => lastReply('anotherAnswer'),
    c: () => lastReply('copy'),
    m: () => timeline.set(!timeline.isOpen(), true),
    w: () => composer.input.focus(),
  },
  escape,
);

composer.input.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowUp' || composer.input.value || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  editLast();
});

chat.addEventListener('click', (event) => {
  const button = event.target.closest('[data-act]');
  if (button) acts[button.dataset.act]?.(button);
});

stopButton.addEventListener('click', () => {
  stop();
  composer.input.focus();
});

endButton.addEventListener('click', () => {
  askedToEnd = true;
  if (socket.send({ type: 'close_session' })) endButton.disabled = true;
  composer.input.focus();
});

offRecordButton.addEventListener('click', () => goOffTheRecord(!chat.dataset.offRecord));
document.getElementById('off-record-end').addEventListener('click', () => goOffTheRecord(false));

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) document.title = title;
});

function showOfflineBanner() {
  const banner = document.getElementById('offline-banner');
  if (!banner) return;
  banner.hidden = thisBrowser.get(OFFLINE_KEY) === 'dismissed';
  document.getElementById('offline-dismiss').addEventListener('click', () => {
    banner.hidden = true;
    thisBrowser.set(OFFLINE_KEY, 'dismissed');
    composer.input.focus();
  });
}

function restoreUnsent() {
  for (const line of [...unsent.lines]) {
    if (lines.find('user', 'client-id', line.client_id)) unsent.drop(line.client_id);
    else lines.drawUnsent(line, line.refused ?? word('waiting'));
  }
}

showOfflineBanner();
restoreUnsent();
lines.openLastHelp();
drawn();
if (runningTurn) run(runningTurn);
scrolling.toEnd();
timeline.refresh();
remembered.refresh();
learned.refresh();
asked.refresh();
greet(chat, { onGreeting: announce });
socket.connect();
