// Shows that there is a new message, and opens its page. What it says never comes this way. The server puts WORDS, in
// the reader's language, before this file (proactive.push.views.service_worker).
/* global WORDS, clients */

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));

self.addEventListener('push', (event) => event.waitUntil(show(noticeIn(event))));

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});

// Browsers demand that each push is shown, so that one which cannot be read leads to the front page.
function noticeIn(event) {
  try {
    const { url, tag } = event.data.json();
    return { url: ownAddress(url), tag: String(tag) };
  } catch {
    return { url: '/', tag: 'new' };
  }
}

// Only pages of this server are opened, whoever wrote the notice.
function ownAddress(url) {
  const { origin, pathname } = new URL(url, self.location.origin);
  return origin === self.location.origin ? pathname.replace(/^\/+/, '/') : '/';
}

function show({ url, tag }) {
  return self.registration.showNotification(WORDS.title, {
    body: WORDS.body, icon: WORDS.icon, tag, renotify: true, data: { url },
  });
}

// The page, in a tab that shows it already if there is one.
async function open(url) {
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const there = tabs.find((tab) => new URL(tab.url).pathname === url);
  return there ? there.focus() : clients.openWindow(url);
}
