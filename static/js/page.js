// What every page needs: times in the reader's own clock, closable notices, menus that let go.

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

localiseTimes(document);
