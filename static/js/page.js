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

localiseTimes(document);
