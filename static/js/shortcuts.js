// Keys of the conversation. Those of a single sign can be switched off: speech input may press them by accident.

import { thisBrowser } from './storage.js';

const OFF_KEY = 'echovessel:no-shortcuts';

function isWriting(target) {
  return target.closest('input, textarea, select, [contenteditable], dialog[open]') !== null;
}

export class Shortcuts {
  // `actions`: what each single key does, by its sign; `escape()` does what Esc means here; true where it did something.
  constructor(actions, escape) {
    this.dialog = document.getElementById('shortcuts');
    this.isOn = document.getElementById('shortcuts-on');
    this.isOn.checked = thisBrowser.get(OFF_KEY) !== 'off';
    this.isOn.addEventListener('change', () => thisBrowser.set(OFF_KEY, this.isOn.checked ? 'on' : 'off'));
    document.addEventListener('keydown', (event) => this.pressed(event, { ...actions, '?': () => this.show() }, escape));
  }

  show() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  pressed(event, actions, escape) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      if (!document.querySelector('dialog[open], details[data-menu][open]') && escape()) event.preventDefault();
      return;
    }
    const action = actions[event.key.toLowerCase()];
    if (!action || !this.isOn.checked || isWriting(event.target)) return;
    event.preventDefault();
    action();
  }
}
