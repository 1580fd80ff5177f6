"""The conversation as people expect it: other answers, a message edited, copied, searched; the same after a reload."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conversation import SECONDS, begin, quiet, say
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says

CODE = "Here:\n\n```\nprint('sea')\n```\n\n| bird | colour |\n|---|---|\n| heron | grey |"


def shown(page: Page) -> list[str]:
    """The words of both sides that a reader sees, in order."""
    bubbles = page.locator("[data-testid=lines] [data-testid^=message-] [data-testid=bubble]:visible")
    return [" ".join(text.split()) for text in bubbles.all_inner_texts()]


def test_other_answers_an_edited_message_and_a_stopped_reply_stay_as_they_were_after_a_reload(
    context: BrowserContext, wired: Installation, model: OpenAIServer
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints = quiet(page)
    begin(page, wired, "en")
    model.queue.append(Says("It is wide."))
    say(page, "Tell me of the sea.")
    other_tab = context.new_page()
    other_tab.goto(page.url)
    expect(other_tab.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=60 * SECONDS)

    # Another answer is looked at and chosen, in both tabs.
    model.queue.append(Says("It is deep."))
    first = page.get_by_test_id("message-persona").first
    first.hover()
    first.get_by_test_id("another-answer").click()
    second = page.get_by_test_id("message-persona").nth(1)
    expect(second.get_by_test_id("choose")).to_be_visible(timeout=30 * SECONDS)
    assert shown(page) == ["Tell me of the sea.", "It is deep."]
    second.get_by_test_id("earlier-answer").click()
    assert shown(page) == ["Tell me of the sea.", "It is wide."]
    expect(first.get_by_test_id("choose")).to_be_hidden()
    first.get_by_test_id("later-answer").click()
    second.get_by_test_id("choose").click()
    expect(other_tab.locator("[data-set-aside]")).to_contain_text("It is wide.", timeout=30 * SECONDS)
    for tab in (page, other_tab):
        assert shown(tab) == ["Tell me of the sea.", "It is deep."]
    page.reload()
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=60 * SECONDS)
    assert shown(page) == ["Tell me of the sea.", "It is deep."]

    # The message is edited, and the first wording comes back.
    model.queue.append(Says(CODE))
    mine = page.get_by_test_id("message-user")
    mine.first.hover()
    mine.first.get_by_test_id("edit-message").click()
    expect(page.get_by_test_id("editing")).to_be_visible()
    expect(page.get_by_test_id("composer-input")).to_have_value("Tell me of the sea.")
    page.get_by_test_id("composer-input").fill("Tell me of herons.")
    page.keyboard.press("Enter")
    reply = page.get_by_test_id("message-persona").last
    expect(reply.locator("table")).to_contain_text("heron", timeout=30 * SECONDS)
    expect(page.get_by_test_id("editing")).to_be_hidden()
    assert shown(page)[0] == "Tell me of herons."
    reply.get_by_test_id("copy-code").click()
    assert page.evaluate("navigator.clipboard.readText()") == "print('sea')\n"
    page.reload()
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=60 * SECONDS)
    assert shown(page)[0] == "Tell me of herons."
    mine.last.get_by_test_id("other-wording").click()
    mine.first.get_by_test_id("choose").click()
    expect(mine.last).to_be_hidden(timeout=30 * SECONDS)
    assert shown(page) == ["Tell me of the sea.", "It is deep."]

    # A reply that is stopped before its first word leaves nothing empty, and can be had after all.
    model.queue.append(Says("x", thoughts="hm", hold_after=0))
    page.get_by_test_id("composer-input").fill("And the sky?")
    page.keyboard.press("Enter")
    page.get_by_test_id("stop").click(timeout=30 * SECONDS)
    stopped = page.get_by_test_id("failed-turn")
    expect(stopped).to_contain_text("before its first word", timeout=30 * SECONDS)
    assert shown(page)[2:] == ["And the sky?"]
    model.release()
    page.reload()
    expect(stopped).to_contain_text("before its first word")
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=60 * SECONDS)
    model.queue.append(Says("Blue."))
    stopped.get_by_test_id("retry").click()
    expect(page.get_by_test_id("message-persona").last.get_by_test_id("bubble")).to_have_text(
        re.compile("Blue"), timeout=30 * SECONDS
    )
    assert complaints == []


LIFE = """
from datetime import timedelta
from django.utils import timezone
from chat.messages import add_message, open_session
from persona.models import Persona
mira = Persona.objects.get()
begin = timezone.now() - timedelta(days=100)
session = open_session(mira, "web", begin)
for number in range(200):
    words = "去看了灯塔" if number == 60 else f"第{number}天"
    add_message(session, "user", words, begin + timedelta(hours=12 * number))
"""


def test_words_and_days_far_back_are_found_and_the_way_leads_back(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin(page, house, "zh")
    house.run(LIFE)
    page.reload()
    expect(page.get_by_test_id("message-user").last).to_contain_text("第199天")

    # What is older is loaded before one gets to the edge.
    before = page.get_by_test_id("message-user").count()
    page.get_by_test_id("log").evaluate("log => { log.scrollTop = 120 }")
    expect(page.get_by_test_id("message-user").nth(before)).to_be_attached(timeout=30 * SECONDS)

    page.locator("#log").focus()
    page.keyboard.press("/")
    expect(page.get_by_test_id("finder-words")).to_be_focused()
    page.keyboard.type("灯塔")
    page.get_by_test_id("found-message").click(timeout=30 * SECONDS)
    past = page.get_by_test_id("past")
    expect(past.locator(".is-found")).to_contain_text("灯塔", timeout=30 * SECONDS)
    expect(past.locator(".is-found")).to_be_in_viewport()
    expect(page.get_by_test_id("log")).to_be_hidden()
    before = past.get_by_test_id("message-user").count()
    past.get_by_test_id("older").click()
    expect(past.get_by_test_id("message-user").nth(before)).to_be_attached(timeout=30 * SECONDS)
    expect(past.locator("[data-message]").first).to_contain_text("第0天")

    day = past.locator("[data-day]").nth(3).get_attribute("data-day")
    page.get_by_test_id("past-leave").click()
    expect(past).to_be_hidden()
    page.get_by_test_id("finder-day").fill(day or "")
    expect(past.locator(f"[data-day='{day}']")).to_be_attached(timeout=30 * SECONDS)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("log")).to_be_visible()
    expect(page.get_by_test_id("finder")).to_be_hidden()

    page.locator("#log").focus()
    page.keyboard.press("?")
    expect(page.get_by_test_id("shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_test_id("composer-input").fill("一句没写完的话")
    page.reload()
    expect(page.get_by_test_id("composer-input")).to_have_value("一句没写完的话")
    page.get_by_test_id("menu").click()
    page.get_by_test_id("sign-out").click()
    assert page.evaluate("Object.keys(sessionStorage).filter((key) => /draft|unsent/.test(key))") == []
    assert complaints == []
