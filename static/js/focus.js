// What is drawn anew keeps the focus where the reader had it: on the same action of the same memory.

export function keepingFocus(place, change) {
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  const node = held?.closest('[data-node]')?.dataset.node;
  const nth = node && [...held.closest('[data-node]').querySelectorAll('a, button')].indexOf(held);
  change();
  if (!node || document.contains(held)) return;
  const again = place.querySelector(`[data-node="${CSS.escape(node)}"]`);
  again?.querySelectorAll('a, button')[nth]?.focus({ preventScroll: true });
}
