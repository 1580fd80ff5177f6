"""Memories in the hands of their owner: corrected, hidden, forgotten, from the pages and from the conversation."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conversation import CAT_EN, SECONDS, begin, end_session, quiet, say
from tests.browser.test_remembering import another
from tests.installation import Installation

PAYLOAD = "<img src=x onerror=alert(1)><script>alert(2)</script>"
SECRET = "I am in love with Tom the baker."
SOON = 20 * SECONDS
# What an installation has without anybody in it, receipts, and the news of ids that pages are told.
COUNTING = """
from django.apps import apps
kept = ["permission", "group", "contenttype", "schedule", "task", "embeddingmodel", "receipt", "outboxevent"]
own = [model for model in apps.get_models() if model._meta.model_name not in kept and not model._meta.proxy]
print({model._meta.label: count for model in own if (count := model._default_manager.count())})
"""


def confirm(page: Page) -> None:
    """In the dialog: look, confirm, read the receipt, close."""
    dialog = page.get_by_test_id("dialog")
    expect(dialog.get_by_test_id("plan-going")).to_be_visible(timeout=SOON)
    dialog.get_by_test_id("forget-confirm").click()
    expect(dialog.get_by_test_id("receipt")).to_be_visible(timeout=SOON)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_an_owner_corrects_hides_and_forgets_and_every_tab_knows(context: BrowserContext, house: Installation) -> None:
    page = context.new_page()
    complaints = quiet(page)
    begin(page, house, "en")
    talk = page.url
    say(page, CAT_EN)
    say(page, "My sister Rosa lives in Lisbon and works as a nurse.")
    end_session(page)

    chip = page.get_by_test_id("chip").filter(has_text="Snowball").first
    expect(chip).to_be_visible(timeout=SOON)
    for status in ("hidden", "active"):
        chip.get_by_test_id("chip-undo").focus()
        page.keyboard.press("Enter")
        expect(chip).to_have_attribute("data-status", status, timeout=SOON)
        expect(chip.get_by_test_id("chip-undo")).to_be_focused()

    page.get_by_test_id("memory-link").click()
    for piece, found in (("owba", 1), ("owls", 0)):
        page.get_by_test_id("search-text").fill(piece)
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("found" if found else "nothing-found")).to_be_visible()
        assert piece not in page.url
    page.goto(talk.replace("/chat/", "/memory/"))
    page.get_by_test_id("memory-row").filter(has_text="white cat").get_by_role("link", name="correct").click()
    page.get_by_role("textbox", name="Memory").fill("Ana adopted a black cat named Snowball.")
    page.get_by_test_id("save-correction").click()
    expect(page.get_by_test_id("node-words")).to_have_text("Ana adopted a black cat named Snowball.")
    expect(page.get_by_test_id("versions")).to_contain_text("white cat")
    page.get_by_test_id("action-hide").click()
    expect(page.get_by_test_id("state-hidden")).to_be_visible()
    page.get_by_test_id("action-show").click()

    page.goto(talk)
    say(page, "Do you remember my cat?")
    expect(page.get_by_test_id("message-persona").last).to_contain_text("black cat")
    tab, listed = another(context, page), context.new_page()
    listed.goto(talk.replace("/chat/", "/memory/"))
    expect(listed.get_by_test_id("memory-row").filter(has_text="black cat")).to_be_visible()
    row = page.get_by_test_id("timeline-row").filter(has_text="black cat")
    for hidden in (1, 0):
        row.get_by_test_id("row-hide").click()
        expect(row.get_by_test_id("timeline-hidden")).to_have_count(hidden, timeout=SOON)
        expect(listed.get_by_test_id("state-hidden")).to_have_count(hidden, timeout=SOON)
    row.get_by_test_id("row-forget").click()
    confirm(page)
    for each in (page, tab):
        expect(each.get_by_test_id("chat")).not_to_contain_text("Snowball", timeout=SOON)
        expect(each.get_by_test_id("log")).to_contain_text("Rosa")
        expect(each.get_by_test_id("timeline-body")).to_contain_text("Rosa")
    expect(listed.get_by_test_id("memory")).not_to_contain_text("Snowball", timeout=SOON)
    page.reload()
    expect(page.get_by_test_id("log")).to_contain_text("Rosa")
    expect(page.get_by_test_id("chat")).not_to_contain_text("Snowball")
    assert complaints == []


def test_the_badge_counts_new_memories_and_nothing_else(context: BrowserContext, house: Installation) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    begin(page, house, "en")
    say(page, CAT_EN)
    say(page, "My sister Rosa lives in Lisbon and works as a nurse.")
    end_session(page)
    rows = page.get_by_test_id("timeline-row")
    memories = rows.and_(page.locator("[data-kind=event], [data-kind=fact]")).count()
    assert rows.count() > memories > 0, "people and moods are listed as well"
    badge = page.locator("#timeline-badge [aria-hidden]")
    expect(badge).to_have_text(str(memories))
    rows.and_(page.locator("[data-kind=event]")).first.get_by_test_id("row-hide").dispatch_event("click")
    expect(page.get_by_test_id("timeline-hidden")).to_have_count(1, timeout=SOON)
    expect(badge).to_have_text(str(memories))


def test_forgotten_text_is_deleted_html_is_inert_and_an_account_is_deleted_completely(
    page: Page, house: Installation
) -> None:
    complaints = quiet(page)
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    begin(page, house, "en")
    talk = page.url
    say(page, PAYLOAD)
    page.get_by_test_id("message-user").get_by_test_id("remember").click()
    expect(page.get_by_test_id("timeline-row").filter(has_text=PAYLOAD)).to_be_visible(timeout=SOON)
    say(page, SECRET)
    say(page, "Please forget that.")
    withheld = page.get_by_test_id("withheld-ask")
    expect(withheld).to_be_visible(timeout=SOON)
    expect(page.get_by_test_id("log")).to_contain_text("baker")
    withheld.get_by_role("link", name="Delete for good").click()
    confirm(page)
    expect(page.get_by_test_id("log")).not_to_contain_text("baker")

    page.goto(talk.replace("/chat/", "/memory/"))
    row = page.get_by_test_id("memory-row").filter(has_text=PAYLOAD)
    row.get_by_test_id("row-forget").click()
    expect(page.get_by_test_id("plan-going")).to_contain_text(PAYLOAD)
    page.keyboard.press("Escape")
    expect(row.get_by_test_id("row-forget")).to_be_focused()
    row.get_by_role("link", name=re.compile("onerror")).click()
    expect(page.get_by_test_id("node-words")).to_contain_text(PAYLOAD)
    assert complaints == []

    page.get_by_test_id("menu").click()
    page.get_by_test_id("account").click()
    page.get_by_test_id("delete-account").click()
    page.get_by_label("Type the name “ana”").fill("ana")
    page.get_by_label("Your password").fill("not the word")
    page.get_by_test_id("delete-confirm").click()
    expect(page.get_by_text("This is not your password.")).to_be_visible()
    page.get_by_label("Your password").fill("a long word for ana")
    page.get_by_test_id("delete-confirm").click()
    expect(page.get_by_test_id("toast")).to_contain_text("is deleted", timeout=SOON)
    assert page.url.endswith("/login/")
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    left = house.run(COUNTING).strip()
    assert left == "{}", left
