// Copying a message, or one block of code.

import { shape, word } from './words.js';

const SHOWN_MS = 2000;

// Pages of a home server are often plain http, where there is no clipboard API.
async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const place = document.createElement('textarea');
  place.value = text;
  place.className = 'sr-only';
  document.body.append(place);
  place.select();
  const copied = document.execCommand('copy');
  place.remove();
  if (!copied) throw new Error('not copied');
  return null;
}

// The words of a message as they are seen, without the buttons between them.
export function textOf(bubble) {
  const buttons = bubble.querySelectorAll('button');
  for (const button of buttons) button.hidden = true;
  const text = bubble.innerText.trim();
  for (const button of buttons) button.hidden = false;
  return text;
}

// onDone(words) and onRefused(words) are told what became of it.
export async function copy(text, button, { onDone, onRefused }) {
  try {
    await write(text);
  } catch {
    onRefused(word('notCopied'));
    return;
  }
  const label = button.querySelector('[data-label]') ?? button;
  const before = label.textContent;
  label.textContent = word('copied');
  button.toggleAttribute('data-done', true);
  button.disabled = true;
  onDone(word('copiedAloud'));
  setTimeout(() => {
    label.textContent = before;
    button.removeAttribute('data-done');
    button.disabled = false;
  }, SHOWN_MS);
}

// A button for every block of code that has none.
export function addCopyButtons(root) {
  for (const block of root.querySelectorAll('.prose pre:not(:has(+ .copy-code))')) block.after(shape('copy-code'));
}
