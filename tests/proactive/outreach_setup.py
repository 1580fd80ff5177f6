"""Somebody who may speak first, and has a reason to."""

from datetime import date, datetime, timedelta
from typing import Any

from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Outreach, ReachingOut
from proactive.policy.consider import consider_all
from tests.memory.sessions import NOW, talk

PROMISE = "Mira will ask Ana how the interview went."
DUE = date(2026, 3, 5)


def allow(persona: Persona, **values: Any) -> ReachingOut:
    """The owner has turned it on, long ago."""
    values = {"enabled": True, "changed_at": NOW - timedelta(days=30)} | values
    return ReachingOut.objects.update_or_create(persona=persona, defaults=values)[0]


def talked(persona: Persona, *lines: str, at: datetime = NOW - timedelta(hours=5)) -> None:
    talk(
        persona,
        *(lines or ("I have an interview on Thursday.", "> I will ask you how it went.")),
        at=at,
        status="closed",
    )


def promised(remember: Any, persona: Persona, words: str = PROMISE, due: date = DUE) -> ConceptNode:
    values = {"kind": "intention", "subject": "persona", "event_time_start": due, "event_time_end": due}
    return remember(persona, words, **values)


def wanted(persona: Persona, now: datetime) -> Outreach:
    """The outreach that is on its way once it was considered."""
    consider_all(now)
    return Outreach.objects.get(persona=persona, status="wanted")
