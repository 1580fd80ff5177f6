"""A model is connected in the browser alone: from the banner to its first reply, with no file touched, no restart."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_main_job import SECONDS, begin, quiet
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says


def test_a_model_is_connected_on_a_small_screen_and_answers(page: Page, tmp_path: Path, empty: Path) -> None:
    server = OpenAIServer()
    server.respond = lambda body: Says('{"colour": "yellow"}' if "response_format" in body else "The sea is calm.", 3)
    page.set_viewport_size({"width": 390, "height": 844})
    complaints = quiet(page)
    try:
        with Installation(tmp_path, empty, LLM_PROVIDER="auto") as house:
            begin(page, house, "en")
            talk = page.url
            other = page.context.new_page()
            other.goto(talk)
            expect(other.get_by_test_id("memory-mode")).to_be_visible()
            page.get_by_test_id("offline-banner").get_by_test_id("connect-model").click()
            # By keyboard alone from here on.
            page.get_by_label("Address").focus()
            page.keyboard.type(server.url)
            page.get_by_test_id("model-list").focus()
            page.keyboard.press("Enter")
            expect(page.get_by_test_id("model-names")).to_contain_text("2 models found")
            page.get_by_label("Model for replies").focus()
            page.keyboard.type("large-model")
            page.get_by_test_id("model-save").focus()
            page.keyboard.press("Enter")
            expect(page.get_by_test_id("answering")).to_contain_text("large-model answers", timeout=30 * SECONDS)
            # A page that was open all the while says it, too.
            expect(other.get_by_test_id("memory-mode")).to_have_count(0, timeout=10 * SECONDS)
            page.goto(talk)
            expect(page.get_by_test_id("memory-mode")).to_have_count(0)
            page.get_by_test_id("composer-input").fill("How is the sea?")
            page.keyboard.press("Enter")
            expect(page.get_by_test_id("message-persona").last).to_contain_text(
                "The sea is calm.", timeout=30 * SECONDS
            )
            assert "offline" not in {request["model"] for request in server.requests}
    finally:
        server.close()
    assert complaints == []
