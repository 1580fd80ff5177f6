// Forgetting in a dialog: the preview of a link, its choices, the receipt. Without it the link leads to a page of its own.

import { localiseTimes } from './times.js';

const FETCHED = { 'X-Requested-With': 'fetch' };

export class ForgetDialog {
  // onDone() once something was forgotten.
  constructor(dialog, handlers = {}) {
    this.dialog = dialog;
    this.handlers = handlers;
    dialog.addEventListener('submit', (event) => this.submitted(event));
    dialog.addEventListener('change', (event) => event.target.closest('[data-forget]') && this.lookAgain());
    dialog.addEventListener('click', (event) => this.clicked(event));
    dialog.addEventListener('close', () => this.closed());
  }

  // Opens the preview that `url` leads to; where that cannot be had here, goes there.
  async open(url, opener) {
    this.opener = opener;
    try {
      const answer = await fetch(url, { headers: FETCHED, credentials: 'same-origin' });
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      this.draw(await answer.text());
      if (!this.dialog.open) this.dialog.showModal();
      this.focus();
    } catch {
      location.assign(url);
    }
  }

  submitted(event) {
    const form = event.target.closest('[data-forget]');
    if (!form) return;
    event.preventDefault();
    this.send(form, event.submitter);
  }

  lookAgain() {
    const button = this.dialog.querySelector('[data-again]');
    if (button) this.send(button.form, button);
  }

  async send(form, button) {
    const name = document.activeElement?.name;
    const value = document.activeElement?.value;
    const body = new FormData(form, button);
    const held = [...form.querySelectorAll('button')];
    for (const each of held) each.disabled = true;
    const asked = { method: 'POST', headers: FETCHED, body, credentials: 'same-origin' };
    const answer = await fetch(form.action, asked).catch(() => null);
    const html = await answer?.text().catch(() => null);
    for (const each of held) each.disabled = false;
    if (typeof html !== 'string') return this.unanswered(form);
    if (![200, 409].includes(answer.status) || answer.redirected) return form.submit(); // Its page says what is wrong.
    this.draw(html);
    this.again(button, name, value);
  }

  unanswered(form) {
    const trouble = form.querySelector('.trouble') ?? document.createElement('p');
    trouble.className = 'trouble';
    trouble.setAttribute('role', 'alert');
    trouble.textContent = this.dialog.dataset.unanswered;
    form.querySelector('h1').after(trouble);
    trouble.scrollIntoView({ block: 'nearest' });
  }

  // After a choice the focus stays on it; else it goes to the head of what has come.
  again(button, name, value) {
    const chosen = [...this.dialog.querySelectorAll('input')].find((one) => one.name === name && one.value === value);
    if (button.hasAttribute('data-again') && chosen && chosen.type !== 'hidden') chosen.focus();
    else this.focus();
    if (this.dialog.querySelector('[data-testid="receipt"]')) this.handlers.onDone?.();
  }

  draw(html) {
    const template = document.createElement('template');
    template.innerHTML = html; // Escaped by the server.
    localiseTimes(template.content);
    for (const button of template.content.querySelectorAll('[data-again]')) button.hidden = true; // Seen to by itself here.
    this.dialog.replaceChildren(template.content);
    if (this.dialog.querySelector('[data-testid="receipt"]')) this.dialog.append(this.closing());
    else this.dialog.scrollTop = 0;
  }

  closing() {
    const row = document.createElement('p');
    row.className = 'forget__buttons';
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button button--quiet';
    button.dataset.close = '';
    button.textContent = this.dialog.dataset.closeWord;
    row.append(button);
    return row;
  }

  focus() {
    this.dialog.querySelector('h1, h2')?.focus();
  }

  clicked(event) {
    if (event.target === this.dialog) this.dialog.close(); // The backdrop is the dialog's own.
    if (!event.target.closest('[data-close]')) return;
    event.preventDefault();
    this.dialog.close();
  }

  closed() {
    const gone = Boolean(this.dialog.querySelector('[data-testid="receipt"]'));
    this.dialog.replaceChildren();
    if (this.opener?.isConnected) this.opener.focus();
    else (document.getElementById('words-in') ?? document.getElementById('content'))?.focus();
    this.handlers.onClosed?.(gone);
  }
}
