// Keys of the conversation. Those of a single sign can be switched off: speech input may press them by accident.

import { thisBrowser } from './storage.js';

const OFF_KEY = 'echovessel:no-shortcuts';

function isWriting(target) {
  return target.closest('input, textarea, select, [contenteditable], dialog[open]') !== null;
}

export class Shortcuts {
  // `deeds`: what each single key does, by its sign; `escape()` does what Esc means here; true where it did something.
  constructor(deeds, escape) {
    this.dialog = document.getElementById('shortcuts');
    this.isOn = document.getElementById('shortcuts-on');
    this.isOn.checked = thisBrowser.get(OFF_KEY) !== 'off';
    this.isOn.addEventListener('change', () => thisBrowser.set(OFF_KEY, this.isOn.checked ? 'on' : 'off'));
    document.addEventListener('keydown', (event) => this.pressed(event, { ...deeds, '?': () => this.show() }, escape));
  }

  show() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  pressed(event, deeds, escape) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      if (!document.querySelector('dialog[open], details[data-menu][open]') && escape()) event.preventDefault();
      return;
    }
    const deed = deeds[event.key.toLowerCase()];
    if (!deed || !this.isOn.checked || isWriting(event.target)) return;
    event.preventDefault();
    deed();
  }
}
