"""The situation: all facts that the decision to speak first depends on, read once and frozen."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from chat.models import Message, Turn
from echovessel.db.compiled_queries import Query
from echovessel.llm import ledger
from echovessel.llm.models import Purpose
from echovessel.llm.providers import chosen_provider
from persona.models import Persona
from proactive import knobs
from proactive.models import Outreach, ReachingOut
from proactive.policy import triggers
from proactive.policy.triggers import Reason, SessionMessages

DAY = timedelta(hours=24)
COUNTED = 26  # the last two, and as many as a day may have


@dataclass(frozen=True)
class Bounds:
    """What the owner allows; the knobs decide what the owner leaves open."""

    enabled: bool
    quiet_start: int
    quiet_end: int
    max_per_24h: int
    push: bool


@dataclass(frozen=True)
class LastMessage:
    """One delivered outreach, and when the owner first wrote after it."""

    at: datetime
    answered_at: datetime | None = None

    def facts(self) -> dict[str, Any]:
        return {"at": self.at.isoformat(), "answered_at": _iso_format(self.answered_at)}


@dataclass(frozen=True)
class Situation:
    """The facts of one moment. `outreaches`: the last two that were delivered, newest first. `sent_at`: delivery times
    of the last 24 hours. `reasons`: possible reasons to speak now, best first."""

    now: datetime
    zone: ZoneInfo
    enabled: bool
    quiet_start: int
    quiet_end: int
    max_per_24h: int
    care_until: datetime | None = None
    last_user_line_at: datetime | None = None
    last_line_at: datetime | None = None
    outreaches: tuple[LastMessage, ...] = ()
    sent_at: tuple[datetime, ...] = ()
    turn_in_flight: bool = False
    budget_spent: bool = False
    reasons: tuple[Reason, ...] = ()

    @property
    def local(self) -> datetime:
        """`now` in the owner's time zone."""
        return self.now.astimezone(self.zone)

    @property
    def is_in_care(self) -> bool:
        """The owner spoke of a crisis a short while ago."""
        return self.care_until is not None and self.now < self.care_until

    def facts(self) -> dict[str, Any]:
        """The situation as JSON for the record: times, counts and names of ours, no words of people."""
        return {
            "now": self.now.isoformat(),
            "zone": self.zone.key,
            "enabled": self.enabled,
            "care_until": _iso_format(self.care_until) if self.is_in_care else None,
            "quiet_start": self.quiet_start,
            "quiet_end": self.quiet_end,
            "last_user_line_at": _iso_format(self.last_user_line_at),
            "last_line_at": _iso_format(self.last_line_at),
            "outreaches": [outreach.facts() for outreach in self.outreaches],
            "sent_at": [at.isoformat() for at in self.sent_at],
            "max_per_24h": self.max_per_24h,
            "turn_in_flight": self.turn_in_flight,
            "budget_spent": self.budget_spent,
            "reasons": [reason.facts() for reason in self.reasons],
        }


_newest_line: Query[tuple[datetime]] = Query(
    lambda persona: (
        Message.objects.without_imports()
        .filter(persona=persona)
        .order_by("-created_at", "-id")
        .values_list("created_at")[:1]
    )
)
_newest_of_the_user: Query[tuple[datetime, UUID]] = Query(
    lambda persona: (
        Message.objects.without_imports()
        .filter(persona=persona, role=Message.Role.USER)
        .order_by("-created_at", "-id")
        .values_list("created_at", "uuid")[:1]
    )
)
_first_of_the_user_after: Query[tuple[datetime]] = Query(
    lambda persona, moment: (
        Message.objects.without_imports()
        .filter(persona=persona, role=Message.Role.USER, created_at__gt=moment)
        .order_by("created_at", "id")
        .values_list("created_at")[:1]
    )
)
_said: Query[Any] = Query(
    lambda persona: (
        Outreach.objects.delivered()
        .filter(persona=persona)
        .order_by("-delivered_at")
        .values_list("delivered_at")[:COUNTED]
    )
)
# Of all personas: few rows, while a filter by persona would read all turns of that persona.
_in_flight: Query[tuple[int]] = Query(
    lambda: (
        Turn.objects.filter(status__in=[Turn.Status.COLLECTING, Turn.Status.RUNNING])
        .order_by()
        .values_list("persona_id")
    )
)


def bounds(persona: Persona) -> Bounds:
    """The bounds in force for `persona`, also where its owner never set any."""
    return bounds_of(ReachingOut.objects.filter(persona=persona).first() or ReachingOut(persona=persona))


def bounds_of(allowed: ReachingOut) -> Bounds:
    limit = knobs.max_per_24h()
    return Bounds(
        enabled=allowed.enabled,
        quiet_start=_first(allowed.quiet_start, knobs.quiet_hours_start()),
        quiet_end=_first(allowed.quiet_end, knobs.quiet_hours_end()),
        max_per_24h=min(_first(allowed.max_per_24h, limit), limit),
        push=allowed.push,
    )


def read_situation(allowed: ReachingOut, now: datetime, sparing: str = "") -> Situation:
    """Read the situation of the persona of `allowed`. `sparing`: the key of an outreach that does not count."""
    persona, within = allowed.persona, bounds_of(allowed)
    session_messages = _lines(persona)
    message_times = [at for (at,) in _said(persona.pk)]
    return Situation(
        now=now,
        zone=persona.zone,
        enabled=within.enabled,
        quiet_start=within.quiet_start,
        quiet_end=within.quiet_end,
        max_per_24h=within.max_per_24h,
        care_until=persona.care_until,
        last_user_line_at=session_messages.last_user_at,
        last_line_at=session_messages.last_at,
        outreaches=tuple(
            LastMessage(at, next((answer for (answer,) in _first_of_the_user_after(persona.pk, at)), None))
            for at in message_times[:2]
        ),
        sent_at=tuple(at for at in message_times if now - at < DAY),
        turn_in_flight=(persona.pk,) in _in_flight(),
        budget_spent=ledger.is_spent(Purpose.PROACTIVE, persona.owner_id, chosen_provider(), now),
        reasons=triggers.find_reasons(persona, session_messages, allowed.changed_at, now, sparing),
    )


def _lines(persona: Persona) -> SessionMessages:
    for (last_at,) in _newest_line(persona.pk):
        for user_at, uuid in _newest_of_the_user(persona.pk):
            return SessionMessages(last_at, user_at, uuid)
        return SessionMessages(last_at)
    return SessionMessages()


def _first(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _iso_format(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
