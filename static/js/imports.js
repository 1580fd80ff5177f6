// Bringing memories: a file that is dropped or chosen, on its way with a bar; an import that is at work, looked at again
// and again. Without a script the form sends itself, and the page asks anew every few seconds.

import { localiseTimes } from './times.js';

const LOOK_AGAIN_MS = 1_500;
const FETCHED = { 'X-Requested-With': 'fetch' };

// --- handing a file over

function handOver(form) {
  const file = form.querySelector('input[type="file"]');
  const place = form.querySelector('[data-drop]');
  form.querySelector('[data-drop-words]').hidden = false;
  for (const kind of ['dragenter', 'dragover']) place.addEventListener(kind, (event) => hover(event, true));
  for (const kind of ['dragleave', 'drop']) place.addEventListener(kind, (event) => hover(event, false));
  place.addEventListener('drop', (event) => {
    if (!event.dataTransfer.files.length) return;
    file.files = event.dataTransfer.files;
    file.dispatchEvent(new Event('change', { bubbles: true }));
  });
  file.addEventListener('change', () => say(form, isTooBig(form, file) ? form.dataset.tooBig : ''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (isTooBig(form, file)) say(form, form.dataset.tooBig);
    else send(form);
  });

  function hover(event, over) {
    event.preventDefault();
    place.classList.toggle('is-over', over);
  }
}

function isTooBig(form, file) {
  return (file.files[0]?.size ?? 0) > Number(form.dataset.mostMegabytes) * 1024 ** 2;
}

function say(form, words) {
  const list = form.querySelector('[data-hand-over-trouble]');
  list.replaceChildren();
  if (!words) return;
  const row = document.createElement('li');
  row.textContent = words;
  list.append(row);
}

// By XMLHttpRequest: fetch does not tell how much of a body has gone.
function send(form) {
  const sending = form.querySelector('[data-sending]');
  const button = form.querySelector('button:not([type="button"])');
  const asked = new XMLHttpRequest();
  asked.open('POST', form.action || location.href);
  for (const [name, value] of Object.entries(FETCHED)) asked.setRequestHeader(name, value);
  asked.upload.addEventListener('progress', (event) => {
    if (event.lengthComputable) sending.querySelector('progress').value = (100 * event.loaded) / event.total;
  });
  asked.addEventListener('load', () => answered(asked));
  asked.addEventListener('error', () => failed(form.dataset.unsent));
  say(form, '');
  show(true);
  asked.send(new FormData(form));

  function answered({ status, responseText }) {
    const said = parsed(responseText);
    if (status === 201 && said?.url) location.assign(said.url);
    else failed(said?.message || form.dataset.unsent);
  }

  function failed(words) {
    show(false);
    say(form, words);
    form.querySelector('input[type="file"]').focus();
  }

  function show(busy) {
    sending.hidden = !busy;
    button.disabled = busy;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // A page instead: signed out, or a server that is going down.
  }
}

// --- an import at work

function current() {
  return document.getElementById('import');
}

async function lookAgain() {
  if (!document.hidden) {
    const answer = await fetch(location.href, { headers: FETCHED, credentials: 'same-origin' }).catch(() => null);
    if (answer?.status === 404) return location.replace('..'); // It was forgotten.
    if (answer?.redirected) return location.reload();
    if (answer?.ok) draw(await answer.text());
  }
  return lookSoon();
}

function lookSoon() {
  if (current()?.hasAttribute('data-live')) setTimeout(lookAgain, LOOK_AGAIN_MS);
}

// A question needs its page. What is told already is left as it is, so that it is not read out twice.
function draw(html) {
  const template = document.createElement('template');
  template.innerHTML = html; // Escaped by the server.
  const [was, now] = [current(), template.content.getElementById('import')];
  if (!now || now.dataset.status === 'asking') return location.reload();
  if (was.outerHTML === now.outerHTML) return undefined;
  localiseTimes(now);
  const [said, says] = [was, now].map((one) => one.querySelector('[role="status"]'));
  if (said.textContent === says.textContent) says.replaceWith(said);
  const held = was.contains(document.activeElement) ? document.activeElement.dataset.testid : '';
  was.replaceWith(now);
  if (held) now.querySelector(`[data-testid="${held}"]`)?.focus({ preventScroll: true });
  return undefined;
}

// --- who is who: a name that the file gives stands in the form, until somebody writes another

const given = { persona: 'name', user: 'user_name' };
const filled = new Map();

function fillName(event) {
  const called = event.target.closest('[data-called]')?.dataset.called;
  const { elements } = event.currentTarget;
  const field = elements[given[event.target.value]] ?? (event.target.value === 'user' ? elements.called : null);
  if (!called || !field || (field.value && field.value !== filled.get(field))) return;
  field.value = called.slice(0, field.maxLength);
  filled.set(field, field.value);
}

document.querySelector('.import-form')?.addEventListener('change', fillName);
document.querySelectorAll('[data-hand-over]').forEach(handOver);
lookSoon();
