"""Archive parts of speaking first: the owner's settings, outreaches and considerations, so that after a restore nothing
is sent a second time."""

import re
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from pydantic import Field, StringConstraints

from chat.models import Message, Turn
from memory.archive import parts as archive
from memory.archive.parts import TIME, Codec, IdMap, Names, Part, Table, each, optional, uuid_link, uuids_among
from memory.archive.schema import Id, Moment, Record, Wordless
from memory.models import ConceptNode
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.models.outreach import Trigger

Hour = Annotated[int, Field(ge=0, le=23)] | None
TriggerName = Literal["promise", "shock", "expectation", "silence"]
# Key of a reason. What it is about is a message for a silence, else a memory.
_KEY = re.compile("(?P<before>(?:promise|shock|expectation|silence:[0-9]{1,9}):)(?P<about>.+)")
SHORT = StringConstraints(max_length=40)


class ReachingOutRecord(Record):
    enabled: bool = False
    quiet_start: Hour = None
    quiet_end: Hour = None
    max_per_24h: Annotated[int, Field(ge=0, le=1_000)] | None = None
    push: bool = False
    changed_at: Moment | None = None


class OutreachRecord(Record):
    trigger: TriggerName
    key: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    about: Id | None = None
    turn: Id | None = None
    status: Literal["delivered", "dropped", "failed"]
    reason: Annotated[str, SHORT] = ""
    wanted_at: Moment
    delivered_at: Moment | None = None
    pushed_at: Moment | None = None


class ConsiderationRecord(Record):
    """The facts are those of the installation that recorded them."""

    day: date
    verdict: Literal["send", "refuse", "defer"]
    gate: Wordless = ""
    trigger: TriggerName | Literal[""] = ""
    key: Annotated[str, StringConstraints(max_length=400)] = ""
    first_at: Moment
    at: Moment
    times: Annotated[int, Field(ge=1, le=10_000_000)] = 1


# --- keys of reasons ------------------------------------------------------------------------------------------------
def about_model(key: str) -> type[Message] | type[ConceptNode]:
    return Message if key.startswith(Trigger.SILENCE) else ConceptNode


def write_keys(names: Names, keys: list[Any]) -> Callable[[str], str]:
    """The key of a reason with the archive id of what it is about."""

    def write(key: str) -> str:
        if (match := _KEY.fullmatch(key)) is None:
            return key
        ids = names.by_uuid(about_model(key), uuids_among([match["about"]])).values()
        return match["before"] + next(iter(ids), match["about"])

    return write


def read_keys(id_map: IdMap, keys: list[Any]) -> Callable[[str], str]:
    """The key of a reason with the local uuid of what it is about; an id that is not here stays."""

    def read(key: str) -> str:
        if (match := _KEY.fullmatch(key)) is None:
            return key[:120]
        about = id_map.uuids(about_model(key), [match["about"]]).get(match["about"], match["about"])
        return f"{match['before']}{about}"[:120]

    return read


REASON = Codec(write_keys, read_keys)

# --- what the owner allows ------------------------------------------------------------------------------------------
REACHING_OUT = Table(
    ReachingOutRecord,
    ReachingOut,
    (
        optional("enabled"),
        optional("quiet_start"),
        optional("quiet_end"),
        optional("max_per_24h"),
        optional("push"),
        optional("changed_at", TIME),
    ),
)


def load_allowed(id_map: IdMap, records: list[ReachingOutRecord], table: Table) -> int:
    """Settings that the owner has here already stay."""
    [values] = table.read(id_map, records[:1])
    return int(ReachingOut.objects.get_or_create(persona=id_map.persona, defaults=values)[1])


# --- what was said --------------------------------------------------------------------------------------------------
OUTREACH = Table(
    OutreachRecord,
    Outreach,
    (
        archive.Field("trigger"),
        archive.Field("key", REASON, "trigger_key"),
        archive.Field("status"),
        archive.Field("wanted_at", TIME),
        optional("about", uuid_link(ConceptNode), "about_uuid"),
        optional("turn", uuid_link(Turn), "turn_uuid"),
        optional("reason"),
        optional("delivered_at", TIME),
        optional("pushed_at", TIME),
    ),
)


def settled_outreaches(names: Names) -> QuerySet[Outreach]:
    return Outreach.objects.filter(persona=names.persona).exclude(status=Outreach.Status.WANTED).order_by("pk")


def load_outreaches(id_map: IdMap, records: list[OutreachRecord], table: Table) -> int:
    existing_keys = set(Outreach.objects.filter(persona=id_map.persona).values_list("trigger_key", flat=True))
    added = 0
    for row in table.read(id_map, records):
        if row["trigger_key"] not in existing_keys and (
            row["status"] != "delivered" or row["delivered_at"] is not None
        ):
            existing_keys.add(row["trigger_key"])
            Outreach.objects.create(persona=id_map.persona, **row)
            added += 1
    return added


# --- what was considered --------------------------------------------------------------------------------------------
CONSIDERATION = Table(
    ConsiderationRecord,
    Consideration,
    (
        archive.Field("day", each(lambda day: day.isoformat(), lambda day: day)),
        archive.Field("verdict"),
        archive.Field("first_at", TIME),
        archive.Field("at", TIME),
        optional("gate", each(lambda gate: gate, lambda gate: gate[:16])),
        optional("trigger"),
        optional("key", REASON, "trigger_key"),
        optional("times"),
    ),
)


def load_considerations(id_map: IdMap, records: list[ConsiderationRecord], table: Table) -> int:
    existing_considerations = set(
        Consideration.objects.filter(persona=id_map.persona).values_list("first_at", "verdict", "gate")
    )
    new = [
        record
        for record in records
        if (record.first_at, record.verdict, record.gate) not in existing_considerations
        and (record.verdict == "send") == (record.gate == "")
    ]
    considerations = []
    for row in table.read(id_map, new):
        key = row["trigger_key"] if row["verdict"] == "send" else None
        outreach = Outreach.objects.filter(persona=id_map.persona, trigger_key=key).first() if key is not None else None
        considerations.append(Consideration(persona=id_map.persona, outreach=outreach, **row))
    return len(Consideration.objects.bulk_create(considerations))


PARTS = (
    Part("reaching_out", REACHING_OUT, load_allowed),
    Part("outreach", OUTREACH, load_outreaches, settled_outreaches),
    Part("consideration", CONSIDERATION, load_considerations),
)
