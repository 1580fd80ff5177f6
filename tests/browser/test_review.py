"""The review desk in a real browser: a curator decides with the keyboard alone, and no name can run."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conversation import quiet, sign_in
from tests.installation import Installation
from tests.memory.archive.archives import HEADER, PERSONA, entity, node, write_archive

TAGGED = "<img src=x onerror=alert(1)>"
LIFE = (
    HEADER,
    PERSONA,
    node("n1", "Scott paints boats."),
    node("n2", "黄逸扬 paints boats."),
    node("n3", f"{TAGGED} came."),
    entity("e1", "Scott", kind="person", nodes=["n1"]),
    entity("e2", "黄逸扬", kind="person", nodes=["n2"], status="uncertain"),
    entity("e3", TAGGED, kind="person", nodes=["n3"], description=TAGGED, described_by="person", status="uncertain"),
)
ASK = """
from memory.entities.merge import propose
from memory.models import Entity
known = {entity.external_id: entity for entity in Entity.objects.all()}
for other in ("e2", "e3"):
    propose(known["e1"].persona, known["e1"], known[other], 0.7, ["similar_memories"])
"""


@pytest.fixture
def desk(page: Page, house: Installation, tmp_path: Path) -> Page:
    """The list of pairs, two of them open, before somebody who may do all."""
    sign_in(page, house, "cora")
    house.call("import_archive", str(write_archive(tmp_path / "life.jsonl", LIFE)), "--owner", "cora")
    house.run(ASK)
    page.goto(f"{house.url}/admin/memory/mergeproposal/")
    expect(page.get_by_test_id("review")).to_be_visible()
    return page


def is_about(page: Page, name: str) -> None:
    expect(page.locator("#review-question")).to_have_text(f"Are “Scott” and “{name}” the same?")
    expect(page.get_by_test_id("review-desk")).to_be_focused()


def test_pairs_are_reviewed_with_the_keyboard_alone(desk: Page) -> None:
    complaints, dialogs = quiet(desk), list[Any]()
    desk.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    desk.get_by_test_id("review").press("Enter")
    is_about(desk, TAGGED)
    for key, name in (("s", "黄逸扬"), ("ArrowLeft", TAGGED), ("ArrowRight", "黄逸扬"), ("ArrowLeft", TAGGED)):
        desk.keyboard.press(key)
        is_about(desk, name)
    desk.keyboard.press("k")
    is_about(desk, "黄逸扬")
    expect(desk.get_by_test_id("review-told")).to_contain_text("will not be asked about again")
    desk.keyboard.press("Control+m")
    desk.locator("#nav-filter").press_sequentially("mku")  # what is typed is no decision
    expect(desk.get_by_test_id("merge")).to_be_visible()
    desk.get_by_test_id("review-desk").focus()
    desk.keyboard.press("M")
    expect(desk.locator("#review-question")).to_have_text("No possible duplicates")
    desk.keyboard.press("u")
    is_about(desk, "黄逸扬")
    expect(desk.get_by_test_id("review-told")).to_contain_text("everything is as it was before")
    expect(desk.get_by_test_id("merge")).to_be_visible()
    desk.keyboard.press("Tab")
    expect(desk.get_by_test_id("merge")).to_be_focused()
    desk.keyboard.press("Enter")
    expect(desk.get_by_test_id("undo-last")).to_be_visible()
    assert (complaints, dialogs) == ([], [])


def test_two_are_made_one_and_two_again_on_a_telephone(desk: Page) -> None:
    complaints = quiet(desk)
    desk.set_viewport_size({"width": 320, "height": 700})
    desk.get_by_test_id("review").click()
    desk.get_by_test_id("skip").click()
    is_about(desk, "黄逸扬")
    assert desk.evaluate("document.documentElement.scrollWidth") <= 320
    desk.get_by_test_id("merge").click()
    desk.goto(desk.url.partition("/admin/")[0] + "/admin/memory/entity/")
    desk.get_by_role("link", name="Scott", exact=True).click()
    assert desk.evaluate("document.documentElement.scrollWidth") <= 320
    desk.get_by_label("Add a name").fill("Scotty")
    desk.get_by_test_id("name").click()
    expect(desk.locator(".messagelist")).to_contain_text("The name was added.")
    desk.get_by_role("checkbox", name="黄逸扬", exact=True).check()
    desk.get_by_test_id("split").click()
    expect(desk.locator(".messagelist")).to_contain_text("Split into two people")
    expect(desk.get_by_role("checkbox", name="黄逸扬", exact=True)).to_have_count(0)
    assert complaints == []
