"""The manual in a real browser: reached from the sign-in page, and readable on a phone in both languages."""

import re

from playwright.sync_api import Browser, expect

from echovessel.web.help import PAGES
from tests.installation import Installation

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_the_manual_can_be_read_on_a_phone_without_signing_in(browser: Browser, house: Installation) -> None:
    for locale, title in (("en-US", "Bring memories"), ("zh-CN", "导入记忆")):
        context = browser.new_context(locale=locale, viewport={"width": 390, "height": 800}, color_scheme="dark")
        page = context.new_page()
        faults: list[str] = []
        page.on(
            "console", lambda message, faults=faults: faults.append(message.text) if message.type == "error" else None
        )
        page.goto(f"{house.url}/help/")
        page.get_by_test_id("help-cards").get_by_role("link", name=title).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)

        page.get_by_test_id("help-contents").locator("summary").click()
        page.get_by_test_id("help-contents").get_by_role("link").nth(3).click()
        expect(page).to_have_url(re.compile("#ai-chats-and-companions$"))
        expect(page.locator("#ai-chats-and-companions")).to_be_in_viewport()

        for name in PAGES:
            page.goto(f"{house.url}/help/{name}/")
            assert page.evaluate(OVERFLOW) <= 0, (locale, name)
        assert faults == []
        context.close()
