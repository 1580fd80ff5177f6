"""Standing wishes in the browser: said in a conversation, then changed, undone, paused and forgotten."""

from playwright.sync_api import Page, expect

from tests.browser.test_main_job import begin, quiet, say
from tests.browser.test_memory_page import SOON, confirm
from tests.installation import Installation


def test_a_wish_is_heard_and_its_owner_changes_pauses_and_forgets_it(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin(page, house, "en")
    talk = page.url
    say(page, "When I'm sad, just be with me.")
    page.goto(talk.replace("/chat/", "/memory/") + "wishes/")
    wish = page.get_by_test_id("wish")
    expect(wish).to_contain_text("just be with me")
    wish.get_by_test_id("edit-wish").locator("summary").click()
    wish.locator("[name=text]").fill("When I'm sad, hold my hand.")
    wish.get_by_test_id("save-edit").click()
    expect(wish).to_contain_text("hold my hand")
    wish.get_by_test_id("wish-undo").click()
    expect(wish).to_contain_text("just be with me")
    wish.get_by_test_id("wish-hide").click()
    expect(wish).to_contain_text("not in use")
    wish.get_by_test_id("wish-hide").click()
    expect(wish).not_to_contain_text("not in use")
    wish.get_by_test_id("wish-forget").click()
    confirm(page)
    again = page.context.new_page()
    again.goto(talk.replace("/chat/", "/memory/") + "wishes/")
    expect(again.get_by_test_id("wish")).to_have_count(0, timeout=SOON)
    assert complaints == []
