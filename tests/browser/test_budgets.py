"""What the pages may cost, measured in a real browser and printed: bytes of the chat page, and how much of it jumps
while a reply comes in."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conversation import begin, say, sign_in
from tests.browser.test_small_screens import DRAWN
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says

MAX_CHAT_PAGE_BYTES = 85_000
# A tenth is what Web Vitals calls good, over a whole visit; this is one reply.
MAX_SHIFT = 0.05
SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries().filter((one) => !one.hadRecentInput)))
  .observe({ type: 'layout-shift' });"""
# Playwright's own polling needs eval, which the pages forbid.
SHIFTED = """new Promise((done, fail) => {
    setTimeout(() => fail(new Error('nothing has moved')), 5000);
    (function look() { shifts.length ? done() : requestAnimationFrame(look); })();
})"""
LONG_REPLY = "\n\n".join(
    [
        "Here is the week by the sea, as you asked. " * 6,
        "| day | tide | what we do |\n|---|---|---|\n| Monday | 06:12 | swim before work |\n| Tuesday | 07:01 | walk |",
        "```python\ndef tide(day):\n    return high_water[day] + timedelta(minutes=49)  # wider than the phone\n```",
        "- bring a towel\n- bring bread\n- leave the telephone at home",
        "And in the evening we read what you wrote. " * 12,
    ]
)


def test_a_chat_page_costs_no_more_than_85_kilobytes(
    page: Page, lived_in: Installation, keys: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    sign_in(page, lived_in)
    sizes: dict[str, float] = {}
    addresses: dict[str, str] = {}
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    network.on("Network.responseReceived", lambda got: addresses.update({got["requestId"]: got["response"]["url"]}))
    network.on("Network.loadingFinished", lambda got: sizes.update({got["requestId"]: got["encodedDataLength"]}))
    page.goto(f"{lived_in.url}/chat/{keys['en']}/")
    page.wait_for_load_state("networkidle")
    by_kind: dict[str, float] = {}
    for request, size in sizes.items():
        kind = Path(addresses.get(request, "")).suffix or "page"
        by_kind[kind] = by_kind.get(kind, 0) + size
    total = sum(sizes.values())
    parts = {kind: round(size) for kind, size in by_kind.items()}
    record_property("chat page", f"{total:,.0f} of {MAX_CHAT_PAGE_BYTES:,} bytes in {len(sizes)} answers, {parts}")
    assert total < MAX_CHAT_PAGE_BYTES


def test_nothing_jumps_while_a_long_reply_comes_in_on_a_phone(
    page: Page, wired: Installation, model: OpenAIServer, record_property: Callable[[str, object], None]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.add_init_script(SHIFTS)
    begin(page, wired, "en")
    shifts = {}
    for place in ("first reply", "below other messages"):
        page.evaluate("shifts.length = 0")
        model.queue.append(Says(LONG_REPLY, pieces=60, pause_s=0.03))
        say(page, "What shall we do this week?")
        reply = page.get_by_test_id("message-persona").last
        expect(reply.locator("table, pre")).to_have_count(2)
        page.evaluate(DRAWN)
        shifts[place] = page.evaluate("shifts.reduce((sum, one) => sum + one.value, 0)")
    figures = ", ".join(f"{value:.4f} ({place})" for place, value in shifts.items())
    record_property("layout shift while a reply comes in", f"{figures}; limit {MAX_SHIFT}")
    # The measurement itself: something that comes in above is seen.
    page.evaluate(
        "shifts.length = 0; document.body.prepend(Object.assign(document.createElement('p'), "
        "{ style: 'height: 200px' }))"
    )
    page.evaluate(SHIFTED)
    assert max(shifts.values()) <= MAX_SHIFT, figures
