"""From an empty folder to the first reply of a local model, in the browser alone, with no file touched and no restart;
and the greeting that the model writes."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conversation import SECONDS, begin, quiet
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says

MAX_TABS = 80


class Hand:
    """Does what a person does with a page, and counts it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.counts = {"clicks": 0, "fields filled": 0}

    def press(self, target: Locator) -> None:
        self.counts["clicks"] += 1
        target.click()

    def write(self, target: Locator, words: str) -> None:
        self.counts["fields filled"] += 1
        target.fill(words)


class Keyboard(Hand):
    """The same by keys alone: Tab until the place is reached, Enter, and letters."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.counts = {"keys pressed beside letters": 0, "fields filled": 0}

    def press(self, target: Locator) -> None:
        self._reach(target)
        self._key("Enter")

    def write(self, target: Locator, words: str) -> None:
        self.counts["fields filled"] += 1
        self._reach(target)
        self.page.keyboard.type(words)

    def _reach(self, target: Locator) -> None:
        expect(target).to_be_visible()
        for _ in range(MAX_TABS):
            if target.evaluate("(one) => one === document.activeElement"):
                return
            self._key("Tab")
        raise AssertionError(f"{MAX_TABS} tabs do not lead to {target}")

    def _key(self, key: str) -> None:
        self.counts["keys pressed beside letters"] += 1
        self.page.keyboard.press(key)


@pytest.mark.parametrize(
    ("way", "width", "hand"),
    [("mouse, 1280 px", 1280, Hand), ("taps, 390 px", 390, Hand), ("keyboard alone, 1280 px", 1280, Keyboard)],
    ids=["mouse", "phone", "keyboard"],
)
def test_one_comes_from_an_empty_folder_to_the_first_reply_without_touching_a_file(
    page: Page,
    tmp_path: Path,
    empty: Path,
    record_property: Callable[[str, object], None],
    way: str,
    width: int,
    hand: type[Hand],
) -> None:
    server = OpenAIServer()
    server.respond = lambda body: Says('{"colour": "yellow"}' if "response_format" in body else "The sea is calm.", 3)
    page.set_viewport_size({"width": width, "height": 844})
    complaints = quiet(page)
    by = hand(page)
    began = time.monotonic()
    try:
        # The folder of one is empty to the last byte; the others save the time of making the database.
        with Installation(tmp_path, None if hand is Hand and width > 390 else empty, LLM_PROVIDER="auto") as house:
            served = time.monotonic()
            page.goto(house.first_run_link)
            by.write(page.locator("[name=username]"), "ana")
            by.write(page.locator("[name=password1]"), "a long word for ana")
            by.write(page.locator("[name=password2]"), "a long word for ana")
            by.press(page.get_by_test_id("first-run-form").locator("button"))
            by.write(page.locator("[name=name]"), "Mira")
            by.press(page.get_by_test_id("next"))
            by.write(page.locator("[name=user_name]"), "Ana")
            by.press(page.get_by_test_id("next"))
            by.press(page.get_by_test_id("next"))
            expect(page.get_by_test_id("persona-name")).to_have_text("Mira")
            other = page.context.new_page()
            other.goto(page.url)
            expect(other.get_by_test_id("memory-mode")).to_be_visible()
            page.bring_to_front()
            by.press(page.get_by_test_id("offline-banner").get_by_test_id("connect-model"))
            by.write(page.get_by_label("Address"), server.url)
            by.press(page.get_by_test_id("model-list"))
            expect(page.get_by_test_id("model-names")).to_contain_text("2 models found")
            by.write(page.get_by_label("Model for replies"), "large-model")
            by.press(page.get_by_test_id("model-save"))
            expect(page.get_by_test_id("answering")).to_contain_text("large-model answers", timeout=30 * SECONDS)
            # A page that was open all the while says it, too.
            expect(other.get_by_test_id("memory-mode")).to_have_count(0, timeout=10 * SECONDS)
            by.press(page.get_by_role("link", name="EchoVessel"))
            expect(page.get_by_test_id("memory-mode")).to_have_count(0)
            by.write(page.get_by_test_id("composer-input"), "How is the sea?")
            by.press(page.get_by_test_id("send"))
            expect(page.get_by_test_id("message-persona").last).to_contain_text(
                "The sea is calm.", timeout=30 * SECONDS
            )
            done = time.monotonic()
            assert "offline" not in {request["model"] for request in server.requests}
    finally:
        server.close()
    counts = ", ".join(f"{count} {what}" for what, count in by.counts.items())
    record_property(
        f"from an empty folder to the first reply ({way})",
        f"{counts}; {served - began:.0f} s to start, {done - served:.0f} s in the browser",
    )
    assert complaints == []


def test_the_greeting_of_the_model_takes_the_place_of_the_plain_one_and_is_the_first_message(
    page: Page, tmp_path: Path, empty: Path
) -> None:
    server = OpenAIServer()
    server.respond = lambda body: Says("Ahoy Ana, I'm Mira.", 3)
    env = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": server.url, "LLM_API_KEY": "test"}
    try:
        with Installation(tmp_path, empty, **env, ECHOVESSEL_KNOBS='{"chat.greeting_seconds": 8}') as house:
            begin(page, house, "en")
            expect(page.get_by_test_id("greeting")).to_have_text("Ahoy Ana, I'm Mira.", timeout=20 * SECONDS)
            expect(page.get_by_test_id("announcer")).to_have_text("Mira says: Ahoy Ana, I'm Mira.")
            expect(page.get_by_test_id("composer-input")).to_be_focused()
            page.reload()
            expect(page.get_by_test_id("greeting")).to_have_text("Ahoy Ana, I'm Mira.")
            assert len(server.requests) == 1, "written once"
            page.get_by_test_id("composer-input").fill("Ahoy!")
            page.keyboard.press("Enter")
            expect(page.get_by_test_id("log").get_by_text("Ahoy Ana, I'm Mira.")).to_have_count(2, timeout=30 * SECONDS)
            expect(page.get_by_test_id("hello")).to_be_hidden()
    finally:
        server.close()
