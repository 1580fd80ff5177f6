// What was asked for in words, as cards below its turn: what to forget is found, what to correct is shown beside the new
// words. Nothing happens before a press; all words come from the server.

import { openIn } from './lazy.js';
import { localiseTimes } from './times.js';
import { fetchFragment } from './timeline.js';
import { shape, word } from './words.js';

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export class Asked {
  // onDrawn() when a card was drawn, onSaid(words) when something was done, onTrouble(words) when it could not be.
  constructor(chat, lines, dialog, handlers) {
    this.chat = chat;
    this.lines = lines;
    this.dialog = dialog;
    this.handlers = handlers;
    lines.root.addEventListener('submit', (event) => this.submitted(event));
  }

  // The offers that are open when the page loads, and those that still are after something was forgotten.
  async refresh() {
    const answer = await fetch(this.chat.dataset.offersUrl).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const { offers } = await answer.json();
    const open = new Set(offers.map(({ event, data }) => `${event} ${data.turn_id}`));
    for (const card of this.lines.root.querySelectorAll('[data-offer]:not([data-done])')) {
      if (!open.has(`${card.dataset.offer} ${card.dataset.ask}`)) card.remove();
    }
    for (const { event, data } of offers) {
      if (event === 'memory.node.updated') await this.superseded(data);
      else if (this.lines.root.querySelector(`[data-turn="${CSS.escape(data.turn_id)}"]`)) await this.receive(event, data);
    }
  }

  // An offer, drawn once: as it is made, or where a page loads.
  async receive(event, data) {
    if (this.lines.root.querySelector(`[data-offer="${event}"][data-ask="${CSS.escape(data.turn_id)}"]`)) return;
    const card = this.cardFor(event, data);
    if (!card) return;
    card.dataset.offer = event;
    if (event === 'memory.correction.asked' && data.is_open) {
      card.dataset.choices = this.chat.dataset.correctionUrl.replace(NIL_UUID, data.asked_id);
      await this.load(card, card.dataset.choices);
    } else if (event === 'memory.correction.asked') {
      card.dataset.nodes = data.node_ids.join(' ');
      card.dataset.asked = data.asked_id;
      await this.next(card);
    } else if (event === 'memory.request.asked') {
      await this.load(card, this.chat.dataset.mayBeAskedUrl.replace(NIL_UUID, data.turn_id));
    } else if (data.asked_id) {
      card.dataset.find = this.chat.dataset.findUrl.replace(NIL_UUID, data.asked_id);
      await this.load(card, card.dataset.find);
    }
    this.handlers.onDrawn();
  }

  cardFor(event, data) {
    if (event === 'memory.correction.asked') return this.lines.askBelow('correction', data.turn_id);
    if (event === 'memory.request.asked') return this.lines.askBelow('may-be-asked', data.turn_id);
    return this.lines.ask(data);
  }

  // Settled here or in another tab; what was just done here stays, with its undo.
  settled(data) {
    const of = `[data-offer="${CSS.escape(data.offer)}"][data-ask="${CSS.escape(data.turn_id)}"]:not([data-done])`;
    for (const card of this.lines.root.querySelectorAll(of)) card.remove();
  }

  async settle(card) {
    if (!card.dataset.offer) return;
    const headers = { 'X-CSRFToken': this.chat.dataset.csrf, 'X-Requested-With': 'fetch' };
    const body = new URLSearchParams({ offer: card.dataset.offer });
    await fetch(this.chat.dataset.settleUrl.replace(NIL_UUID, card.dataset.ask), { method: 'POST', headers, body }).catch(() => null);
  }

  leave(button) {
    const card = button.closest('[data-ask]');
    card.remove();
    this.settle(card);
    this.handlers.onDone();
  }

  async look(button) {
    const card = button.closest('[data-ask]');
    await this.load(card, `${card.dataset.find}?look=1`);
    card.querySelector('input[name="text"]')?.focus();
  }

  // A model put a memory in the place of older ones: said once for all of them, with undo, until it was seen.
  async superseded(data) {
    const newer = data.superseded_by;
    if (this.lines.root.querySelector(`[data-ask="${CSS.escape(newer)}"]`)) return;
    const card = this.lines.askBelow('correction', newer);
    card.dataset.offer = 'memory.node.updated';
    await this.load(card, this.chat.dataset.supersededUrl.replace(NIL_UUID, newer));
    this.handlers.onDrawn();
  }

  // The memory that is wrong, chosen among those that may be.
  async mendThis(button) {
    const card = button.closest('[data-ask]');
    await this.load(card, `${card.dataset.choices}?${new URLSearchParams({ node: button.dataset.node })}`);
    card.querySelector('textarea')?.focus();
  }

  // "Not that": the next memory that may be meant, or none; or back to the choice.
  async another(button) {
    const card = button.closest('[data-ask]');
    if (card.dataset.choices) {
      await this.load(card, card.dataset.choices);
      return card.querySelector('button')?.focus();
    }
    await this.next(card);
    if (card.isConnected) return card.querySelector('textarea, button')?.focus();
    this.settle(card);
    this.handlers.onDone();
  }

  async next(card) {
    const [node, ...others] = card.dataset.nodes.split(' ').filter(Boolean);
    if (!node) return card.remove();
    card.dataset.nodes = others.join(' ');
    const url = this.chat.dataset.correctionUrl.replace(NIL_UUID, card.dataset.asked);
    await this.load(card, `${url}?${new URLSearchParams({ node })}`);
  }

  async load(card, url) {
    card.replaceChildren(shape('loading'));
    try {
      this.draw(card, await fetchFragment(url));
    } catch {
      card.remove(); // What it was about is gone.
    }
  }

  draw(card, fragment) {
    localiseTimes(fragment);
    card.replaceChildren(fragment);
  }

  submitted(event) {
    const form = event.target.closest('[data-find-search], [data-find-chosen], [data-mend]');
    if (!form) return;
    event.preventDefault();
    if (form.matches('[data-find-chosen]')) openIn(this.dialog, `${form.action}?${new URLSearchParams(new FormData(form))}`, event.submitter);
    else this.send(form);
  }

  async send(form) {
    const card = form.closest('[data-ask]');
    const asked = { method: 'POST', headers: { 'X-Requested-With': 'fetch' }, body: new FormData(form), credentials: 'same-origin' };
    const settles = card.dataset.offer && !form.matches('[data-find-search]');
    if (settles) card.dataset.done = ''; // Before the server says it is settled: what was done here stays.
    const answer = await fetch(form.action, asked).catch(() => null);
    if (!answer?.ok || answer.redirected) {
      delete card.dataset.done;
      const said = await answer?.json().catch(() => null);
      return this.handlers.onTrouble(said?.message || word('notChanged'));
    }
    if (settles) this.settle(card);
    const template = document.createElement('template');
    template.innerHTML = await answer.text(); // Escaped by the server.
    this.draw(card, template.content);
    const said = card.querySelector('[data-focus]');
    if (said) this.handlers.onSaid(said.textContent.replace(/\s+/g, ' ').trim());
    (said ?? card.querySelector('input[name="text"]'))?.focus();
  }

  async putBack(button) {
    const card = button.closest('[data-ask]');
    const url = this.chat.dataset.putBackUrl.replace(NIL_UUID, card.dataset.ask);
    const headers = { 'X-CSRFToken': this.chat.dataset.csrf, 'X-Requested-With': 'fetch' };
    const answer = await fetch(url, { method: 'POST', headers }).catch(() => null);
    const said = answer?.ok ? await answer.json().catch(() => null) : null;
    if (!said) return this.handlers.onTrouble(word('notChanged'));
    card.remove();
    this.handlers.onSaid(said.message);
    this.handlers.onDone();
  }
}
