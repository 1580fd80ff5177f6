"""Recent decisions about speaking first, for the owner: by day, in plain words."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Max, Min

from chat.models import Turn
from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Consideration, Outreach
from proactive.presenters.reasons import HELD_BACK, SPOKE, WHY_NOW

DAYS = 14
MAX_SPOKEN = 200


@dataclass(frozen=True)
class SentOutreach:
    """An outreach with its reason; or one whose message could not be written."""

    at: dt.datetime
    reason: Any
    is_delivered: bool
    about: ConceptNode | None


@dataclass(frozen=True)
class GateRefusals:
    """A gate that refused, with the first and last time."""

    first_at: dt.datetime
    at: dt.datetime
    reason: Any

    @property
    def is_once(self) -> bool:
        """Whether the first and last time show the same minute."""
        return self.at.replace(second=0, microsecond=0) == self.first_at.replace(second=0, microsecond=0)


@dataclass(frozen=True)
class Day:
    day: dt.date
    spoken: list[SentOutreach] = field(default_factory=list)
    refusals: list[GateRefusals] = field(default_factory=list)


def recent_decisions(persona: Persona, now: dt.datetime) -> list[Day]:
    """The last days that have anything to show, newest first."""
    since = now.astimezone(persona.zone).date() - dt.timedelta(days=DAYS - 1)
    sent_outreaches = list(_sent_outreaches(persona, since))
    refusals = list(
        Consideration.objects.filter(persona=persona, day__gte=since)
        .exclude(verdict=Consideration.Verdict.SEND)
        .order_by()
        .values("day", "gate")
        .annotate(first=Min("first_at"), last=Max("at"))
        .order_by("-day", "first")
    )
    days = {
        day: Day(day)
        for day in sorted({*(day for day, _ in sent_outreaches), *(row["day"] for row in refusals)}, reverse=True)
    }
    for day, outreach in sent_outreaches:
        days[day].spoken.append(outreach)
    for row in refusals:
        days[row["day"]].refusals.append(GateRefusals(row["first"], row["last"], HELD_BACK[row["gate"]]))
    return list(days.values())


def why_now(turn: Turn) -> dict[str, Any]:
    """Context of the template "why now": the reason, and the memory it was about if that still exists."""
    account: Mapping[str, Any] = turn.xray.get("why_now") or {}
    about = account.get("about")
    nodes = _nodes(turn.persona, [UUID(about)] if about else [])
    return {
        "why_now": WHY_NOW.get(account.get("trigger", "")),
        "about": next(iter(nodes.values()), None),
        "about_gone": bool(about) and not nodes,
        "persona": turn.persona,
    }


def _sent_outreaches(persona: Persona, since: dt.date) -> Iterable[tuple[dt.date, SentOutreach]]:
    first = dt.datetime.combine(since, dt.time(), tzinfo=persona.zone)
    rows = Outreach.objects.filter(
        persona=persona, wanted_at__gte=first, status__in=[Outreach.Status.DELIVERED, Outreach.Status.FAILED]
    ).order_by("-wanted_at")[:MAX_SPOKEN]
    outreaches = list(rows)[::-1]
    nodes = _nodes(persona, [row.about_uuid for row in outreaches if row.about_uuid])
    for row in outreaches:
        at = row.delivered_at or row.wanted_at
        about = nodes.get(row.about_uuid) if row.about_uuid else None
        is_delivered = row.status == Outreach.Status.DELIVERED
        yield at.astimezone(persona.zone).date(), SentOutreach(at, SPOKE[row.trigger], is_delivered, about)


def _nodes(persona: Persona, uuids: Iterable[UUID]) -> dict[UUID, ConceptNode]:
    """Recallable memories by id."""
    return {node.uuid: node for node in ConceptNode.objects.of(persona).recallable().filter(uuid__in=list(uuids))}
