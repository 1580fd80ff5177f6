"""Pictures of the product, from an installation seeded for them.

make screenshots                          # the README's: static/img/screenshot.webp
make screenshots PAGES="--pages FOLDER"   # every page, wide and narrow, light and dark, English and Chinese
"""

import argparse
import base64
import tempfile
from itertools import product
from pathlib import Path

import django
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import chromium
from tests.browser.conftest import FLAGS
from tests.browser.test_main_job import begin, say
from tests.installation import ROOT, Installation

README = ROOT / "static" / "img" / "screenshot.webp"
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
        "chat": "Ana: I start a new job at the library on Monday.\nTom: Congratulations! Bring the tent on Sunday.\n",
        "speaker": "Ana",
    },
    "zh": {
        "locale": "zh-CN",
        "told": [
            "我养了只白猫,叫小黑。他超调皮,老在半夜跳到我脸上。",
            "我妹妹小雨在北京当护士，12月5日来看我，我特别高兴。",
            "我的狗豆豆去年走了，我还是非常想念它。",
        ],
        "asked": "你还记得我的猫吗",
        "chat": "安娜: 我星期一开始在图书馆上班。\n小王: 恭喜！下周末带上帐篷吧。\n",
        "speaker": "安娜",
    },
}
PAGES = {
    "account": "/account/",
    "my-data": "/account/data/",
    "name": "/account/name/",
    "look": "/account/look/",
    "password": "/account/password/",
    "sign-out": "/account/sign-out/",
    "token": "/account/tokens/",
    "delete-account": "/account/delete/",
    "help": "/help/",
    "help-forget": "/help/forget/",
    "admin": "/admin/",
    "admin-messages": "/admin/chat/message/",
    "admin-sessions": "/admin/chat/session/",
    "admin-events": "/admin/memory/event/",
    "admin-entities": "/admin/memory/entity/",
    "admin-flags": "/admin/chat/crisisflag/",
    "admin-calls": "/admin/llm/llmcall/",
    "admin-calendar": "/admin/reaching-out/",
    "not-found": "/nowhere/",
}


def seed(page: Page, house: Installation, language: str) -> str:
    """A life of three messages, and a chat from elsewhere; returns the address of the companion's pages."""
    story = STORIES[language]
    begin(page, house, language)
    for message in story["told"]:
        say(page, message)
    page.get_by_test_id("end-talk").click()
    expect(page.locator("[data-testid=timeline-row][data-kind=event]").first).to_be_attached(timeout=90_000)
    say(page, str(story["asked"]))
    home = page.url
    chat = house.folder / "chat.txt"
    chat.write_text(str(story["chat"]))
    persona = home.rstrip("/").split("/")[-1]
    house.manage(
        *("import_memories", str(chat), "--persona", persona, "--format", "transcript", "--undated", "2026-10-03"),
        *("--user-is", str(story["speaker"])),
        check=False,
    )
    return home


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


def pictures_of_pages(browser: Browser, house: Installation, language: str, folder: Path) -> None:
    first = context_of(browser, "en", 1280, "light")
    home = seed(first.new_page(), house, language)
    memory = home.replace("/chat/", "/memory/")
    own = {"chat": home, "reaching-out": f"{home}reaching-out/", "memory": memory}
    own |= {name: f"{memory}{name}/" for name in ("people", "names", "receipts", "bring", "drafts")}
    for width, scheme in product(SIZES, ("light", "dark")):
        context = context_of(browser, language, width, scheme, storage_state=first.storage_state())
        page = context.new_page()
        for name, address in own.items() | {(name, house.url + path) for name, path in PAGES.items()}:
            page.goto(address)
            page.wait_for_timeout(500)
            page.screenshot(path=folder / f"{name}.{language}.{width}.{scheme}.png", full_page=name != "chat")
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
        browser.close()


if __name__ == "__main__":
    main()
