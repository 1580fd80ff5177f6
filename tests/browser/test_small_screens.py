"""What a small screen, large text and a device far from home make of the pages."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conversation import sign_in
from tests.installation import Installation
from tests.persona.images import png

# Of everything in the head that is shown: what leaves the screen, what is cut off, and what lies on something else.
FAULTS = """() => {
  const scrolls = (one) => one && getComputedStyle(one).overflowX === 'auto';
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.sr-only, .menu__sheet');
  const seen = [...document.querySelectorAll('header :is(a, button, summary, strong, h1)')].filter(
    (one) => isShown(one) && !scrolls(one.closest('nav')));
  const box = (one) => one.getBoundingClientRect();
  const name = (one) => `${one.tagName} ${one.getAttribute('aria-label') || one.textContent.trim().slice(0, 20)}`;
  const faults = [];
  for (const one of seen) {
    const { left, right, top } = box(one);
    if (left < -1 || right > innerWidth + 1 || top < -1) faults.push(`${name(one)} leaves the screen`);
    const isCut = one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline';
    if (isCut) faults.push(`${name(one)} is cut off`);
    for (const other of seen) {
      if (one === other || one.contains(other) || other.contains(one)) continue;
      const [a, b] = [box(one), box(other)];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1) faults.push(`${name(one)} lies on ${name(other)}`);
    }
  }
  const wider = document.documentElement.scrollWidth - innerWidth;
  if (wider > 0) faults.push(`the page is ${wider} px wider than the screen`);
  return faults;
}"""

# Two frames: what was changed has been laid out and drawn.
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_in_twice_as_large_text_nothing_of_the_head_is_cut_off_or_overlaps(
    page: Page, lived_in: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, lived_in)
    page.set_viewport_size({"width": 390, "height": 844})
    faults = {}
    for key in (keys["en"], keys["zh"]):
        for place in (f"chat/{key}/", f"memory/{key}/people/", f"memory/{key}/companion/", "account/"):
            page.goto(f"{lived_in.url}/{place}")
            # As the setting of the browser: every size on the page is told in that of its text.
            page.evaluate("document.documentElement.style.fontSize = '200%'")
            page.evaluate(DRAWN)
            if found := page.evaluate(FAULTS):
                faults[place] = found
    assert faults == {}
    page.evaluate("document.querySelector('header a, header summary').style.marginLeft = '400px'")
    assert page.evaluate(FAULTS), "the measurement sees what leaves the screen"


def test_the_tabs_of_memory_stand_in_one_line_on_a_laptop(
    page: Page, lived_in: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, lived_in)
    page.set_viewport_size({"width": 1280, "height": 800})
    for key in (keys["en"], keys["zh"]):
        page.goto(f"{lived_in.url}/memory/{key}/")
        tops = page.locator(".memory__nav a").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
        assert len(tops) == 8
        assert max(tops) - min(tops) < 5


def test_a_device_far_away_shows_the_times_of_the_chosen_zone(
    browser: Browser, lived_in: Installation, keys: dict[str, str]
) -> None:
    context = browser.new_context(timezone_id="America/New_York", locale="en-GB")
    page = context.new_page()
    sign_in(page, lived_in)
    shown = {}
    for language, zone in (("en", "Europe/Lisbon"), ("zh", "Asia/Shanghai")):
        page.goto(f"{lived_in.url}/chat/{keys[language]}/")
        time = page.get_by_test_id("message-user").last.locator("time")
        expect(time).to_have_text(re.compile(r"\d\d:\d\d"))
        wanted = time.evaluate(
            "(one, timeZone) => new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZone })"
            ".format(new Date(one.dateTime))",
            zone,
        )
        expect(time).to_have_text(wanted)
        shown[language] = wanted
    assert shown["en"] != shown["zh"], "two zones, two clocks"
    context.close()


def test_the_year_begins_with_today_on_a_phone_and_the_page_itself_does_not_scroll_sideways(
    page: Page, lived_in: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, lived_in)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{lived_in.url}/memory/{keys['en']}/year/")
    heat = page.locator(".heat")
    assert heat.evaluate("(one) => one.scrollWidth > one.clientWidth")
    assert heat.evaluate("(one) => one.scrollLeft + one.clientWidth >= one.scrollWidth - 2"), "today is to be seen"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_saving_a_picture_returns_to_its_section(
    page: Page, lived_in: Installation, keys: dict[str, str], tmp_path: Path
) -> None:
    sign_in(page, lived_in)
    page.set_viewport_size({"width": 390, "height": 844})
    (tmp_path / "face.png").write_bytes(png(40, 40))
    page.goto(f"{lived_in.url}/memory/{keys['en']}/companion/")
    page.set_input_files("#picture-file", tmp_path / "face.png")
    page.get_by_test_id("save-picture").click()
    expect(page).to_have_url(re.compile("#picture$"))
    expect(page.get_by_test_id("part-picture")).to_be_in_viewport()
    page.goto(f"{lived_in.url}/memory/{keys['en']}/people/")
    page.get_by_test_id("people").get_by_role("link", name="Rosa", exact=True).click()
    page.get_by_test_id("photo").locator("summary").click()
    page.set_input_files("#picture-file", tmp_path / "face.png")
    page.get_by_test_id("save-picture").click()
    expect(page.get_by_test_id("face").locator("img")).to_have_js_property("complete", True)
    assert page.get_by_test_id("face").locator("img").evaluate("(one) => one.naturalWidth") == 40
