"""One real prompt with everything in it: in order, without a channel, without an id, and nothing twice."""

import ast
import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from chat.messages import receive_message
from chat.prompt import assemble
from chat.turns import turn
from memory.curation.lessons import Wish, add_lesson
from memory.models import Alias, ConceptNode, Entity
from persona import mood
from persona.models import Persona

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
CHANNEL = "discord-7731"
HEADINGS = [
    "# Right now",
    "# Persona",
    "# About the user",
    "# Style",
    "# How you feel right now",
    "# Who is named",
    "# What always holds",
    "# How to be with them",
    "# What you always know",
    "# What you remember",
    "# About them",
    "# How you see yourself lately",
    "# Promises you made",
    "# What you expect",
    "# Recent conversation",
    "# What they just said",
]


@pytest.fixture
def whole(mira: Persona, remember: Remember) -> tuple[Any, assemble.Prompt]:
    """A persona with something in every layer, and the prompt for a line that touches it."""
    now = timezone.now()
    mood.change(mira, mood.Mood("warm", 6, "warm"), None, now)
    remember(mira, "Ana has a dog called Rex.", relational_tags=["identity-bearing"], emotional_impact=3)
    remember(mira, "Ana lights up when she speaks of animals.", kind="thought", source="reflection")
    remember(mira, "I talk too much at night.", kind="thought", source="reflection", subject="persona")
    remember(mira, "Ana is allergic to nuts.", concern="health")
    add_lesson(mira, Wish("when I speak of Rex, be glad with me", "topic", "Rex"), now)
    due = date.today() + timedelta(days=3)
    remember(mira, "I will ask about the vet.", kind="intention", subject="persona", source="extraction",
             event_time_start=due, event_time_end=due)  # fmt: skip
    remember(mira, "Ana may hear from the vet.", kind="expectation", source="slow_cycle",
             event_time_start=due, event_time_end=due)  # fmt: skip
    rex = Entity.objects.create(
        persona=mira, canonical_name="Rex", kind="pet", description="A brown dog, afraid of rain."
    )
    Alias.objects.create(entity=rex, persona=mira, text="Rex", normalized="rex")
    receive_message(mira, "We talked about the harbour.", None, CHANNEL, now - timedelta(minutes=5))
    first = turn.claim(mira.pk, now)
    assert first is not None
    turn.finish(first, "It was a fine day.", stopped=False, first_token_at=now, xray={}, now=now)
    receive_message(mira, "How is my dog Rex, do you remember him?", None, CHANNEL, now)
    claimed = turn.claim(mira.pk, now)
    assert claimed is not None
    return claimed, assemble.assemble(claimed, now)


def test_every_section_stands_in_its_order(whole: tuple[Any, assemble.Prompt]) -> None:
    _turn, made = whole
    assert made.system.startswith("You are Mira, talking with Ana.")
    assert re.findall(r"^# .*$", f"{made.system}\n{made.user}", re.MULTILINE) == HEADINGS


def test_no_channel_and_no_id_is_in_it(whole: tuple[Any, assemble.Prompt]) -> None:
    """F10, over a real assembled prompt."""
    claimed, made = whole
    everything = f"{made.system}\n{made.user}".casefold()
    ids = [
        claimed.uuid,
        claimed.session.uuid,
        claimed.persona.uuid,
        *ConceptNode.objects.values_list("uuid", flat=True),
    ]
    for word in ("discord", "7731", "channel", "websocket", "频道", "渠道", *map(str, ids)):
        assert word not in everything


def test_nothing_is_said_twice(whole: tuple[Any, assemble.Prompt]) -> None:
    _turn, made = whole
    for words in ("has a dog called Rex", "lights up when", "I talk too much", "do you remember him", "the harbour"):
        assert made.user.count(words) == 1, words


def test_the_xray_names_what_was_chosen_and_copies_no_words(whole: tuple[Any, assemble.Prompt]) -> None:
    _turn, made = whole
    seen = made.xray["recollections"]
    assert seen["chosen"]
    assert "Rex" not in str(made.xray)
    assert seen["tokens"] <= seen["budget"] <= 1500


def test_no_recall_query_knows_a_channel() -> None:
    """D4, over the code."""
    root = Path(django_settings.BASE_DIR)
    for path in [
        *(root / "memory" / "recall").rglob("*.py"),
        root / "memory" / "store" / "vectors.py",
        root / "chat" / "search.py",
    ]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
        assert not [name for name in names if "channel" in name], path.name
