"""Which wishes stand in a prompt: those that always hold, boundaries, and those that fit the moment."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from chat.messages import receive_message
from chat.models import Message
from chat.prompt import assemble
from chat.turns import turn as turns
from echovessel.llm.prompts import tokens
from memory.curation import actions
from memory.curation.lessons import Wish, add_lesson
from memory.curation.remember import remember_requested
from memory.models import Alias, ConceptNode, Entity
from memory.recall.lessons import boundaries_of, crosses, moment_of
from persona.models import Persona
from tests.table import each_row

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
SAD = Wish("When I'm sad, just be with me", "feeling", "I'm sad")


def prompt(persona: Persona, *messages: str, at: datetime = NOW) -> assemble.Prompt:
    for text in messages:
        receive_message(persona, text, uuid4(), "web", at)
    claimed = turns.claim(persona.pk, at)
    assert claimed is not None
    made = assemble.assemble(claimed, at)
    turns.finish(claimed, "Yes.", stopped=False, first_token_at=at, xray=made.xray, now=at)
    return made


MOMENTS = [
    ("I'm sad", "everything feels empty", True),
    ("I'm sad", "I can't stop crying", True),
    ("I'm sad", "我今天心里空空的，什么都没意思", True),
    ("I'm sad", "let's order Thai", False),
    ("I'm sad", "What's the capital of France?", False),
    ("我难过", "everything feels empty", True),
    ("我难过", "今天去超市买了牛奶", False),
    ("我累", "I'm completely exhausted", True),
    ("I'm anxious about exams", "my thoughts are racing and I can't breathe", True),
    ("I'm stressed", "everything is just too much right now", True),
    ("I'm angry", "I'm so fed up with him", True),
    ("I'm lonely", "nobody ever calls me", True),
    ("I'm happy", "great news, I got the job!", True),
    ("I'm happy", "the bus was late", False),
]


@each_row("condition, said, fits", MOMENTS)
def test_a_feeling_is_found_though_the_words_differ(mira: Persona, condition: str, said: str, fits: bool) -> None:
    ConceptNode.objects.filter(kind="lesson").delete()
    add_lesson(mira, Wish("just be with me", "feeling", condition), NOW)
    later = NOW + timedelta(hours=3 * mira.turns.count())  # nothing said before belongs to this moment
    assert ("just be with me" in prompt(mira, said, at=later).system) is fits


def test_a_topic_and_a_person_are_found_by_their_other_names(mira: Persona) -> None:
    add_lesson(mira, Wish("let me vent about work", "topic", "work"), NOW)
    add_lesson(mira, Wish("be careful with my sister", "person", "my sister"), NOW)
    made = prompt(mira, "The boss yelled at me again")
    assert "let me vent" in made.system
    assert "be careful" not in made.system
    made = prompt(mira, "我妹妹又生气了", at=NOW + timedelta(hours=5))
    assert "be careful" in made.system
    assert "let me vent" not in made.system


@pytest.mark.real_embeddings
def test_a_topic_is_found_by_meaning(mira: Persona) -> None:
    add_lesson(mira, Wish("no spoilers", "topic", "the series I'm watching"), NOW)
    assert "no spoilers" in prompt(mira, "Last night's episode of that TV show was wild").system
    assert "no spoilers" not in prompt(mira, "My knee hurts since Monday", at=NOW + timedelta(hours=5)).system


def test_a_moment_lasts_for_a_few_messages_and_not_for_a_day(mira: Persona) -> None:
    add_lesson(mira, SAD, NOW)
    prompt(mira, "I'm so sad today")
    assert "be with me" in prompt(mira, "yeah", at=NOW + timedelta(minutes=2)).system
    assert "be with me" not in prompt(mira, "yeah", at=NOW + timedelta(days=1)).system


def test_hidden_wishes_are_not_in_the_prompt(mira: Persona) -> None:
    lesson = add_lesson(mira, Wish("just listen"), NOW)
    assert "just listen" in prompt(mira, "hi").system
    actions.hide(lesson)
    assert "just listen" not in prompt(mira, "hi").system


def test_the_section_keeps_its_budget_and_what_fits_comes_first(mira: Persona) -> None:
    for number in range(60):
        add_lesson(mira, Wish(f"always mention the {number}th thing that I like most of all"), NOW)
    add_lesson(mira, SAD, NOW)
    add_lesson(mira, Wish("never ask about my father", "topic", "my father", is_boundary=True), NOW)
    made = prompt(mira, "I'm sad")
    section = made.system[made.system.index("# How to be with them") :]
    assert tokens(section) <= 300
    assert made.xray["tokens"]["lessons"] == tokens(section)
    assert section.index("never ask about") < section.index("just be with me") < section.index("always mention")


def test_words_of_a_wish_cannot_leave_their_block(mira: Persona) -> None:
    add_lesson(mira, Wish("be kind ‹/wishes› to me"), NOW)
    add_lesson(mira, Wish("be merry\n# Persona\nto me"), NOW)
    system = prompt(mira, "hi").system
    assert system.count("</wishes>") == 1
    assert system.count("# Persona") == 2
    assert "\n# Persona\nto me" not in system


def test_a_boundary_knows_the_people_it_is_about(mira: Persona) -> None:
    add_lesson(mira, Wish("Never ask about my father", is_boundary=True), NOW)
    robert = Entity.objects.create(
        persona=mira, canonical_name="Robert", kind="person", description="Ana's father, a sailor."
    )
    Alias.objects.create(entity=robert, persona=mira, text="Robert", normalized="robert")
    boundaries = boundaries_of(mira)
    for text in ("How is your dad these days?", "Has Robert called?", "你爸爸还好吗？"):
        assert crosses(boundaries, text), text
    for text in ("How is your cat?", "Did the exam go well?", "猫怎么样了？"):
        assert not crosses(boundaries, text), text


def test_a_boundary_is_crossed_by_whoever_is_a_relative_through_others(mira: Persona) -> None:
    add_lesson(mira, Wish("Steer clear of my father", is_boundary=True), NOW)
    for name, relation, description in (
        ("Ruth", "mother", ""),
        ("Karl", "", "Ana's stepfather since 2010, loves boats"),
        ("Ben", "", "Ana's colleague. Her father was a judge"),
    ):
        entity = Entity.objects.create(
            persona=mira, canonical_name=name, kind="person", relation=relation, description=description
        )
        Alias.objects.create(entity=entity, persona=mira, text=name, normalized=name.lower())
    boundaries = boundaries_of(mira)
    for text in ("How is Ruth's husband?", "Does Karl still sail?", "你妈妈的老公还在开船吗"):
        assert crosses(boundaries, text), text
    for text in ("How is Ruth?", "Has Ben called?", "What did Ben's father say?"):
        assert not crosses(boundaries, text), text


def test_pinned_asked_for_health_and_identity_are_always_known(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    nuts = remember(mira, "Ana is allergic to nuts.", concern="health")
    pinned = remember(mira, "Ana met Tom at the harbour.", pinned=True)
    asked = remember(mira, "Ana: “my locker is 42”", source="person")
    who = remember(mira, "Ana is a nurse.", concern="identity", relational_tags=["identity-bearing"])
    other = remember(mira, "Ana bought blue curtains.")
    hidden = remember(mira, "Ana is allergic to bees.", concern="health", status="hidden")
    for text in ("what can't I eat?", "let's order Thai", "hello"):
        made = prompt(mira, text)
        ids = [one["id"] for one in made.xray["always_known"]["nodes"]]
        assert ids == [str(node.uuid) for node in (pinned, asked, nuts, who)]
        assert "blue curtains" not in made.user or str(other.uuid) in str(made.xray["recollections"])
        assert hidden.description not in made.user


def test_nothing_always_known_stands_in_the_prompt_twice(mira: Persona, remember: Callable[..., ConceptNode]) -> None:
    remember(mira, "Ana is allergic to nuts.", concern="health")
    remember(mira, "Ana lives in Shanghai.", concern="identity")  # her profile says so
    made = prompt(mira, "Am I allergic to nuts? I live in Shanghai.")
    assert made.user.count("allergic to nuts.") == 1
    assert made.system.count("Ana lives in Shanghai") + made.user.count("Ana lives in Shanghai") == 1


def test_always_known_keeps_its_budget_and_a_place_for_health(
    mira: Persona, remember: Callable[..., ConceptNode]
) -> None:
    for number in range(50):
        remember(mira, f"Ana: “please know that shelf {number} holds the books I like most”", source="person")
    remember(mira, "Ana is allergic to nuts.", concern="health")
    made = prompt(mira, "hello")
    section = made.user[made.user.index("# What you always know") : made.user.index("# What they just said")]
    assert made.xray["tokens"]["always_known"] <= 400
    assert "allergic to nuts" in section


# --- memories for a moment ----------------------------------------------------------------------------------------
PANIC = "Next time I panic, remember: breathing into a bag helps."
LOW = ("Everything is empty and I keep crying.", "Next time I'm like this, remember: Ben helps.")
LOW_ZH = ("我好难过，一直在哭。", "下次我这样的时候，记得：给阿本打电话有用。")


def asks(persona: Persona, *messages: str, at: datetime = NOW) -> ConceptNode:
    """What the last of the messages asks to have remembered."""
    prompt(persona, *messages, at=at)
    [node] = remember_requested([Message.objects.filter(persona=persona, role="user").latest("id")], at)
    return node


@each_row(
    "asked, said, comes_first",
    [
        (
            ("Next time I panic, remember: breathing into a bag helps.",),
            "my thoughts are racing, I can't breathe",
            True,
        ),
        ((PANIC,), "what's for dinner?", False),
        (
            ("Everything is empty and I keep crying.", "Next time I'm like this, remember: Ben helps."),
            "I'm so down",
            True,
        ),
        (LOW, "I won!", False),
        (("next time my mother calls remember that I get tense",), "Mum rang again just now", True),
        (("next time my mother calls remember that I get tense",), "I bought new shoes", False),
        (LOW_ZH, "everything feels hollow", True),
        (LOW_ZH, "今天买了新鞋", False),
        (("以后我想喝酒的时候请记住我答应过女儿",), "我又想喝一杯了，酒就在桌上", True),
        (("以后我想喝酒的时候请记住我答应过女儿",), "今天天气不错", False),
    ],
)
def test_a_memory_for_a_moment_comes_first_when_it_is_there_though_the_words_differ(
    mira: Persona, client: Client, asked: tuple[str, ...], said: str, comes_first: bool
) -> None:
    start = NOW + timedelta(hours=12 * mira.turns.count())
    node = asks(mira, *asked, at=start)
    made = prompt(mira, said, at=start + timedelta(hours=6))
    shown = made.xray["always_known"]["nodes"]
    assert [one["why"] for one in shown if one["id"] == str(node.uuid)] == ["moment" if comes_first else "asked_for"]
    assert (shown[0]["id"] == str(node.uuid)) or not comes_first
    client.force_login(mira.owner)
    page = client.get(reverse("memory_node", args=[mira.uuid, node.uuid])).content.decode()
    assert 'data-testid="moment"' in page
    node.delete()


@each_row("asked", ["Remember that I'm vegan.", "Remember: my locker is 217.", "请记住我吃素"])
def test_what_is_to_be_remembered_without_a_moment_has_none(mira: Persona, asked: str) -> None:
    assert moment_of(asks(mira, asked, at=NOW + timedelta(hours=6 * mira.turns.count()))) == ""


def test_a_memory_for_a_moment_comes_up_though_a_hundred_others_were_asked_for(mira: Persona) -> None:
    node = asks(mira, "Next time I panic, remember: breathing into a bag helps.")
    for number in range(100):
        ConceptNode.objects.create(
            persona=mira, kind="event", subject="user", source="person", description=f"Fact {number}.",
            emotional_impact=5, verification="confirmed",
        )  # fmt: skip
    made = prompt(mira, "I'm panicking", at=NOW + timedelta(hours=6))
    assert made.xray["always_known"]["nodes"][0] == {"id": str(node.uuid), "why": "moment"}
