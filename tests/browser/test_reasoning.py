"""A model that thinks, a link that a model wrote, and a reply that does not end, as a person sees them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conversation import SECONDS, begin
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says

HELLO = "Hello, Ana. Look at [my garden](https://xn--pple-43d.com/garden)."


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    server = OpenAIServer()
    yield server
    server.close()


@pytest.fixture
def wired(tmp_path: Path, empty: Path, model: OpenAIServer) -> Iterator[Installation]:
    knobs = '{"chat.debounce_seconds": 0.1, "chat.reply_characters": 400}'
    env = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": model.url, "LLM_API_KEY": "test", "ECHOVESSEL_KNOBS": knobs}
    with Installation(tmp_path, empty, **env) as house:
        yield house


def say(page: Page, words: str) -> None:
    page.get_by_test_id("composer-input").fill(words)
    page.keyboard.press("Enter")


def test_thinking_is_seen_and_thoughts_never_are(page: Page, wired: Installation, model: OpenAIServer) -> None:
    begin(page, wired, "en")
    model.queue.append(Says(f"<think>\nThey greet me.\n</think>\n\n{HELLO}", pieces=12, hold_after=4))
    say(page, "Hello")
    expect(page.get_by_test_id("thinking")).to_have_text("thinking…", timeout=60 * SECONDS)
    expect(page.locator("#announcer")).to_contain_text("is thinking")
    page.reload()
    expect(page.get_by_test_id("thinking")).to_have_text("thinking…", timeout=60 * SECONDS)
    model.release()
    bubble = page.get_by_test_id("message-persona").last.get_by_test_id("bubble")
    expect(bubble).to_have_text("Hello, Ana. Look at my garden.", timeout=60 * SECONDS)
    expect(page.get_by_test_id("log")).not_to_contain_text("They greet me")
    with page.context.expect_page() as opened:
        bubble.get_by_role("link").click()
    question = opened.value
    expect(question.get_by_test_id("leave-host")).to_have_text("аpple.com")
    expect(question.get_by_test_id("leave-ascii-host")).to_have_text("xn--pple-43d.com")
    expect(question.get_by_test_id("leave-go")).to_have_attribute("href", "https://xn--pple-43d.com/garden")
    question.close()
    model.queue.append(Says("It kept every word. " * 90, pieces=30))
    say(page, "And a story?")
    note = page.get_by_test_id("message-persona").last.get_by_test_id("cut-note")
    expect(note).to_be_visible(timeout=60 * SECONDS)
    model.queue.append(Says("![a cat asleep](https://example.org/cat.png)"))
    say(page, "A picture?")
    expect(page.get_by_test_id("message-persona").last.get_by_test_id("bubble")).to_contain_text("a cat asleep")
    page.reload()
    expect(page.get_by_test_id("cut-note").locator("visible=true")).to_have_count(1)
    assert re.search(r"word\.$", page.get_by_test_id("bubble").nth(3).inner_text().strip())
