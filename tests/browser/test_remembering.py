"""Remember this, off the record, and talks whose memory has to wait: as a person meets them on the page."""

import json
import re
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conversation import SECONDS, begin, quiet, say
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Fails, Says

SECRET = "I am afraid of the lighthouse keeper."
ONLINE = {"name": "data-state", "value": "online"}


def another(context: BrowserContext, page: Page) -> Page:
    """A second tab with the same talk."""
    tab = context.new_page()
    tab.goto(page.url)
    expect(tab.get_by_test_id("chat")).to_have_attribute(**ONLINE, timeout=20 * SECONDS)
    return tab


def test_a_message_is_remembered_at_a_press_and_both_tabs_know(context: BrowserContext, house: Installation) -> None:
    page = context.new_page()
    complaints = quiet(page)
    begin(page, house, "en")
    say(page, "My sister Rosa lives in Lisbon.")
    tab = another(context, page)
    button = page.get_by_test_id("message-user").get_by_test_id("remember")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true", timeout=20 * SECONDS)
    expect(page.get_by_test_id("announcer")).to_contain_text("My sister Rosa lives in Lisbon.")
    expect(page.get_by_test_id("timeline-row").first).to_contain_text(
        "you asked to remember this", timeout=10 * SECONDS
    )
    there = tab.get_by_test_id("message-user").get_by_test_id("remember")
    expect(there).to_have_text("remembered", timeout=10 * SECONDS)
    reply = page.get_by_test_id("message-persona").get_by_test_id("remember")
    expect(reply).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true", timeout=10 * SECONDS)
    expect(page.get_by_test_id("kept").first).to_be_hidden()
    assert complaints == []


def test_what_is_asked_for_in_words_is_acknowledged_in_words(page: Page, house: Installation) -> None:
    begin(page, house, "en")
    say(page, "By the way, please remember that I play the cello.")
    kept = page.get_by_test_id("message-user").get_by_test_id("kept")
    expect(kept).to_have_text(re.compile(r"Remembered:\s+I play the cello\."), timeout=20 * SECONDS)
    say(page, "Do you remember what I play?")
    expect(page.get_by_test_id("message-persona").last).to_contain_text("cello")
    expect(page.get_by_test_id("message-user").last.get_by_test_id("kept")).to_be_hidden()
    page.reload()
    expect(kept.first).to_contain_text("I play the cello.", timeout=10 * SECONDS)


def test_a_refused_remember_request_shows_a_notice_and_can_be_repeated(page: Page, house: Installation) -> None:
    begin(page, house, "en")
    say(page, "My sister Rosa lives in Lisbon.")
    button = page.get_by_test_id("message-user").get_by_test_id("remember")
    refusal = {"status": 409, "json": {"code": "forgotten", "message": "This was forgotten for good."}}
    page.route("**/remember/*/", lambda route: route.fulfill(**refusal), times=1)
    button.click()
    expect(page.get_by_test_id("notice")).to_contain_text("This was forgotten for good.")
    page.route("**/remember/*/", lambda route: route.abort(), times=1)
    button.click()
    expect(page.get_by_test_id("notice")).to_contain_text("could not be remembered")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true", timeout=20 * SECONDS)


def test_a_session_off_the_record_is_marked_kept_through_a_reload_and_gone_at_its_end(
    context: BrowserContext, house: Installation
) -> None:
    page = context.new_page()
    begin(page, house, "en")
    say(page, "This may be kept.")
    tab = another(context, page)
    page.get_by_test_id("off-record").click()
    for each in (page, tab):
        expect(each.get_by_test_id("off-record-banner")).to_be_visible(timeout=10 * SECONDS)
        expect(each.get_by_test_id("off-record")).to_have_attribute("aria-pressed", "true")
    say(tab, SECRET)
    page.reload()
    expect(page.get_by_test_id("off-record-banner")).to_be_visible()
    for each in (page, tab):
        for role in ("user", "persona"):
            line = each.get_by_test_id(f"message-{role}").last
            expect(line).to_have_attribute("data-off-record", re.compile(".+"), timeout=10 * SECONDS)
            expect(line.get_by_test_id("off-record-note")).to_be_visible()
            expect(line.get_by_test_id("remember")).to_be_hidden()
    expect(page.get_by_test_id("chat")).to_have_attribute(**ONLINE, timeout=20 * SECONDS)
    page.get_by_test_id("off-record-end").click()
    for each in (page, tab):
        expect(each.get_by_test_id("off-record-banner")).to_be_hidden(timeout=10 * SECONDS)
        expect(each.get_by_test_id("notice")).to_contain_text("From now on messages are kept")
        expect(each.get_by_test_id("log")).not_to_contain_text("lighthouse", timeout=30 * SECONDS)
        expect(each.get_by_test_id("message-user")).to_have_count(1)
    page.reload()
    expect(page.get_by_test_id("log")).not_to_contain_text("lighthouse")


def test_a_message_written_while_the_session_off_the_record_ended_stays_off_it(page: Page, house: Installation) -> None:
    begin(page, house, "en")
    page.get_by_test_id("off-record").click()
    expect(page.get_by_test_id("off-record-banner")).to_be_visible(timeout=10 * SECONDS)
    say(page, "One thing nobody should keep.")
    page.context.set_offline(True)
    page.evaluate("document.getElementById('chat').dataset.state")
    house.kill_web()
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "offline", timeout=20 * SECONDS)
    page.get_by_test_id("composer-input").fill(SECRET)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("unsent-line")).to_have_attribute("data-off-record", "")
    house.call("close_sessions", "--all")
    house.wait_until_served()
    page.context.set_offline(False)
    line = page.get_by_test_id("message-user").last
    expect(line).to_contain_text("lighthouse", timeout=60 * SECONDS)
    expect(line).to_have_attribute("data-off-record", re.compile(".+"))
    expect(page.get_by_test_id("off-record-banner")).to_be_visible()


class Forgetful:
    """A model that talks, and cannot be reached when it is asked to extract."""

    def __call__(self, body: dict[str, Any]) -> Says | Fails:
        wanted = json.dumps(body.get("response_format") or "")
        return Fails(503, "down") if "mentioned_entities" in wanted else Says("I am listening.")


def test_a_memory_that_has_to_wait_says_what_it_waits_for(page: Page, wired: Installation, model: OpenAIServer) -> None:
    model.respond = Forgetful()
    begin(page, wired, "en")
    say(page, "I adopted a white cat named Snowball.")
    page.get_by_test_id("end-talk").click()
    rule = page.get_by_test_id("session-rule")
    expect(rule).to_contain_text("remembering later: the model cannot be reached", timeout=60 * SECONDS)
    page.reload()
    expect(rule).to_contain_text("remembering later: the model cannot be reached")
