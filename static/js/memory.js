// The memory pages: what is to be forgotten opens in a dialog; what was forgotten or changed elsewhere is so here, too.

import { keepingFocus } from './focus.js';
import { forgetDialog } from './lazy.js';
import { Socket } from './socket.js';
import { localiseTimes } from './times.js';

const RECEIPT_AGAIN_MS = 15_000;
const SETTLE_MS = 600; // A page that is on its way after an action of this tab comes first.

const page = document.getElementById('content');
// On a narrow screen the tabs scroll sideways: the one that is open is in view.
document.querySelector('.memory__nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center', behavior: 'instant' });
const { home, socket: address } = page.dataset;
// Its id outlives a redrawing.
const one = page.querySelector('[data-testid="node"], [data-testid="somebody"], [data-testid="import"]');

// What this page was about may be gone: the list is the way out.
function renew(gone) {
  if (!gone) return;
  const search = asked();
  if (one) location.replace(home);
  else if (search) search.submit();
  else location.reload();
}

// The form of the search whose answer this page is, if it is one: such a page cannot be asked for by its address.
function asked() {
  return page.querySelector('[data-asked]');
}

// What this page shows of a memory was changed, in another tab or in a talk. What somebody is writing here stays.
function updated({ node_id: id }) {
  if (!page.querySelector(`[data-node="${CSS.escape(id)}"], [data-entity="${CSS.escape(id)}"]`)) return;
  clearTimeout(redrawing);
  redrawing = setTimeout(redraw, SETTLE_MS);
}

async function redraw() {
  if (document.getElementById('dialog').open || page.querySelector('details.part[open], input:focus, textarea:focus, select:focus')) return;
  const search = asked();
  const request = search ? { method: 'POST', body: new FormData(search) } : {};
  const answer = await fetch(location.href, { ...request, credentials: 'same-origin' }).catch(() => null);
  if (!answer?.ok || answer.redirected) return; // The page stays as it was drawn.
  const drawn = new DOMParser().parseFromString(await answer.text(), 'text/html');
  localiseTimes(drawn);
  keepingFocus(page, () => page.replaceChildren(...drawn.getElementById('content').childNodes));
}

function forgotten(data) {
  if (data.persona_ids) return location.replace('/');
  const gone = new Set([...(data.node_ids ?? []), ...(data.message_ids ?? []), ...(data.entity_ids ?? [])]);
  if (document.getElementById('dialog').open) return; // It was forgotten here; the page is drawn anew when the receipt was read.
  if (one && gone.has(one.dataset.node ?? one.dataset.entity)) return location.replace(home);
  for (const row of page.querySelectorAll('li[data-node], li[data-line]')) {
    if (gone.has(row.dataset.node ?? row.dataset.line)) row.remove();
  }
  for (const id of data.entity_ids ?? []) {
    const named = `option[value="${CSS.escape(id)}"], a[href$="/people/${CSS.escape(id)}/"]`;
    for (const name of page.querySelectorAll(named)) (name.closest('.people__one') ?? name).remove();
  }
}

// On a narrow screen the pages stand in one row that scrolls: the one that is open is seen.
document.querySelector('.memory__nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });

// The days of a year end today, which is to the right of a narrow screen.
const days = page.querySelector('.heat');
if (days) days.scrollLeft = days.scrollWidth;

// Below the receipt stands no longer that the import is done.
function undone() {
  const says = page.querySelector('[data-testid="import-says"]');
  if (!says) return;
  says.textContent = document.querySelector('#dialog h2').textContent;
  says.closest('section').replaceChildren(says.closest('.import__head'));
}

forgetDialog({ onDone: undone, onClosed: renew });

// A pending receipt is done in a minute or a few.
if (page.querySelector('[data-testid="receipt"][data-status="pending"]')) {
  setTimeout(() => location.reload(), RECEIPT_AGAIN_MS);
}

// An address with #correct opens the form it names.
function openNamed() {
  const named = location.hash && document.getElementById(location.hash.slice(1));
  if (named instanceof HTMLDetailsElement) named.open = true;
}

window.addEventListener('hashchange', openNamed);
openNamed();

let redrawing;
let last = 0;
const socket = new Socket(address, {
  onOpen: () => last && socket.send({ type: 'resume', after: last }),
  onFrame: ({ event, id, data = {} }) => {
    if (event === 'chat.connection.ready') socket.ready();
    last = Math.max(last, id ?? data.last_event_id ?? 0);
    if (event === 'memory.node.forgotten') forgotten(data);
    if (event === 'memory.node.updated') updated(data);
  },
  onState: () => {},
  onGone: () => {},
  onRefused: () => {},
});
socket.connect();
