"""The companion's page and the account's, as a person uses them."""

import base64
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conversation import begin
from tests.browser.test_main_job import onboard
from tests.installation import Installation
from tests.persona.images import PLACE, segment

WORDS = {"en": ("larger than 10 MB", "Lisbon", "Save"), "zh": ("超过 10 MB", "里斯本", "保存")}


def photo(page: Page, folder: Path) -> Path:
    """A photo of 1,200 by 800 pixels as a camera stores it, with the place where it was taken."""
    data = page.evaluate(
        """() => {
            const canvas = Object.assign(document.createElement('canvas'), { width: 1200, height: 800 });
            const draw = canvas.getContext('2d');
            draw.fillStyle = '#d98c5f';
            draw.fillRect(0, 0, 1200, 800);
            draw.fillStyle = '#2b2b40';
            draw.arc(600, 380, 210, 0, 7);
            draw.fill();
            return canvas.toDataURL('image/jpeg', 0.9).split(',')[1];
        }"""
    )
    jpeg = base64.b64decode(data)
    path = folder / "photo.jpg"
    path.write_bytes(jpeg[:2] + segment(0xE1, b"Exif\0\0II*\0" + PLACE) + jpeg[2:])
    return path


def take_picture(page: Page, language: str, tmp_path: Path) -> None:
    huge = tmp_path / "huge.png"
    huge.write_bytes(b"\x89PNG\r\n\x1a\n")
    with huge.open("r+b") as file:
        file.truncate(40 * 1024 * 1024)
    page.locator("#picture-file").set_input_files(huge)
    expect(page.locator("#picture-error")).to_contain_text(WORDS[language][0])
    page.locator("#picture-file").set_input_files(photo(page, tmp_path))
    page.get_by_test_id("save-picture").click()
    image = page.locator("#portrait image")
    expect(image).to_be_attached()
    stored = page.request.get(page.url.split("/memory/")[0] + image.get_attribute("href"))
    assert PLACE not in stored.body()
    assert len(stored.body()) < 100_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_companion_is_cared_for_on_one_page(
    browser: Browser, house: Installation, tmp_path: Path, language: str
) -> None:
    context = browser.new_context(locale={"en": "en-GB", "zh": "zh-CN"}[language], timezone_id="Europe/Paris")
    chat = context.new_page()
    onboard(chat, house, language)
    chat.get_by_test_id("companion-jar").click()
    expect(chat.get_by_test_id("part-look")).to_be_visible()
    chat.go_back()
    page = context.new_page()
    page.goto(chat.url)
    page.get_by_test_id("menu").click()
    page.get_by_test_id("companion-link").click()

    take_picture(page, language, tmp_path)
    page.locator("#look_name").fill("Miranda")
    page.locator("[name=colour][value=plum]").check()
    page.get_by_test_id("save-look").click()
    expect(page.get_by_test_id("toast")).to_be_visible()
    # The conversation that is open beside it has the new name and picture without a reload.
    expect(chat.get_by_test_id("persona-name")).to_have_text("Miranda")
    expect(chat.locator("#jar [data-colour=plum] image")).to_be_attached()

    # Two tabs: the second one is asked.
    other = context.new_page()
    other.goto(page.url)
    page.locator("#style_style").fill("Short and dry.")
    page.get_by_test_id("save-style").click()
    other.locator("#style_style").fill("Long and warm.")
    other.get_by_test_id("save-style").click()
    expect(other.get_by_test_id("conflict")).to_contain_text("Short and dry.")
    other.get_by_test_id("save-style").click()
    expect(other.locator("#style_style")).to_have_value("Long and warm.")
    expect(other.get_by_test_id("conflict")).to_have_count(0)
    other.get_by_test_id("versions-style").locator("summary").click()
    other.locator("li", has_text="Short and dry.").get_by_test_id("restore").click()
    expect(other.locator("#style_style")).to_have_value("Short and dry.")

    # The zone that the browser knew is shown as a place; another one is found by its city.
    expect(other.locator("#zone_timezone")).to_have_value(re.compile("Paris|巴黎"))
    other.locator("#zone_timezone").fill("Porto")
    other.get_by_test_id("save-zone").click()
    expect(other.locator("#zone_timezone")).to_have_value(re.compile(WORDS[language][1]))
    context.close()


def test_the_account_looks_as_chosen_without_a_script_and_shows_nothing_after_signing_out(
    browser: Browser, house: Installation, page: Page
) -> None:
    begin(page, house, "en")
    address = page.url
    memory = address.replace("/chat/", "/memory/")
    context = browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(house.url + "/account/")
    plain.get_by_test_id("change-look").click()
    plain.locator("[name=theme][value=dark]").check()
    plain.locator("[name=text_size][value=larger]").check()
    plain.locator("select[name=language]").select_option("zh-hans")
    plain.get_by_test_id("look-save").click()
    expect(plain.locator("html")).to_have_attribute("data-theme", "dark")
    assert plain.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 26, 24)"
    assert plain.evaluate("getComputedStyle(document.documentElement).fontSize") == "21px"
    plain.goto(house.url + "/account/time-zone/")
    plain.locator("[name=timezone]").fill("東京")
    plain.get_by_test_id("zone-save").click()
    expect(plain.locator(".errorlist li")).to_be_visible()
    plain.locator("[name=timezone]").fill("东京")
    plain.get_by_test_id("zone-save").click()
    expect(plain).to_have_url(house.url + "/account/")
    plain.goto(memory + "companion/")
    expect(plain.locator("#zone_timezone")).to_have_value("亚洲 · 东京")
    context.close()

    for private in (memory + "companion/", house.url + "/account/"):
        page.goto(private)
    page.get_by_test_id("sign-out").first.click()
    expect(page.locator("[name=password]")).to_be_visible()
    for _ in range(3):
        page.go_back()
        expect(page.locator("[name=password]")).to_be_visible()
        assert "Mira" not in page.content()
