"""What an archive holds of a persona's speaking first: what the owner allows, and what was said and considered, so that
nothing is said a second time."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal

from django.db import transaction
from pydantic import AwareDatetime, Field, StringConstraints

from chat.models import Message, Turn
from memory.archive.auxiliary_records import iso_format
from memory.archive.parts import Batches, Known, Names, Part, Values, beside_defaults, in_order, uuids_among
from memory.archive.schema import Id, Record, Wordless
from memory.models import ConceptNode
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.models.outreach import Trigger

Hour = Annotated[int, Field(ge=0, le=23)] | None
TriggerName = Literal["promise", "shock", "expectation", "silence"]
# What a reason is about: a line where it is a silence, else a memory.
_KEY = re.compile("(?P<before>(?:promise|shock|expectation|silence:[0-9]{1,9}):)(?P<about>.+)")
SHORT = StringConstraints(max_length=40)


class ReachingOutRecord(Record):
    enabled: bool = False
    quiet_start: Hour = None
    quiet_end: Hour = None
    max_per_24h: Annotated[int, Field(ge=0, le=1_000)] | None = None
    push: bool = False
    changed_at: AwareDatetime | None = None


class OutreachRecord(Record):
    trigger: TriggerName
    key: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    about: Id | None = None
    turn: Id | None = None
    status: Literal["delivered", "dropped", "failed"]
    reason: Annotated[str, SHORT] = ""
    wanted_at: AwareDatetime
    delivered_at: AwareDatetime | None = None
    pushed_at: AwareDatetime | None = None


class ConsiderationRecord(Record):
    """The facts of the moment are of the installation in which it was."""

    day: date
    verdict: Literal["send", "refuse", "defer"]
    gate: Wordless = ""
    trigger: TriggerName | Literal[""] = ""
    key: Annotated[str, StringConstraints(max_length=400)] = ""
    first_at: AwareDatetime
    at: AwareDatetime
    times: Annotated[int, Field(ge=1, le=10_000_000)] = 1


# --- what the owner allows ------------------------------------------------------------------------------------------
_ALLOWED = ("enabled", "quiet_start", "quiet_end", "max_per_24h", "push")


def _allowed_lines(names: Names) -> Iterator[Values]:
    for allowed in ReachingOut.objects.filter(persona=names.persona):
        values = {name: getattr(allowed, name) for name in _ALLOWED}
        yield beside_defaults(ReachingOutRecord, **values, changed_at=iso_format(allowed.changed_at))


def _load_allowed(known: Known, batches: Batches) -> int:
    """Where the owner has said here what she allows, that holds."""
    added = 0
    for batch in batches:
        given = batch[0].record
        values = {name: getattr(given, name) for name in (*_ALLOWED, "changed_at")}
        added += ReachingOut.objects.get_or_create(persona=known.persona, defaults=values)[1]
    return added


# --- what was said --------------------------------------------------------------------------------------------------
def _outreach_lines(names: Names) -> Iterator[Values]:
    rows = Outreach.objects.filter(persona=names.persona).exclude(status=Outreach.Status.WANTED).order_by("pk")
    for said in in_order(rows):
        yield {
            "trigger": said.trigger,
            "key": _key_told(names, said.trigger_key),
            "status": said.status,
            "wanted_at": iso_format(said.wanted_at),
            **beside_defaults(
                OutreachRecord,
                about=names.by_uuid(ConceptNode, [said.about_uuid]).get(said.about_uuid),
                turn=names.by_uuid(Turn, [said.turn_uuid]).get(said.turn_uuid),
                reason=said.reason,
                delivered_at=iso_format(said.delivered_at),
                pushed_at=iso_format(said.pushed_at),
            ),
        }


def _load_outreaches(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            rows = Outreach.objects.filter(persona=known.persona)
            here = set(rows.values_list("trigger_key", flat=True))
            for given in (one.record for one in batch):
                key = _key_here(known, given.key)
                if key in here or (given.status == "delivered" and given.delivered_at is None):
                    continue
                here.add(key)
                added += bool(_outreach(known, given, key))
    return added


def _outreach(known: Known, given: OutreachRecord, key: str) -> Outreach:
    return Outreach.objects.create(
        persona=known.persona,
        trigger=given.trigger,
        trigger_key=key,
        about_uuid=known.uuids(ConceptNode, [given.about]).get(given.about),
        turn_uuid=known.uuids(Turn, [given.turn]).get(given.turn),
        status=given.status,
        reason=given.reason,
        wanted_at=given.wanted_at,
        delivered_at=given.delivered_at,
        pushed_at=given.pushed_at,
    )


# --- what was considered --------------------------------------------------------------------------------------------
def _considered_lines(names: Names) -> Iterator[Values]:
    for considered in in_order(Consideration.objects.filter(persona=names.persona).order_by("pk")):
        yield {
            "day": considered.day.isoformat(),
            "verdict": considered.verdict,
            "first_at": iso_format(considered.first_at),
            "at": iso_format(considered.at),
            **beside_defaults(
                ConsiderationRecord,
                gate=considered.gate,
                trigger=considered.trigger,
                key=_key_told(names, considered.trigger_key),
                times=considered.times,
            ),
        }


def _load_considered(known: Known, batches: Batches) -> int:
    added = 0
    for batch in batches:
        with transaction.atomic():
            here = set(Consideration.objects.filter(persona=known.persona).values_list("first_at", "verdict", "gate"))
            made = [
                _consideration(known, one.record)
                for one in batch
                if (one.record.first_at, one.record.verdict, one.record.gate) not in here
                and (one.record.verdict == "send") == (one.record.gate == "")
            ]
            added += len(Consideration.objects.bulk_create(made))
    return added


def _consideration(known: Known, given: ConsiderationRecord) -> Consideration:
    key = _key_here(known, given.key)
    said = Outreach.objects.filter(persona=known.persona, trigger_key=key) if given.verdict == "send" else None
    return Consideration(
        persona=known.persona,
        day=given.day,
        verdict=given.verdict,
        gate=given.gate[:16],
        trigger=given.trigger,
        trigger_key=key,
        outreach=said.first() if said is not None else None,
        first_at=given.first_at,
        at=given.at,
        times=given.times,
    )


# --- reasons --------------------------------------------------------------------------------------------------------
def _key_told(names: Names, key: str) -> str:
    """The key of a reason, with the id in the archive of what it is about."""
    parts = _KEY.fullmatch(key)
    if parts is None:
        return key
    told = list(names.by_uuid(_about(key), uuids_among([parts["about"]])).values())
    return parts["before"] + (told[0] if told else parts["about"])


def _key_here(known: Known, key: str) -> str:
    """The same with the uuid that it has here; what is not here keeps the id it had."""
    parts = _KEY.fullmatch(key)
    if parts is None:
        return key[:120]
    about = known.uuids(_about(key), [parts["about"]]).get(parts["about"], parts["about"])
    return f"{parts['before']}{about}"[:120]


def _about(key: str) -> type[Message] | type[ConceptNode]:
    return Message if key.startswith(Trigger.SILENCE) else ConceptNode


PARTS = (
    Part("reaching_out", ReachingOutRecord, _allowed_lines, _load_allowed),
    Part("outreach", OutreachRecord, _outreach_lines, _load_outreaches),
    Part("consideration", ConsiderationRecord, _considered_lines, _load_considered),
)
