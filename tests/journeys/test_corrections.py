"""「不对，是周五」: after a wrong day was put right, only the right one is remembered, on every surface.

The model of these tests reads as a careful one would. Without a model nothing is rewritten: both stand in the owner's
own words."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from chat.messages import add_message
from chat.models import Session
from echovessel.embeddings import embedding
from echovessel.language.corrections import apply_correction, takes_back
from echovessel.llm.prompts import ContextRequest
from memory import context
from memory.consolidation import requests, runner
from memory.curation.correct import Correction, correct
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.recall import Recall, recall
from memory.store.writing import Draft, write
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.memory.sessions import NOW, Clock, event, extraction, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Tongue:
    """The same story in one language. Lines that start with "> " are the persona's."""

    language: str
    told: tuple[str, ...]
    asked_back: tuple[str, ...]
    put_right: str
    question: str
    wrong: str
    right: str


CHINESE = Tongue(
    "zh",
    (
        "我周四有个面试，在小黑家附近。",
        "> “我周四有个面试”，这听起来很重要。",
        "我的猫叫小黑，今天它把花瓶打碎了。",
        "> 真好。",
    ),
    ("你还记得我的面试吗？", "> 我记得，你跟我说过：你周四有个面试。"),
    "不对，是周五。",
    "我的面试是哪天？",
    "周四",
    "周五",
)
ENGLISH = Tongue(
    "en",
    (
        "My interview is on Thursday.",
        "> “My interview is on Thursday”, I see.",
        "My cat Milo broke a vase today.",
        "> Oh!",
    ),
    ("Do you remember my interview?", "> I remember you told me: Your interview is on Thursday."),
    "No, it's on Friday.",
    "When is my interview?",
    "Thursday",
    "Friday",
)
both = pytest.mark.parametrize("tongue", [CHINESE, ENGLISH], ids=["zh", "en"])


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def reader(model: Script) -> None:
    model.answers(*[as_a_model] * 20)


def as_a_model(request: Any) -> dict[str, Any]:
    """One event for each statement; one that is taken back is told with the right day, in place of what is known."""
    if request.purpose != "extraction":
        return {"thoughts": []}
    material = request.material
    events: list[dict[str, Any]] = []
    for line in material["lines"]:
        said, quote = line["content"], {"message_id": line["id"], "quote": line["content"]}
        if line["role"] != "user" or said.endswith(("?", "？")):
            continue
        if not takes_back(said):
            events.append(event(f"Ana: {said}", quote))
            continue
        wrong = next((one for one in events if apply_correction(one["description"], said, loosely=True)), None)
        known = next((one for one in material["known"] if apply_correction(one["description"], said)), None)
        told = (wrong or known)["description"]
        right = event(apply_correction(told, said, loosely=True), *(wrong["evidence"] if wrong else ()), quote)
        right |= {"relational_tags": ["correction"], "supersedes": [known["id"]] if known else []}
        events = [right if one is wrong else one for one in events] if wrong else [*events, right]
    return extraction(events, session_summary="")


def persona_of(owner: User, tongue: Tongue) -> Persona:
    return create_persona(owner, "Mira", user_name="Ana", timezone="Asia/Shanghai", language=tongue.language)


def read(persona: Persona, clock: Clock, *lines: str) -> Session:
    """A talk of these lines, read when it was over."""
    clock.forward(hours=5)
    session = talk(persona, *lines, at=clock.now)
    clock.forward(hours=1)
    assert runner.run(session.pk, clock) == "closed"
    session.refresh_from_db()
    return session


def brought_to_mind(persona: Persona, question: str, now: datetime) -> Recall:
    return recall(persona, [question], now=now, budget_tokens=4_000)


def only_right(tongue: Tongue, text: str) -> bool:
    return tongue.right in text and tongue.wrong not in text


def assert_only_right_everywhere(persona: Persona, tongue: Tongue, clock: Clock, client: Client) -> None:
    """In recall and its passages, the sections of a prompt, the timeline, what the API recalls and lists as current."""
    clock.forward(days=2)
    found = brought_to_mind(persona, tongue.question, clock.now)
    assert only_right(tongue, " ".join(item.text for item in found.items))
    assert only_right(tongue, sections(persona, tongue.question, clock.now))
    assert tongue.wrong not in " ".join(Session.objects.values_list("summary", flat=True))
    client.force_login(persona.owner)
    url = f"/api/personas/{persona.uuid}"
    answer = client.post(f"{url}/recall", {"turns": [tongue.question]}, content_type="application/json").json()
    assert only_right(tongue, " ".join(item["text"] for item in answer["items"]))
    listed = client.get(f"{url}/nodes").json()["items"]
    assert only_right(tongue, " ".join(node["description"] for node in listed if node["status"] == "active"))
    assert only_right(tongue, client.get(f"/memory/{persona.uuid}/timeline/").content.decode())


def sections(persona: Persona, line: str, now: datetime) -> str:
    """All that a prompt says of what remains; the lines just said, which show the correction, stand elsewhere."""
    asked = ContextRequest(persona=persona, turns=(line,), now=now, budget=4_000)
    told = (
        context.recollections,
        context.entities,
        context.about_them,
        context.about_yourself,
        context.promises,
        context.expectations,
    )
    return "\n".join(section.text for one in told if (section := one(asked)))


@pytest.mark.real_embeddings
@both
def test_what_a_later_session_puts_right_is_all_that_is_remembered(
    ana: User, tongue: Tongue, client: Client, clock: Clock
) -> None:
    persona = persona_of(ana, tongue)
    read(persona, clock, *tongue.told)
    old = ConceptNode.objects.get(description__contains=tongue.wrong)
    describe(old, f"({tongue.wrong})")
    conclude(persona, old, f"She is afraid of {tongue.wrong}.")
    read(persona, clock, *tongue.asked_back, tongue.put_right, "> Thank you.")
    old.refresh_from_db()
    assert (old.status, old.superseded_by.relational_tags) == ("superseded", ["correction"])
    assert_only_right_everywhere(persona, tongue, clock, client)


@pytest.mark.real_embeddings
@both
def test_a_session_of_nothing_but_the_correction_is_read(
    ana: User, tongue: Tongue, client: Client, clock: Clock
) -> None:
    persona = persona_of(ana, tongue)
    read(persona, clock, *tongue.told)
    read(persona, clock, tongue.put_right)
    assert_only_right_everywhere(persona, tongue, clock, client)


@both
def test_what_is_put_right_in_the_same_session_is_never_remembered_wrong(
    ana: User, tongue: Tongue, client: Client, clock: Clock
) -> None:
    persona = persona_of(ana, tongue)
    read(persona, clock, *tongue.told[:2], tongue.put_right, "> Thank you.", *tongue.told[2:])
    assert not ConceptNode.objects.filter(description__contains=tongue.wrong).exists()
    event = ConceptNode.objects.get(description__contains=tongue.right)
    assert list(event.evidence.values_list("quote", flat=True)) == [tongue.told[0], tongue.put_right]
    assert_only_right_everywhere(persona, tongue, clock, client)


@both
def test_what_was_read_early_is_put_right_when_the_session_goes_on(
    ana: User, tongue: Tongue, client: Client, clock: Clock
) -> None:
    persona = persona_of(ana, tongue)
    session = talk(persona, *tongue.told, at=clock.now, status="open")
    requests.request_early_consolidation(session, clock.now)
    assert runner.run(session.pk, clock) == "read"
    clock.forward(minutes=10)
    add_message(session, "user", tongue.put_right, clock.now)
    Session.objects.filter(pk=session.pk).update(status="closing", closed_at=clock.now)
    clock.forward(hours=1)
    assert runner.run(session.pk, clock) == "closed"
    assert ConceptNode.objects.get(description__contains=tongue.wrong).status == "superseded"
    assert_only_right_everywhere(persona, tongue, clock, client)


@both
def test_without_a_model_nothing_is_rewritten_and_both_are_told_together(
    ana: User, tongue: Tongue, clock: Clock, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    persona = persona_of(ana, tongue)
    read(persona, clock, *tongue.told[:2], tongue.put_right, "> Thank you.", *tongue.told[2:])
    node = ConceptNode.objects.get(description__contains=tongue.wrong)
    assert node.description.endswith(f"“{tongue.told[0]}” “{tongue.put_right}”")
    assert (node.status, node.relational_tags) == ("active", ["correction"])


@both
def test_what_a_person_puts_right_is_all_that_is_remembered(
    ana: User, tongue: Tongue, client: Client, clock: Clock
) -> None:
    persona = persona_of(ana, tongue)
    read(persona, clock, *tongue.told)
    node = ConceptNode.objects.get(description__contains=tongue.wrong)
    describe(node, f"({tongue.wrong})")
    change = Correction(description=node.description.replace(tongue.wrong, tongue.right))
    correct(node, change, ana, clock.now)
    assert_only_right_everywhere(persona, tongue, clock, client)


def describe(node: ConceptNode, words: str) -> None:
    """Somebody whom the node mentions is described by what it says."""
    entity = Entity.objects.create(persona=node.persona, canonical_name="Zoe", description=words)
    Alias.objects.create(entity=entity, persona=node.persona, text="Zoe", normalized="zoe")
    Mention.objects.create(entity=entity, node=node)


def conclude(persona: Persona, node: ConceptNode, words: str) -> None:
    """A thought that rests on the node alone, as the slow path would write it."""
    draft = Draft(kind="thought", description=words, source="slow_cycle", filling=[node])
    with transaction.atomic():
        assert write(persona, draft, embedding.embed([words])[0], embedding.name(), NOW).node
