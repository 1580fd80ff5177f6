"""On a phone's home screen: what makes an app of the page, and the page without a connection."""

from playwright.sync_api import Page, expect

from tests.browser.conversation import sign_in
from tests.installation import Installation

# What the browser says of a page that was opened from the home screen; it cannot be told to by its tools.
STANDALONE = """const asked = window.matchMedia.bind(window);
window.matchMedia = (query) => (query === '(display-mode: standalone)' ? { matches: true } : asked(query));"""


def test_an_app_on_the_home_screen_says_so_where_its_server_does_not_answer(
    page: Page, lived_in: Installation, keys: dict[str, str]
) -> None:
    page.add_init_script(STANDALONE)
    sign_in(page, lived_in)
    page.goto(f"{lived_in.url}/chat/{keys['en']}/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_function("caches.match('/offline/').then(Boolean)")
    kept = page.evaluate("caches.open('offline').then((one) => one.keys()).then((all) => all.map(({url}) => url))")
    assert kept
    assert all("/offline/" in url or "/static/" in url for url in kept)  # nothing of anybody
    page.context.set_offline(True)
    page.goto(f"{lived_in.url}/memory/{keys['en']}/", wait_until="commit")
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("Ana")
    expect(page.locator("main")).to_have_css("border-top-style", "solid")  # its style is there, too
    page.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_test_id("memory")).to_be_visible()


def test_in_a_tab_there_is_no_worker_before_somebody_asks_for_notices(page: Page, house: Installation) -> None:
    page.goto(house.url)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


def test_every_icon_of_the_manifest_is_there_in_its_size(page: Page, house: Installation) -> None:
    page.goto(f"{house.url}/login/")
    told = page.evaluate("fetch('/manifest.webmanifest').then((answer) => answer.json())")
    assert (told["id"], bool(told["description"])) == ("/", True)
    assert {icon.get("purpose", "any") for icon in told["icons"]} == {"any", "maskable"}
    icons = [(icon["src"], icon["sizes"]) for icon in told["icons"]]
    icons.append((page.locator("link[rel=apple-touch-icon]").get_attribute("href") or "", "180x180"))
    for source, size in icons:
        drawn = page.evaluate(
            "async (source) => { const image = new Image(); image.src = source; await image.decode();"
            " return `${image.naturalWidth}x${image.naturalHeight}`; }",
            source,
        )
        assert size in (drawn, "any"), source
