"""What is asked for in words, as a person meets it on the page: corrections, "don't remember that", "forget X"."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conversation import SECONDS, begin, quiet, say
from tests.installation import Installation

SOON = 20 * SECONDS
STORIES = {
    "en": {
        "told": "Please remember that Ruth lives in Leeds.",
        "corrects": "Actually Ruth lives in York.",
        "change": re.compile(r"Leeds\s*→\s*York"),
        "right": "York",
        "secret": "Yesterday I kissed Tom.",
        "withholds": "Don't remember that.",
        "forgets": "Forget that Ruth lives in Leeds.",
        "word": "Leeds",
    },
    "zh": {
        "told": "请记住露丝住在利兹。",
        "corrects": "不是利兹，是约克。",
        "change": re.compile(r"利兹\s*→\s*约克"),
        "right": "约克",
        "secret": "昨天我亲了汤姆。",
        "withholds": "别记这个",
        "forgets": "请忘记露丝住在利兹这件事",
        "word": "利兹",
    },
}


def picture(page: Page, name: str) -> None:
    """Where PICTURES names a folder, the page in both widths and schemes."""
    if folder := os.environ.get("PICTURES"):
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.wait_for_timeout(300)
                page.screenshot(path=str(Path(folder) / f"{name}-{width}-{scheme}.png"))
        page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_memory_is_corrected_and_undone_a_message_withheld_and_put_back_and_a_matter_found_and_forgotten(
    browser: Browser, house: Installation, language: str
) -> None:
    page, story = browser.new_context(locale=language).new_page(), STORIES[language]
    complaints = quiet(page)
    begin(page, house, language)
    picture(page, f"memory-mode-{language}")
    say(page, story["told"])
    expect(page.get_by_test_id("kept").first).to_contain_text(story["word"], timeout=SOON)

    say(page, story["corrects"])
    card = page.get_by_test_id("correction-card")
    expect(page.get_by_test_id("correction-change")).to_have_text(story["change"], timeout=SOON)
    picture(page, f"correction-{language}")
    card.get_by_test_id("correction-do").click()
    done = page.get_by_test_id("corrected")
    expect(done).to_contain_text(story["right"], timeout=SOON)
    done.get_by_test_id("correction-undo").click()
    expect(done).to_contain_text(story["word"], timeout=SOON)

    say(page, story["secret"])
    say(page, story["withholds"])
    chip = page.get_by_test_id("withheld-ask")
    secret = page.get_by_test_id("message-user").filter(has_text=story["secret"])
    note = secret.locator("[data-note=withheld]")
    expect(chip).to_be_visible(timeout=SOON)
    expect(note).to_be_visible()
    picture(page, f"withheld-{language}")
    chip.get_by_test_id("withheld-undo").click()
    expect(chip).to_have_count(0, timeout=SOON)
    expect(note).to_be_hidden(timeout=SOON)

    say(page, story["forgets"])
    found = page.get_by_test_id("forget-found")
    expect(found.get_by_test_id("found-node").first).to_be_checked(timeout=SOON)
    expect(found.get_by_test_id("forget-search")).to_have_value(re.compile(story["word"]))
    picture(page, f"find-{language}")
    found.get_by_test_id("forget-search").fill("qqqq")
    found.get_by_test_id("forget-search-again").click()
    expect(page.get_by_test_id("forget-nothing")).to_be_visible(timeout=SOON)
    found.get_by_test_id("forget-search").fill(story["word"])
    found.get_by_test_id("forget-search-again").click()
    expect(found.get_by_test_id("found-node").first).to_be_checked(timeout=SOON)
    found.get_by_test_id("forget-look-at").click()
    page.get_by_test_id("forget-confirm").click()
    expect(page.get_by_test_id("receipt")).to_be_visible(timeout=SOON)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("message-user").filter(has_text=story["told"])).to_have_count(0, timeout=SOON)
    assert complaints == []


def test_open_cards_survive_a_reload_and_are_settled_in_every_tab(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin(page, house, "en")
    say(page, "Please remember that Ruth lives in Leeds.")
    expect(page.get_by_test_id("kept").first).to_contain_text("Leeds", timeout=SOON)
    say(page, "Actually Ruth lives in York.")
    expect(page.get_by_test_id("correction-card")).to_be_visible(timeout=SOON)
    say(page, "Please steer clear of the topic of kids.")
    chip = page.get_by_test_id("may-be-asked")
    expect(chip).to_contain_text("the topic of kids", timeout=SOON)
    picture(page, "may-be-asked")

    page.reload()
    other = page.context.new_page()
    other.goto(page.url)
    for tab in (page, other):
        expect(tab.get_by_test_id("correction-card")).to_be_visible(timeout=SOON)
        expect(tab.get_by_test_id("may-be-asked")).to_be_visible(timeout=SOON)
    page.get_by_test_id("correction-do").click()
    expect(page.get_by_test_id("corrected")).to_contain_text("York", timeout=SOON)
    expect(other.get_by_test_id("correction-card")).to_have_count(0, timeout=SOON)
    other.get_by_test_id("may-be-asked-yes").click()
    expect(other.get_by_test_id("may-be-asked-done")).to_be_visible(timeout=SOON)
    expect(chip).to_have_count(0, timeout=SOON)
    with page.expect_response(lambda answer: answer.url.endswith("/offers/")):  # what a page draws that loads
        page.reload()
    expect(page.get_by_test_id("message-user").first).to_be_visible(timeout=SOON)
    for card in ("correction-ask", "may-be-asked-ask"):
        expect(page.get_by_test_id(card)).to_have_count(0)
    assert complaints == []


RETOLD = """
from django.utils import timezone
from chat.models import Message
from memory.models import Receipt
from memory.requests import retold
reply = Message.objects.filter(role="persona").select_related("persona").latest("id")
kept = {{"persona": reply.persona, "persona_uuid": reply.persona.uuid, "owner_id": reply.persona.owner_id}}
receipt, is_new = Receipt.objects.get_or_create(**kept, defaults={{"at": timezone.now()}})
if is_new:
    retold.note_retold(receipt, [reply])
retold.{action}(receipt)
"""


def test_replies_of_an_undone_import_are_marked_in_every_tab_when_they_are_withheld_or_shown(
    page: Page, house: Installation
) -> None:
    begin(page, house, "en")
    say(page, "Hello!")
    note = page.get_by_test_id("message-persona").last.locator("[data-note=withheld]")
    expect(note).to_be_hidden()
    house.run(RETOLD.format(action="withhold_retold"))
    expect(note).to_be_visible(timeout=SOON)
    house.run(RETOLD.format(action="show_retold"))
    expect(note).to_be_hidden(timeout=SOON)


WRONG = {
    "en": (
        "Please remember that Ruth lives in Leeds.",
        "Where does Ruth live?",
        "No, that's not right.",
        "Leeds",
        "York",
    ),
    "zh": ("请记住露丝住在利兹。", "露丝住在哪里？", "不对，记错了", "利兹", "约克"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_who_only_says_that_something_is_wrong_chooses_it_and_puts_it_right(
    browser: Browser, house: Installation, language: str
) -> None:
    page, (statement, question, dispute, wrong, right) = (
        browser.new_context(locale=language).new_page(),
        WRONG[language],
    )
    complaints = quiet(page)
    begin(page, house, language)
    say(page, statement)
    expect(page.get_by_test_id("kept").first).to_contain_text(wrong, timeout=SOON)
    say(page, question)
    say(page, dispute)
    choices = page.get_by_test_id("correction-choices")
    expect(choices).to_be_visible(timeout=SOON)
    picture(page, f"dispute-{language}")
    page.reload()
    choices.get_by_test_id("correction-choice").filter(has_text=wrong).click(timeout=SOON)
    card = page.get_by_test_id("correction-card")
    words = card.get_by_role("textbox")
    expect(words).to_be_focused()
    card.get_by_test_id("correction-other").click()
    choices.get_by_test_id("correction-choice").filter(has_text=wrong).click()
    words.fill(words.input_value().replace(wrong, right))
    picture(page, f"dispute-form-{language}")
    card.get_by_test_id("correction-do").click()
    expect(page.get_by_test_id("corrected")).to_contain_text(right, timeout=SOON)
    page.reload()
    expect(page.get_by_test_id("message-user").last).to_contain_text(dispute)
    expect(page.get_by_test_id("correction-ask")).to_have_count(0)
    assert complaints == []
