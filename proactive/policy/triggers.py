"""Triggers: possible reasons to speak first now. They are read from the database each time, so that a trigger which
could not be used immediately is found again a minute later, until its time is over.

    promise      an intention is due today, or was yesterday
    shock        an event of |impact| >= 8 was told within a day
    expectation  something expected is due today, or was yesterday
    silence      the owner has not written for 48 h, then 96 h, 192 h …

There are no triggers during a session or shortly after it. A trigger makes one outreach only, unless a gate held that
outreach back at the last moment.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Q

from chat.models import Session
from echovessel.db.compiled_queries import Query
from memory.models import ConceptNode
from memory.recall.lessons import boundaries_of, crosses
from persona.models import Persona
from proactive import knobs
from proactive.models import Outreach
from proactive.models.consideration import Gate
from proactive.models.outreach import Trigger

Kind, Status = ConceptNode.Kind, Outreach.Status
AWAITED = {Kind.INTENTION: Trigger.PROMISE, Kind.EXPECTATION: Trigger.EXPECTATION}
MAX_OF_A_KIND = 50


@dataclass(frozen=True)
class Reason:
    """One trigger that holds now. `key` identifies it for ever; `at` is the day it is due, when it was told, or the
    start of the silence."""

    kind: str
    key: str
    about: UUID | None
    at: date

    def facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "key": self.key,
            "about": str(self.about) if self.about else None,
            "at": self.at.isoformat(),
        }


@dataclass(frozen=True)
class SessionMessages:
    """When the last message came, of anybody and of the owner, and the uuid of the owner's."""

    last_at: datetime | None = None
    last_user_at: datetime | None = None
    last_user_line: UUID | None = None


_awaited: Query[Any] = Query(
    lambda persona, kind, first, last: (
        ConceptNode.objects.recallable()
        .filter(persona=persona, kind=kind, outcome=ConceptNode.Outcome.OPEN)
        .filter(event_time_end__gte=first, event_time_end__lte=last)
        .exclude(session__close_reason=Session.CloseReason.IMPORT)
        .exclude(verification=ConceptNode.Verification.DISPUTED)
        .order_by("event_time_end", "id")
        .values_list("uuid", "event_time_end")[:MAX_OF_A_KIND]
    )
)
_shocks: Query[tuple[UUID, datetime]] = Query(
    lambda persona, since, now, least, limit: (
        ConceptNode.objects.recallable()
        .filter(persona=persona, kind=Kind.EVENT, created_at__gt=since, created_at__lte=now)
        .filter(Q(emotional_impact__gte=least) | Q(emotional_impact__lte=limit))
        .exclude(session__close_reason=Session.CloseReason.IMPORT)
        .exclude(verification=ConceptNode.Verification.DISPUTED)
        .order_by("-created_at", "-id")
        .values_list("uuid", "created_at")[:MAX_OF_A_KIND]
    )
)
_outreaches_of: Query[tuple[str, str]] = Query(
    lambda persona, key: Outreach.objects.filter(persona=persona, trigger_key=key).values_list("status", "reason")
)
_silences: Query[tuple[str, datetime, str, str]] = Query(
    lambda persona, since: (
        Outreach.objects.filter(persona=persona, trigger=Trigger.SILENCE, wanted_at__gt=since)
        .order_by("wanted_at")
        .values_list("trigger_key", "wanted_at", "status", "reason")
    )
)
# Of all personas: few rows, while a filter by persona would read all sessions of that persona.
_off_the_record: Query[tuple[int]] = Query(
    lambda: Session.objects.open().filter(off_the_record=True).order_by().values_list("persona_id")
)


def find_reasons(
    persona: Persona, session_messages: SessionMessages, changed_at: datetime | None, now: datetime, sparing: str = ""
) -> tuple[Reason, ...]:
    """The triggers that hold now, best first. `changed_at`: when the owner last changed the settings. `sparing`: the
    key of an outreach that does not count, because the question is whether that very outreach is still right."""
    if session_messages.last_at is not None and now - session_messages.last_at < timedelta(
        minutes=knobs.rest_minutes()
    ):
        return ()
    if (persona.pk,) in _off_the_record():
        return ()
    reasons = chain(
        _due(persona, Kind.INTENTION, now),
        _strong_events(persona, now),
        _due(persona, Kind.EXPECTATION, now),
        _silence(persona, session_messages, changed_at, now, sparing),
    )
    unused = [
        reason
        for reason in reasons
        if reason.key == sparing
        or all(is_reusable(status, ended_by) for status, ended_by in _outreaches_of(persona.pk, reason.key))
    ]
    # Leave out reasons about a matter that the owner wants left alone.
    matters = [reason.about for reason in unused if reason.about]
    nodes = ConceptNode.objects.filter(persona=persona, uuid__in=matters) if matters else ConceptNode.objects.none()
    descriptions = dict(nodes.values_list("uuid", "description"))
    boundaries = boundaries_of(persona) if descriptions else []
    return tuple(
        reason
        for reason in unused
        if reason.about is None or not crosses(boundaries, descriptions.get(reason.about, ""))
    )


def is_reusable(status: str, reason: str) -> bool:
    """Whether the trigger of an ended outreach may be used again: yes if a gate held the outreach back."""
    return status == Status.DROPPED and reason in Gate.values


def _due(persona: Persona, kind: str, now: datetime) -> Iterator[Reason]:
    local = now.astimezone(persona.zone)
    today = local.date() if local.hour >= knobs.due_hour() else local.date() - timedelta(days=1)
    first = local.date() - timedelta(days=knobs.due_days_late())
    trigger = AWAITED[Kind(kind)]
    for uuid, due in _awaited(persona.pk, kind, first, today):
        yield Reason(trigger, f"{trigger}:{uuid}", uuid, due)


def _strong_events(persona: Persona, now: datetime) -> Iterator[Reason]:
    least = knobs.shock_impact()
    since = now - timedelta(hours=knobs.shock_hours())
    for uuid, created_at in _shocks(persona.pk, since, now, least, -least):
        yield Reason(Trigger.SHOCK, f"{Trigger.SHOCK}:{uuid}", uuid, created_at)


def _silence(
    persona: Persona, session_messages: SessionMessages, changed_at: datetime | None, now: datetime, sparing: str
) -> Iterator[Reason]:
    """The next step of a silence; each step is twice as long as the one before."""
    if session_messages.last_user_at is None:
        return
    since = max(session_messages.last_user_at, changed_at or session_messages.last_user_at)
    first = timedelta(hours=knobs.silence_hours())
    if now - since < first:
        return
    # Earlier outreaches into this silence, delivered or failed. By time: forgetting a message changes the key.
    before = [
        wanted_at
        for key, wanted_at, status, reason in _silences(persona.pk, session_messages.last_user_at)
        if key != sparing and not is_reusable(status, reason)
    ]
    if before and now - before[-1] < first * 2 ** (len(before) - 1):
        return
    yield Reason(Trigger.SILENCE, f"{Trigger.SILENCE}:{len(before) + 1}:{session_messages.last_user_line}", None, since)
