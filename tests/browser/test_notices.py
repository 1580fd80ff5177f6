"""A notice in a real browser: shown without what was said, and leading to the page. What the browser's maker would
deliver is delivered by the browser's own hands."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import RequestFactory
from playwright.sync_api import BrowserContext, Page

from proactive.push.views import service_worker

REGISTER = "navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => true)"
# Keeps count of the notices that stand on the screen. To ask for them all in the instant between the writing down of
# one and its showing takes it away for ever (Chromium drops what is not on the screen): asking waits for the showing.
COUNT = """() => {
  const show = ServiceWorkerRegistration.prototype.showNotification;
  self.shown = 0;
  ServiceWorkerRegistration.prototype.showNotification = async function (...notice) {
    await show.apply(this, notice);
    self.shown += 1;
  };
}"""
ONCE_SHOWN = """async (count) => {
  const end = performance.now() + 30_000;
  while (self.shown < count) {
    if (performance.now() > end) throw new Error(`${self.shown} of ${count} notices were shown`);
    await new Promise((done) => setTimeout(done, 20));
  }
  const found = await self.registration.getNotifications();
  return found.map(({ title, body, tag, data }) => ({ title, body, tag, url: data.url }));
}"""
CLEAR = "async () => (await self.registration.getNotifications()).forEach((one) => one.close())"


class Site(BaseHTTPRequestHandler):
    """Two empty pages and the worker, as the server gives it."""

    def do_GET(self) -> None:
        is_worker = self.path == "/sw.js"
        body = service_worker(RequestFactory().get("/sw.js")).content if is_worker else b"<title>a page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_worker else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Maker:
    """Who delivers what is pushed."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin = page, origin
        self.registrations: list[str] = []
        self.session = page.context.new_cdp_session(page)
        self.session.on("ServiceWorker.workerRegistrationUpdated", self._see)
        self.session.send("ServiceWorker.enable")
        page.goto(f"{origin}/chat/here/")
        page.evaluate(REGISTER)
        [self.worker] = page.context.service_workers
        self.worker.evaluate(COUNT)
        self.delivered = 0

    def _see(self, seen: dict[str, Any]) -> None:
        self.registrations = [one["registrationId"] for one in seen["registrations"]]

    def delivers(self, text: str) -> dict[str, str]:
        """The notice that is shown once this has come; there is no other."""
        self.session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": self.origin, "registrationId": self.registrations[-1], "data": text},
        )
        self.delivered += 1
        [shown] = self.worker.evaluate(ONCE_SHOWN, self.delivered)
        return shown

    def clears(self) -> None:
        """Whoever reads closes them all."""
        self.worker.evaluate(CLEAR)


@pytest.fixture
def maker(page: Page, context: BrowserContext) -> Iterator[Maker]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    context.grant_permissions(["notifications"], origin=origin)
    yield Maker(page, origin)
    server.shutdown()
    server.server_close()


def test_a_notice_says_that_there_is_something_new_and_where(maker: Maker) -> None:
    words = {"title": "EchoVessel", "body": "There is a new message for you.", "tag": "abc"}
    shown = maker.delivers(json.dumps({"url": "/chat/abc/", "tag": "abc"}))
    assert shown == words | {"url": "/chat/abc/"}
    shown = maker.delivers(json.dumps({"url": "/chat/def/", "tag": "abc"}))
    assert shown == words | {"url": "/chat/def/"}, "a later one takes the place of an earlier one"
    elsewhere = {"https://elsewhere.example/": "/", "//elsewhere.example/": "/", "/.//elsewhere/": "/elsewhere/"}
    strange = {json.dumps({"url": url, "tag": url}): ours for url, ours in elsewhere.items()} | {"no JSON at all": "/"}
    for text, ours in strange.items():
        maker.clears()
        assert maker.delivers(text)["url"] == ours, "only our own pages are opened"
