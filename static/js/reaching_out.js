// Notifications in this browser: asked for by the hand alone, and known here by what the server knows of it.

const place = document.getElementById('notices');
const trouble = place.querySelector('[data-notices-trouble]');

function show(state) {
  place.dataset.state = state;
  for (const one of place.querySelectorAll('[data-when]')) one.hidden = !one.dataset.when.split(' ').includes(state);
}

function fail(words) {
  trouble.textContent = words || trouble.dataset.words;
  show('failed');
}

async function digest(text) {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(base64url) {
  const text = atob(base64url.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

async function asked(url, body) {
  const method = body === undefined ? 'GET' : 'POST';
  const headers = { 'X-CSRFToken': place.dataset.csrf, 'X-Requested-With': 'fetch', 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body), credentials: 'same-origin' });
  const said = await answer.json();
  if (!answer.ok) throw new Refused(said.message);
  return said;
}

class Refused extends Error {}

// What this browser is reached by, or null.
async function subscription() {
  const registration = await navigator.serviceWorker.getRegistration(place.dataset.workerUrl);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

async function look() {
  if (!window.isSecureContext) return show('insecure');
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) return show('unsupported');
  if (Notification.permission === 'denied') return show('denied');
  const found = await subscription();
  const known = new Set(place.dataset.known.split(' '));
  return show(found && known.has(await digest(found.endpoint)) ? 'on' : 'off');
}

async function allow() {
  const allowed = await Notification.requestPermission();
  if (allowed !== 'granted') return show(allowed === 'denied' ? 'denied' : 'off');
  await navigator.serviceWorker.register(place.dataset.workerUrl);
  const { pushManager } = await navigator.serviceWorker.ready;
  const { key } = await asked(place.dataset.keyUrl);
  const found = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) });
  await asked(place.dataset.subscribeUrl, { subscription: found.toJSON() });
  return lookAnew();
}

async function stop() {
  const found = await subscription();
  if (found) {
    await asked(place.dataset.unsubscribeUrl, { endpoint: found.endpoint });
    await found.unsubscribe();
  }
  return lookAnew();
}

// By what the server says now. The form above is left as it is: what was chosen there may not be kept yet.
async function lookAnew() {
  const answer = await fetch(location.href, { credentials: 'same-origin' });
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('notices');
  place.dataset.known = fresh.dataset.known;
  place.querySelector('[data-browsers]').replaceWith(fresh.querySelector('[data-browsers]'));
  return look();
}

const actions = { allow, stop };

// The button that was pressed went away: whoever uses the keyboard goes on from what stands there instead.
function keepFocus() {
  if (document.activeElement !== document.body && !place.contains(document.activeElement)) return;
  (place.querySelector('[data-notices]:not([hidden])') ?? document.getElementById('notices-title')).focus();
}

async function trying(action) {
  try {
    await action();
  } catch (error) {
    fail(error instanceof Refused ? error.message : ''); // The browser's own words are in no language of ours.
  }
}

place.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-notices]');
  if (!button) return;
  show('busy');
  await trying(actions[button.dataset.notices]);
  keepFocus();
});

trying(look);
