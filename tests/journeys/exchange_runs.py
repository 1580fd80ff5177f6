"""Conversations of ten invented people with memory mode, through the server's own turns.

Another hand wrote them (`exchanges/<language>.json`): what each person told in earlier sessions, and eight messages of
today. The earlier ones are stored, closed and consolidated; each of today's is answered by the runner.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import Message
from memory.consolidation import runner
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.memory.sessions import Clock, talk
from tests.turns import say_line

NAMES = {"en": "Mira", "zh": "阿澜"}


@dataclass(frozen=True)
class Exchange:
    """One message of today, and what memory mode said to it."""

    line: str
    reply: str
    xray: dict[str, Any]


def people_of(language: str) -> list[dict[str, Any]]:
    """Those who talk: `who`, `earlier` sessions with their `lines` and `days_ago`, and `today`."""
    path = Path(__file__).parent / "exchanges" / f"{language}.json"
    people: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return people


def persona_of(owner: User, language: str, person: dict[str, Any]) -> Persona:
    """The persona of one person, who remembers the earlier sessions."""
    name = person["who"].replace("，", ",").split(",")[0]
    persona = create_persona(owner, NAMES[language], user_name=name, timezone="Europe/London", language=language)
    for earlier in person["earlier"]:
        at = timezone.now() - timedelta(days=earlier["days_ago"])
        session = talk(persona, *earlier["lines"], at=at)
        assert runner.run(session.pk, Clock(at + timedelta(hours=1))) == "closed"
    return persona


def replies_to(persona: Persona, lines: Sequence[str]) -> Iterator[Exchange]:
    """What is said to each of `lines`, one after the other in one session."""
    for line in lines:
        say_line(persona, line)
        message = persona.messages.filter(role=Message.Role.PERSONA).select_related("turn").latest("id")
        yield Exchange(line, message.content, message.turn.xray if message.turn else {})
