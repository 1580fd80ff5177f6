"""What a person sees when something breaks, and that nothing said is lost."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conversation import SECONDS, begin, say
from tests.browser.test_main_job import onboard
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Fails, Says

STORY = "Once upon a time there was a vessel that kept every word. " * 4


def test_a_server_killed_in_the_middle_of_a_reply_loses_nothing(
    page: Page, wired: Installation, model: OpenAIServer
) -> None:
    begin(page, wired, "en")
    model.queue.append(Says(STORY, pieces=40, hold_after=10))
    page.get_by_test_id("composer-input").fill("Tell me a story, please.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("log")).to_contain_text("Once upon a time", timeout=60 * SECONDS)
    wired.kill_web()
    failed = page.get_by_test_id("failed-turn")
    expect(failed).to_be_visible(timeout=60 * SECONDS)
    page.reload()
    expect(page.get_by_test_id("message-user").last).to_contain_text("Tell me a story, please.")
    expect(failed).to_be_visible()
    model.queue.append(Says(STORY.strip(), pieces=5))
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=60 * SECONDS)
    failed.get_by_test_id("retry").click()
    expect(page.get_by_test_id("message-persona").last.get_by_test_id("bubble")).to_have_text(
        STORY.strip(), timeout=30 * SECONDS
    )
    expect(failed).to_have_count(0)


def test_a_tab_closed_in_the_middle_finds_the_whole_reply_when_it_is_opened_again(
    context: BrowserContext, wired: Installation, model: OpenAIServer
) -> None:
    page = context.new_page()
    begin(page, wired, "en")
    model.queue.append(Says(STORY.strip(), pieces=20, hold_after=5))
    page.get_by_test_id("composer-input").fill("Tell me a story.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("log")).to_contain_text("Once upon", timeout=60 * SECONDS)
    address = page.url
    page.close()
    model.release()
    again = context.new_page()
    again.goto(address)
    expect(again.get_by_test_id("message-persona").last.get_by_test_id("bubble")).to_have_text(
        STORY.strip(), timeout=60 * SECONDS
    )


def test_a_model_that_is_down_is_named_and_can_be_asked_again(
    page: Page, wired: Installation, model: OpenAIServer
) -> None:
    begin(page, wired, "en")
    model.queue.append(Fails(500, "overloaded"))
    page.get_by_test_id("composer-input").fill("Are you there?")
    page.keyboard.press("Enter")
    failed = page.get_by_test_id("failed-turn")
    expect(failed).to_contain_text("safe", timeout=60 * SECONDS)
    failed.get_by_test_id("retry").click()
    expect(page.get_by_test_id("message-persona")).to_have_count(1, timeout=60 * SECONDS)


def test_stop_keeps_what_was_said_and_marks_it(page: Page, wired: Installation, model: OpenAIServer) -> None:
    begin(page, wired, "en")
    model.queue.append(Says(STORY, pieces=40, hold_after=8))
    page.get_by_test_id("composer-input").fill("Tell me a story.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("log")).to_contain_text("Once upon", timeout=60 * SECONDS)
    page.get_by_test_id("stop").click()
    reply = page.get_by_test_id("message-persona").last
    expect(reply).to_contain_text("stopped", timeout=60 * SECONDS)
    expect(reply.get_by_test_id("bubble")).to_contain_text("Once upon")


def test_two_tabs_show_the_same_session(context: BrowserContext, house: Installation) -> None:
    left = context.new_page()
    begin(left, house, "en")
    right = context.new_page()
    right.goto(left.url)
    expect(right.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=60 * SECONDS)
    say(left, "Hello from the left.")
    say(right, "And from the right.")
    for tab in (left, right):
        expect(tab.get_by_test_id("message-user")).to_have_text([re.compile("left"), re.compile("right")])
        expect(tab.get_by_test_id("message-persona")).to_have_count(2)


def test_a_page_of_somebody_else_does_not_exist(page: Page, house: Installation) -> None:
    begin(page, house, "en")
    house.run("from django.contrib.auth.models import User; User.objects.create_user('ben')")
    others = house.call("create_persona", "Otto", "--owner", "ben").strip()
    response = page.goto(f"{house.url}/chat/{others}/")
    assert response is not None
    assert response.status == 404


def test_the_first_run_link_works_once(page: Page, house: Installation) -> None:
    link = house.first_run_link
    onboard(page, house, "en")
    page.context.clear_cookies()
    response = page.goto(link)
    assert response is not None
    assert response.status == 410
