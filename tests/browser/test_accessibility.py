"""WCAG 2.2 AA on every page, by axe-core, in both themes, wide and narrow; reflow, stillness and forced colours."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conversation import sign_in
from tests.installation import Installation

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
RUN = """async (runOnly) => (await axe.run(document, {runOnly, resultTypes: ['violations']}))
    .violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}`))"""
# No colour is measured half way to another one.
STILL = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, *::before, *::after { transition: none !important; animation: none !important; }');
    document.adoptedStyleSheets = [sheet];
}"""
WIDE, NARROW, ZOOMED = 1280, 390, 320  # 320 is a window of 1280 at 400 %
Looks = Sequence[tuple[int, Literal["light", "dark"]]]
LOOKS: Looks = ((WIDE, "light"), (NARROW, "dark"), (NARROW, "light"), (WIDE, "dark"))
# Each page in one look in turn, so that neighbours, which are of one kind, differ; in all of them in the campaign.
in_looks = pytest.mark.parametrize(
    "each", [1, pytest.param(len(LOOKS), marks=pytest.mark.campaign)], ids="{} looks a page".format
)
OWNER_PAGES = [
    *("/chat/{en}/", "/chat/{en}/reaching-out/", "/memory/{en}/", "/memory/{en}/facts/", "/memory/{en}/wishes/"),
    *(
        "/memory/{en}/year/",
        "/memory/{en}/story-lines/",
        "/memory/{en}/story-lines/{line}/",
        "/memory/{en}/companion/",
        "/memory/{en}/people/",
    ),
    *("/memory/{en}/people/{person}/", "/memory/{en}/names/", "/memory/{en}/receipts/", "/memory/{en}/bring/"),
    *("/memory/{en}/drafts/", "/memory/{en}/nodes/{event}/", "/memory/{en}/forget/?node={event}", "/offline/"),
    *("/account/", "/account/data/", "/account/name/", "/account/password/", "/account/sign-out/", "/account/tokens/"),
    *("/account/look/", "/account/delete/", "/account/model/", "/welcome/persona/", "/welcome/persona/material/"),
    *("/nowhere/", "/help/", "/help/forget/", "/help/commands/"),
]
ADMIN_PAGES = [
    *("", "chat/message/", "chat/session/", "chat/session/{session_pk}/change/", "chat/crisisflag/", "memory/event/"),
    *("memory/event/{event_pk}/change/", "memory/fact/", "memory/thought/", "memory/entity/", "memory/mergeproposal/"),
    *("memory/entity/{person_pk}/change/", "memory/mergeproposal/review/", "memory/receipt/", "persona/persona/"),
    *("persona/persona/{persona_pk}/change/", "persona/coreblock/", "persona/moodchange/", "proactive/outreach/"),
    *("forget/?kind=node&key={event_pk}", "llm/llmcall/", "outbox/outboxevent/", "reaching-out/", "audit/look/"),
    *("auth/user/", "auth/user/add/", "axes/accesslog/", "django_q/success/", "password_change/"),
]


def violations(page: Page, addresses: Sequence[str], each: int) -> list[str]:
    """What axe finds on pages, in `each` looks, and which are wider than a screen at 400 %."""
    ahead = itertools.cycle(LOOKS)
    return [fault for address in addresses for fault in _faults(page, address, list(itertools.islice(ahead, each)))]


def _faults(page: Page, address: str, looks: Looks) -> list[str]:
    page.goto(address)
    page.evaluate(STILL)
    page.evaluate(f"{AXE};0")
    found = []
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        found += [f"{address} {width} {scheme} {fault}" for fault in page.evaluate(RUN, WCAG)]
    page.set_viewport_size({"width": ZOOMED, "height": 256})
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return found + ([f"{address} is {wider} px wider than the screen at 400 %"] if wider > 0 else [])


@in_looks
def test_no_page_of_an_owner_violates_wcag(page: Page, lived_in: Installation, keys: dict[str, str], each: int) -> None:
    found = violations(page, [f"{lived_in.url}/login/"], each)
    sign_in(page, lived_in)
    found += violations(page, [lived_in.url + address.format(**keys) for address in OWNER_PAGES], each)
    assert not found, "\n".join(found)


@in_looks
def test_no_page_of_the_admin_violates_wcag(
    page: Page, lived_in: Installation, keys: dict[str, str], each: int
) -> None:
    sign_in(page, lived_in)
    found = violations(page, [f"{lived_in.url}/admin/{address.format(**keys)}" for address in ADMIN_PAGES], each)
    assert not found, "\n".join(found)


def test_a_page_with_faults_is_found_out(page: Page, lived_in: Installation) -> None:
    page.goto(f"{lived_in.url}/login/")
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<input><img src=x>')")
    page.evaluate(f"{AXE};0")
    assert {fault.split(":")[0] for fault in page.evaluate(RUN, WCAG)} >= {"label", "image-alt"}


def test_nothing_moves_for_those_who_asked_for_stillness(
    page: Page, lived_in: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, lived_in)
    page.emulate_media(reduced_motion="reduce")
    for address in ("/chat/{en}/", "/memory/{en}/people/", "/admin/"):
        page.goto(lived_in.url + address.format(**keys))
        longest = page.evaluate(
            """() => Math.max(...[...document.querySelectorAll('*')].flatMap((one) => {
                const style = getComputedStyle(one);
                return `${style.transitionDuration},${style.animationDuration}`.split(',').map(parseFloat);
            }))"""
        )
        assert longest <= 0.001, address


def test_forced_colours_leave_buttons_states_and_the_map_visible(
    page: Page, lived_in: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, lived_in)
    page.emulate_media(forced_colors="active")
    page.goto(lived_in.url + "/memory/{en}/".format(**keys))
    expect(page.locator(".button").first).to_have_css("border-top-style", "solid")
    expect(page.locator("[aria-current=page]").first).to_have_css("outline-style", "solid")


def test_the_map_of_people_is_walked_by_keys_alone(page: Page, lived_in: Installation, keys: dict[str, str]) -> None:
    sign_in(page, lived_in)
    page.goto(lived_in.url + "/memory/{en}/people/".format(**keys))
    people = page.locator(".map__one")
    assert people.count() == page.locator(".people__one").count()
    assert page.locator(".map__one:not([tabindex='-1'])").count() == 1  # one stop of the Tab key
    people.first.focus()
    seen = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "End", "Home"):
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.dataset.key"))
    assert len(seen) >= 5
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Jonas, partner"
    expect(page.locator(".people__one.is-theirs")).to_contain_text("Jonas")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("somebody")).to_contain_text("Jonas")
