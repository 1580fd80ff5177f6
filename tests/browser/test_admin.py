"""The desk in a real browser: words are masked, or looked at on record; forgetting asks first; stored HTML is inert."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conversation import SECONDS, sign_in
from tests.installation import Installation

ADDRESS = "https://evil.example/x"
SCRIPTS = [
    "<script>alert(1)</script>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<script src={0}></script>",
    "</script><script>alert(1)</script>",
    "<script>fetch('{0}')</script>",
    "<script type=module>import '{0}'</script>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><script>alert(1)</script></mtext></math>",
    "<noscript><p title='</noscript><script>alert(1)</script>'>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "{% raw %}<script>alert(1)</script>",
]
HANDLERS = ["onerror", "onload", "onfocus", "ontoggle", "onanimationstart"]
TAGS = [
    "<img src=x {1}=alert(1)>",
    "<svg {1}=alert(1)>",
    "<input autofocus {1}=alert(1)>",
    "<details open {1}=alert(1)>",
]
OTHERS = [
    '"><img src=x onerror=alert(1)>',
    "'><img src=x onerror=alert(1)>",
    "' autofocus onfocus=alert(1) x='",
    '" autofocus onfocus=alert(1) x="',
    "<a href=javascript:alert(1)>a</a>",
    "<a href='java\tscript:alert(1)'>a</a>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src={0}></iframe>",
    "<object data={0}></object>",
    "<embed src={0}>",
    "<form action={0}><button>x</button></form>",
    "<base href={0}>",
    "<link rel=stylesheet href={0}>",
    "<meta http-equiv=refresh content='0;url={0}'>",
    "<style>@import '{0}';</style>",
    '<div style="background:url({0})">x</div>',
    "<body onload=alert(1)>",
    "<video src={0} onerror=alert(1)></video>",
    "<audio src={0} autoplay></audio>",
    "<img srcset={0}>",
    "<picture><source srcset={0}><img></picture>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "{{7*7}}{% debug %}",
]
PAYLOADS = [
    one.replace("{0}", ADDRESS)
    for one in [*SCRIPTS, *(tag.replace("{1}", handler) for tag in TAGS for handler in HANDLERS), *OTHERS]
]

MADE = """
from django.contrib.auth.models import Group, User
from django.utils import timezone
from chat.models import CrisisFlag, Message, Session
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeVersion
from persona.models import CoreBlock, MoodChange
from persona.onboarding.creation import create_persona
import json
words = json.loads({words!r})
together = " ".join(words)
now = timezone.now()
ana = User.objects.create_user("ana", password="a long word for ana")
User.objects.create_superuser("cora", password="a long word for cora")
for name, group in (("bea", "Curators"), ("rob", "Curators who may read")):
    user = User.objects.create_user(name, password=f"a long word for {{name}}", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
mira = create_persona(ana, words[0][:80], user_name=words[1][:80], blocks={{"user": together}})
talk = Session.objects.create(persona=mira, status="failed", summary=together[:400], failure=together[:400])
def said(text):
    return Message(session=talk, persona=mira, role="user", content=text, token_count=1, day=now.date(), created_at=now)
lines = Message.objects.bulk_create([said(text) for text in [*words, together]])
def node(kind, text, number):
    return ConceptNode(persona=mira, kind=kind, description=text[:2000], source="extraction", session=talk,
                       emotion_tags=[words[2]], content_hash=f"{{kind}}{{number}}", embedding_model="none")
told = [*words, "It was a quiet day.", together]
events = ConceptNode.objects.bulk_create([node("event", text, number) for number, text in enumerate(told)])
thought = ConceptNode.objects.bulk_create([node("thought", together, 0)])[0]
quotes = [(line, line.content[:9]) for line in lines]
rest_on = zip(events, [*quotes[:-1], quotes[0], quotes[-1]])
Evidence.objects.bulk_create(
    Evidence(node=event, message=line, quote=quote, start=0, end=len(quote)) for event, (line, quote) in rest_on
)
Filling.objects.create(parent=thought, child=events[-1])
for number, text in enumerate(words):
    entity = Entity.objects.create(persona=mira, canonical_name=text[:120], description=text)
    Alias.objects.create(entity=entity, persona=mira, text=text[:120], normalized=text[:120])
    Mention.objects.create(node=events[-1], entity=entity)
NodeVersion.objects.create(node=events[-1], version=1, description=together[:2000], emotional_impact=0, edited_at=now)
MoodChange.objects.create(persona=mira, mood=words[2][:40], energy=5, last_user_signal=words[3][:80], at=now)
CrisisFlag.objects.create(message=lines[-1], raised_at=now)
block = mira.core_blocks.get(label="user")
print("KEYS", *(one.pk for one in (lines[-1], events[-1], thought, entity, talk, mira, block, events[-2])))
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, empty: Path) -> Iterator[Installation]:
    """An installation with staff and such a life."""
    with Installation(tmp_path_factory.mktemp("desk"), empty) as house:
        yield house


@pytest.fixture(scope="module")
def keys(desk: Installation) -> dict[str, str]:
    told = desk.run(MADE.format(words=json.dumps(PAYLOADS)))
    names = ("message", "event", "thought", "entity", "session", "persona", "coreblock", "quiet")
    return dict(zip(names, told.split("KEYS ")[1].split(), strict=True))


def test_sixty_pieces_of_html_are_inert_on_every_page(page: Page, desk: Installation, keys: dict[str, str]) -> None:
    assert len(PAYLOADS) == len(set(PAYLOADS)) == 60
    faults: list[str] = []
    page.on("dialog", lambda dialog: (faults.append(f"dialog on {page.url}"), dialog.dismiss()))
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", lambda told: faults.append(f"{page.url}: {told.text}") if told.type == "error" else None)
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(desk.url) else None)
    sign_in(page, desk, "cora")
    lists = ["chat/message", "chat/session", "memory/event", "memory/thought", "memory/entity", "persona/persona",
             "persona/coreblock", "persona/moodchange", "chat/crisisflag"]  # fmt: skip
    changes = [f"{layer}/{keys[layer.split('/')[1]]}/change" for layer in lists if layer.split("/")[1] in keys]
    forgets = [f"forget/?kind=node&key={keys['event']}", f"forget/?kind=session&key={keys['session']}"]
    searches = ["chat/message/?q=%3Cscript%3E", "memory/event/?q=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E"]
    second = ["chat/message/?p=2", "memory/event/?p=2", "memory/entity/?p=2"]
    for address in ["", *lists, *changes, *forgets, *searches, *second]:
        page.goto(f"{desk.url}/admin/{address}")
        expect(page.locator("#content")).to_be_visible()
        assert page.locator("img[src=x], iframe, object, embed, base, svg[onload]").count() == 0, address
    assert faults == []


def test_a_curator_reads_by_permission_and_every_look_is_on_record(
    page: Page, desk: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, desk, "bea")
    for address in (
        "memory/event/",
        f"memory/event/{keys['event']}/change/",
        f"chat/message/{keys['message']}/change/",
    ):
        page.goto(f"{desk.url}/admin/{address}")
        expect(page.locator("#content")).to_contain_text("•••")
        expect(page.locator("#content")).not_to_contain_text("alert(1)")
    page.context.clear_cookies()
    sign_in(page, desk, "rob")
    page.goto(f"{desk.url}/admin/memory/event/{keys['event']}/change/")
    expect(page.locator("#content")).to_contain_text("alert(1)")
    page.context.clear_cookies()
    sign_in(page, desk, "cora")
    page.goto(f"{desk.url}/admin/audit/look/?q=rob")
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    expect(page.locator("#result_list")).to_contain_text("rob")
    expect(page.locator("#result_list")).to_contain_text("memory.Event")


def test_a_memory_is_put_right_hidden_and_forgotten_by_hand(
    page: Page, desk: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, desk, "cora")
    event = f"{desk.url}/admin/memory/event/{keys['quiet']}/change/"
    page.goto(event)
    page.locator("[name=description]").fill("It was a quiet Friday.")
    page.locator("[name=emotional_impact]").fill("3")
    page.locator("[name=emotion_tags]").fill("calm")  # the row was made with a longer one than may be written
    page.keyboard.press("Enter")  # saves, and does nothing else
    expect(page.locator(".messagelist")).to_be_visible(timeout=30 * SECONDS)
    page.goto(event)
    expect(page.locator("[name=description]")).to_have_value("It was a quiet Friday.")
    expect(page.get_by_test_id("version")).to_have_count(1)
    expect(page.get_by_test_id("do-hide")).to_be_visible()
    page.get_by_test_id("do-hide").click()
    expect(page.get_by_test_id("do-show")).to_be_visible()
    page.get_by_test_id("forget").click()
    expect(page.get_by_test_id("plan-going")).to_contain_text("It was a quiet Friday.")
    page.locator("[name=messages][value=withhold]").check()
    page.get_by_test_id("preview").click()
    expect(page.get_by_test_id("plan-withheld")).to_be_visible()
    page.get_by_test_id("confirm").click()
    expect(page.get_by_test_id("receipt-told")).to_be_visible(timeout=30 * SECONDS)
    assert page.goto(event).url == f"{desk.url}/admin/"  # type: ignore[union-attr]


def test_the_first_page_draws_its_charts_on_a_narrow_and_a_wide_screen(
    page: Page, desk: Installation, keys: dict[str, str]
) -> None:
    sign_in(page, desk, "cora")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{desk.url}/admin/")
        bars = page.get_by_test_id("chart-remembered").locator("rect")
        assert bars.first.bounding_box()["height"] > 10  # type: ignore[index]
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow == 0
