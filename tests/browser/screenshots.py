"""Pictures of the product, from an installation seeded for them.

make screenshots                          # the README's and the manual's: static/img/
make screenshots PAGES="--pages FOLDER"   # every page, wide and narrow, light and dark, English and Chinese
"""

import argparse
import base64
import re
import tempfile
from itertools import product
from pathlib import Path

import django
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import chromium
from tests.browser.conftest import FLAGS
from tests.browser.conversation import begin, say, sign_in
from tests.browser.sample_life import settle
from tests.browser.test_accessibility import ADMIN_PAGES, OWNER_PAGES
from tests.installation import ROOT, Installation

README = ROOT / "static" / "img" / "screenshot.webp"
HELP = ROOT / "static" / "img" / "help"
SIZES = {1280: 800, 390: 844}
STORIES = {
    "en": {
        "locale": "en-GB",
        "told": [
            "I adopted a white cat named Snowball. He is so naughty, he jumps on my face at midnight.",
            "My sister Rosa is a nurse in Lisbon. She visits on 5 December, and I am really happy about it.",
            "My dog Biscuit died last year. I still miss him terribly.",
        ],
        "asked": "Do you remember my cat?",
    },
    "zh": {
        "locale": "zh-CN",
        "told": [
            "我养了只白猫,叫小黑。他超调皮,老在半夜跳到我脸上。",
            "我妹妹小雨在北京当护士，12月5日来看我，我特别高兴。",
            "我的狗豆豆去年走了，我还是非常想念它。",
        ],
        "asked": "你还记得我的猫吗",
    },
}
# Of the manual, by name; echovessel/web/help.py knows their size.
HELP_PICTURES = {"memories": "/memory/{}/", "people": "/memory/{}/people/", "year": "/memory/{}/year/"}
HELP_SIZE = {"width": 1280, "height": 900}


def seed(page: Page, house: Installation, language: str) -> None:
    """A life of three messages, and a question about it."""
    story = STORIES[language]
    begin(page, house, language)
    for message in story["told"]:
        say(page, message)
    page.get_by_test_id("end-talk").click()
    expect(page.locator("[data-testid=timeline-row][data-kind=event]").first).to_be_attached(timeout=90_000)
    say(page, str(story["asked"]))


def to_webp(page: Page, png: bytes, quality: float = 0.82) -> bytes:
    """Drawn and coded by the browser: no other library is needed."""
    draw = """async ([png, quality]) => {
        const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
        const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
        canvas.getContext('2d').drawImage(bitmap, 0, 0);
        return canvas.toDataURL('image/webp', quality).split(',')[1];
    }"""
    page.goto("about:blank")
    return base64.b64decode(page.evaluate(draw, [base64.b64encode(png).decode(), quality]))


def context_of(browser: Browser, language: str, width: int, scheme: str, **more: object) -> BrowserContext:
    size = {"width": width, "height": SIZES[width]}
    locale = str(STORIES[language]["locale"])
    return browser.new_context(viewport=size, locale=locale, color_scheme=scheme, **more)  # type: ignore[arg-type]


def picture_of_readme(browser: Browser, house: Installation) -> None:
    page = context_of(browser, "en", 1280, "light").new_page()
    seed(page, house, "en")
    page.get_by_role("button", name="Got it").click()
    page.wait_for_timeout(1_000)
    README.write_bytes(to_webp(page, page.screenshot()))


def pictures_of_help(browser: Browser, house: Installation) -> None:
    """Those of the manual, in both languages, from a year of a companion."""
    keys = settle(house)
    first = context_of(browser, "en", 1280, "light")
    sign_in(first.new_page(), house)
    for language, (name, address) in product(STORIES, HELP_PICTURES.items()):
        context = context_of(browser, language, 1280, "light", storage_state=first.storage_state())
        page = context.new_page()
        page.set_viewport_size(HELP_SIZE)
        page.goto(house.url + address.format(keys[language]))
        page.wait_for_timeout(500)
        (HELP / f"{name}.{language}.webp").write_bytes(to_webp(page, page.screenshot(), 0.75))
        context.close()


def pictures_of_pages(browser: Browser, house: Installation, language: str, folder: Path) -> None:
    """Every page that is looked at for accessibility, wide and narrow, in both themes."""
    keys = settle(house)
    keys["en"] = keys[language]
    first = context_of(browser, "en", 1280, "light")
    sign_in(first.new_page(), house)
    addresses = [*OWNER_PAGES, *(f"/admin/{address}" for address in ADMIN_PAGES)]
    for width, scheme in product(SIZES, ("light", "dark")):
        context = context_of(browser, language, width, scheme, storage_state=first.storage_state())
        page = context.new_page()
        for address in addresses:
            page.goto(house.url + address.format(**keys))
            page.wait_for_timeout(500)
            name = re.sub(r"[^a-z]+", "-", re.sub(r"{\w+}", "", address)).strip("-")
            whole = not address.startswith("/chat/{en}/")
            page.screenshot(path=folder / f"{name}.{language}.{width}.{scheme}.png", full_page=whole)
        context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="every page, into this folder")
    folder = parser.parse_args().pages
    django.setup()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=FLAGS)
        for language in STORIES if folder else ["en"]:
            with tempfile.TemporaryDirectory() as place:
                empty = Installation.unused(Path(tempfile.mkdtemp(dir=place)))
                with Installation(Path(place), empty) as house:
                    if folder:
                        folder.mkdir(parents=True, exist_ok=True)
                        pictures_of_pages(browser, house, language, folder)
                    else:
                        picture_of_readme(browser, house)
                        pictures_of_help(browser, house)
        browser.close()


if __name__ == "__main__":
    main()
