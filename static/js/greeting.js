// An empty page: the greeting that the model writes takes the place of the plain one, unless somebody is faster.

import { word } from './words.js';

export async function greet(chat, { onGreeting }) {
  const bubble = chat.querySelector('[data-greeting-url]');
  if (!bubble) return;
  const plain = [...bubble.childNodes];
  const thinking = Object.assign(document.createElement('span'), { className: 'thinking', textContent: word('thinking') });
  bubble.replaceChildren(thinking);
  const headers = { 'X-CSRFToken': chat.dataset.csrf, 'X-Requested-With': 'fetch' };
  const answer = await fetch(bubble.dataset.greetingUrl, { method: 'POST', headers }).catch(() => null);
  const html = answer?.ok && !answer.redirected ? await answer.text().catch(() => '') : '';
  if (html) bubble.innerHTML = html; // Sanitised by the server, as replies are.
  else bubble.replaceChildren(...plain);
  delete bubble.dataset.greetingUrl;
  // It came after the page was read aloud. Not where a conversation has begun: there it is hidden, and is a message.
  if (html && !bubble.closest('[hidden]')) onGreeting(`${word('says')} ${bubble.textContent.trim()}`);
}
