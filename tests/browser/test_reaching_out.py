"""She speaks first where she may, and says why; notices and help stand where they are needed; the desk's calendar."""

from playwright.sync_api import Page, expect

from tests.browser.conversation import SECONDS, begin, quiet, say
from tests.browser.test_memory_page import confirm
from tests.installation import Installation

SOON = 20 * SECONDS
CRY = "I keep thinking of suicide."
# A first word as it is said once it was decided on and written, about a promise that is remembered.
SAID = """
from django.utils import timezone
from chat.turns import first_word
from echovessel.embeddings import embedding
from memory.store import vectors
from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Consideration, Outreach
now, mira = timezone.now(), Persona.objects.get()
promise = ConceptNode.objects.create(
    persona=mira, kind="intention", source="extraction", description={about!r}, content_hash={about!r}[:64],
    embedding_model=embedding.name(),
)
vectors.index([promise], embedding.embed([promise.description]))
why = {{"trigger": "promise", "about": str(promise.uuid), "since": now.isoformat()}}
turn = first_word.say(mira, {words!r}, {{"why_now": why}}, now)
outreach = Outreach.objects.create(
    persona=mira, trigger="promise", trigger_key="a", about_uuid=promise.uuid, status="delivered", wanted_at=now,
    delivered_at=now, turn_uuid=turn.uuid,
)
def considered(verdict, gate, outreach=None, times=1):
    Consideration.objects.create(
        persona=mira, day=now.astimezone(mira.zone).date(), verdict=verdict, gate=gate, first_at=now, at=now,
        outreach=outreach, times=times,
    )
considered("send", "", outreach)
considered("refuse", "rate", times=480)
considered("refuse", "trigger", times=600)
"""
# What a browser's maker would answer; there is none here.
PUSH_STUB = """
    const of = (endpoint) => ({
      endpoint,
      toJSON: () => ({ endpoint, keys: { p256dh: '%(p256dh)s', auth: '%(auth)s' } }),
      unsubscribe: async () => { localStorage.removeItem('stub'); return true; },
    });
    Notification.requestPermission = async () => localStorage.getItem('answer') ?? 'granted';
    PushManager.prototype.subscribe = async (asked) => {
      if (asked.applicationServerKey.length !== 65) throw new Error('no key');
      localStorage.setItem('stub', 'https://fcm.googleapis.com/fcm/send/abc');
      return of(localStorage.getItem('stub'));
    };
    PushManager.prototype.getSubscription = async () => {
      const endpoint = localStorage.getItem('stub');
      return endpoint ? of(endpoint) : null;
    };
"""
P256DH = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"


def speak_first(house: Installation, words: str, about: str) -> None:
    house.run(SAID.format(words=words, about=about))


def turn_away(page: Page, away: bool) -> None:
    """The tab goes to the background, or comes back."""
    page.evaluate(
        """(away) => {
          Object.defineProperty(document, 'hidden', { value: away, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }""",
        away,
    )


def reads_the_calendar(page: Page, house: Installation) -> None:
    """On the desk, with the keyboard alone: the month, its neighbours, and the list behind a day."""
    page.goto(f"{house.url}/admin/proactive/consideration/")
    page.get_by_test_id("calendar").press("Enter")
    day = page.locator("[data-testid=day]", has=page.get_by_test_id("said").filter(has_text="1"))
    expect(day).to_have_count(1)
    name = str(day.get_attribute("aria-label"))
    assert "1 message; " in name
    assert "daily limit reached: 480" in name
    colours: list[str] = day.locator("rect").evaluate_all("all => all.map((one) => getComputedStyle(one).fill)")
    assert len(set(colours)) == len(colours) >= 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_test_id("before").press("Enter")
    expect(page.get_by_test_id("said").filter(has_text="1")).to_have_count(0)
    page.get_by_test_id("after").press("Enter")
    day.press("Enter")
    rows = page.locator("#result_list tbody tr")
    expect(rows.filter(has_text="daily limit reached")).to_have_count(1)
    expect(rows.filter(has=page.get_by_text("write", exact=True))).to_have_count(1)


def test_the_owner_allows_it_and_a_first_word_comes_with_its_reason(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin(page, house, "en")
    talk = page.url
    page.get_by_test_id("menu").click()
    page.get_by_test_id("reaching-out-link").click()
    expect(page.get_by_test_id("enabled")).not_to_be_checked()
    expect(page.get_by_test_id("nothing-considered")).to_be_visible()
    page.get_by_label("Mira may write to me first").press("Space")
    page.get_by_label("Quiet from").select_option("22:00")
    page.get_by_test_id("keep").click()
    expect(page.get_by_test_id("toast")).to_contain_text("Saved.")
    expect(page.get_by_test_id("enabled")).to_be_checked()

    page.goto(talk)
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=SOON)
    title = page.title()
    turn_away(page, True)
    speak_first(house, "How was **the exam**?", "Mira promised to ask how the exam went.")
    line = page.get_by_test_id("message-persona")
    expect(line.get_by_test_id("bubble")).to_have_text("How was the exam?", timeout=SOON)
    expect(line.get_by_test_id("spoke-first")).to_have_text("Mira, an AI, wrote first")
    expect(page.get_by_test_id("announcer")).to_contain_text("How was the exam?")
    expect(page.get_by_test_id("hello")).to_be_hidden()
    assert page.title() == f"● {title}"
    turn_away(page, False)
    assert page.title() == title
    for _again in range(2):
        line.get_by_role("button", name="why now?").click()
        expect(line.get_by_test_id("why-now")).to_contain_text("a promise of mine was due")
        expect(line.get_by_test_id("why-now-about")).to_have_text("Mira promised to ask how the exam went.")
        page.reload()
        expect(line.get_by_test_id("spoke-first")).to_be_visible()

    say(page, "It went well.")
    expect(page.get_by_test_id("ai-notice")).to_have_count(1)
    expect(page.get_by_test_id("message-persona").last.get_by_test_id("spoke-first")).to_have_count(0)
    page.goto(f"{talk}reaching-out/")
    expect(page.get_by_test_id("told-spoke")).to_contain_text("a promise was due")
    expect(page.get_by_test_id("told-held")).to_contain_text("the limit for 24 hours was reached")
    page.get_by_test_id("told-about").click()
    expect(page.get_by_test_id("node-words")).to_have_text("Mira promised to ask how the exam went.")
    reads_the_calendar(page, house)

    page.goto(talk)
    line = page.get_by_test_id("message-persona").filter(has_text="the exam?")
    line.get_by_test_id("line-forget").click()
    confirm(page)
    expect(page.get_by_test_id("log")).not_to_contain_text("the exam?")
    expect(page.get_by_test_id("spoke-first")).to_have_count(0)
    assert complaints == []


def test_help_stands_beside_a_cry_and_folds_but_never_goes(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin(page, house, "en")
    say(page, "Hello, it has been a long day.")
    expect(page.get_by_test_id("help")).to_have_count(0)
    expect(page.get_by_test_id("ai-notice")).to_contain_text("a computer program")
    expect(page.get_by_test_id("note-announcer")).to_contain_text("a computer program")
    page.get_by_test_id("composer-input").fill(CRY)
    page.keyboard.press("Enter")
    help_of_message = page.locator("[data-testid=message-user]").filter(has_text=CRY).get_by_role("note", name="Help")
    words = help_of_message.locator("[data-help-texts]")
    expect(words).to_be_visible(timeout=SOON)
    expect(page.get_by_test_id("note-announcer")).to_contain_text("There is help")
    told = words.inner_text()
    assert told.strip()
    expect(page.get_by_test_id("message-persona")).to_have_count(2, timeout=SOON)
    fold = help_of_message.locator("summary")
    fold.press("Enter")
    expect(words).to_be_hidden()
    expect(fold).to_be_visible()
    page.reload()
    expect(words).to_be_visible()
    assert words.inner_text() == told
    expect(page.get_by_test_id("ai-notice")).to_have_count(1)

    say(page, f"{CRY} Really.")
    beside = page.get_by_test_id("help")
    expect(beside).to_have_count(2)
    expect(beside.last.locator("[data-help-texts]")).to_be_visible()
    expect(beside.first.locator("[data-help-texts]")).to_be_hidden()
    beside.first.locator("summary").click()
    expect(beside.first.locator("[data-help-texts]")).to_be_visible()
    assert complaints == []


def test_notices_are_asked_for_by_hand_and_end_by_hand(page: Page, house: Installation) -> None:
    page.add_init_script(PUSH_STUB % {"p256dh": P256DH, "auth": "A" * 22})
    begin(page, house, "en")
    complaints = quiet(page)
    page.goto(f"{page.url}reaching-out/")
    place = page.get_by_test_id("notices")
    expect(place).to_have_attribute("data-state", "off")
    page.evaluate("localStorage.setItem('answer', 'denied')")
    page.get_by_test_id("notices-allow").click()
    expect(place).to_have_attribute("data-state", "denied")
    expect(page.get_by_test_id("notices-allow")).to_be_hidden()
    page.evaluate("localStorage.setItem('answer', 'granted')")
    expect(page.get_by_role("heading", name="Notifications in this browser")).to_be_focused()
    page.reload()
    page.get_by_test_id("enabled").press("Space")
    page.get_by_test_id("notices-allow").press("Enter")
    expect(place).to_have_attribute("data-state", "on", timeout=SOON)
    expect(page.get_by_test_id("browsers")).to_have_text("One browser of yours is notified.")
    expect(page.get_by_test_id("enabled")).to_be_checked()  # chosen, and not kept yet
    expect(page.get_by_test_id("notices-stop")).to_be_focused()
    page.get_by_test_id("notices-stop").press("Enter")
    expect(place).to_have_attribute("data-state", "off", timeout=SOON)
    expect(page.get_by_test_id("notices-allow")).to_be_focused()
    expect(page.get_by_test_id("browsers")).to_have_count(0)
    page.evaluate("() => { PushManager.prototype.subscribe = async () => { throw new Error('no push service') } }")
    page.get_by_test_id("notices-allow").click()
    expect(place).to_have_attribute("data-state", "failed")
    expect(page.get_by_test_id("notices-told")).to_contain_text("That did not work just now.")
    assert complaints == []
