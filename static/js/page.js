// What every page needs: times in the reader's own clock, closable notices, menus that let go, and what makes an app of it.

import { localiseTimes } from './times.js';

function closeMenus(except) {
  for (const menu of document.querySelectorAll('details[data-menu][open]')) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener('click', (event) => {
  event.target.closest('[data-dismiss]')?.closest('li')?.remove();
  closeMenus(event.target.closest('details[data-menu]'));
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const open = document.querySelector('details[data-menu][open]');
  closeMenus(null);
  open?.querySelector('summary')?.focus();
});

// Nothing that was written stays in the browser, in no tab. The server asks for the same, which only https obeys.
const SIGNED_OUT_KEY = 'echovessel:signed-out';

function clearWords() {
  for (const key of Object.keys(sessionStorage)) if (/^echovessel:(draft|unsent):/.test(key)) sessionStorage.removeItem(key);
}

document.addEventListener('submit', (event) => {
  if (!event.target.matches('[action$="/logout/"]')) return;
  try {
    clearWords();
    localStorage.setItem(SIGNED_OUT_KEY, String(Date.now()));
  } catch {
    // Storage that is blocked holds nothing.
  }
});

window.addEventListener('storage', (event) => {
  if (event.key !== SIGNED_OUT_KEY || !event.newValue) return;
  clearWords();
  location.reload();
});

// The mark of an unread message goes once somebody looks.
function clearBadge() {
  if (document.visibilityState === 'visible') navigator.clearAppBadge?.().catch(() => {});
}

document.addEventListener('visibilitychange', clearBadge);
clearBadge();

// An app on a home screen has no address bar and no page of the browser for a server that does not answer: it has ours.
// In a tab there is no worker before somebody asks for notices.
const worker = document.documentElement.dataset.worker;
if (worker && window.matchMedia('(display-mode: standalone)').matches) {
  navigator.serviceWorker?.register(worker).catch(() => {});
}

localiseTimes(document);
