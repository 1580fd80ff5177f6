// Shows that there is a new message, and opens its page. What it says never comes this way. Where the server does not
// answer, it shows a page that says so; it keeps nothing else. The server puts WORDS, in the reader's language, before
// this file (proactive.push.views.service_worker).
/* global WORDS, clients */

const KEPT = 'offline';

self.addEventListener('install', (event) => event.waitUntil(keepOfflinePage().finally(() => self.skipWaiting())));
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));

// Without it notices come all the same.
async function keepOfflinePage() {
  try {
    await caches.delete(KEPT);
    await (await caches.open(KEPT)).addAll(WORDS.offline);
  } catch { /* the server answered no more */ }
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const isKept = WORDS.offline.includes(new URL(request.url).pathname);
  const isPage = request.mode === 'navigate' && request.method === 'GET';
  if (isPage || isKept) event.respondWith(answer(request, isPage ? WORDS.offline[0] : request));
});

async function answer(request, otherwise) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(otherwise);
    if (!kept) throw error;
    return kept;
  }
}

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

async function show({ url, tag }) {
  await self.registration.showNotification(WORDS.title, {
    body: WORDS.body, icon: WORDS.icon, badge: WORDS.badge, tag, renotify: true, data: { url },
  });
  // On the app's icon, where the system has such a thing; a page that is looked at takes it away (page.js).
  await self.navigator.setAppBadge?.().catch(() => {});
}

// The page, in a tab that shows it already if there is one.
async function open(url) {
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const there = tabs.find((tab) => new URL(tab.url).pathname === url);
  return there ? there.focus() : clients.openWindow(url);
}
