"""Again: an older state of the same memory is brought back, and what was forgotten since is forgotten in it once more.

`told` reads the database that is to be replaced; `again`, in the older one, does what that tells. A receipt names by id
all that went, so that is what goes: each id that the older state has, with the choice that takes least along ("orphan",
"withhold"), for all that went with it then is named, too. Names that nothing mentions go by themselves; one that
something still mentions here goes as one that was chosen: rather too much than too little. Messages that were withheld
are withheld, tombstones are set again.

What was reverted is reverted again, and may come again as it might before.

Tombstones need the key they were made with. Where it is another, they are left out and counted; but what goes here is
refused from then on anew.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.models import Message, Session, Turn
from chat.turns import turn as turns
from memory.consolidation import off_the_record
from memory.forgetting import execute, people, planning, receipts, verify
from memory.forgetting.registry import among
from memory.forgetting.targets import MODELS
from memory.forgetting.types import CANCELLED_IMPORT, Choice, Kind, Target
from memory.forgetting.verify import Hit
from memory.models import ImportJob, Receipt, Tombstone
from memory.store import tombstones
from persona.models import Persona

LEAST = Choice("orphan", "withhold")
LEAST_REVERT = Choice("orphan", "withhold", block_reimport=False)
AT_ONCE = 500
_KEPT = ("uuid", "persona_uuid", "owner_id", "targets", "choice", "counts", "erased", "prints", "by_id", "at")


@dataclass(frozen=True)
class Told:
    """What a database tells of what was forgotten in it. `key_id` is that of the installation then."""

    receipts: Sequence[Mapping[str, Any]] = ()
    stones: Sequence[Mapping[str, Any]] = ()
    withheld: frozenset[UUID] = frozenset()
    key_id: str = ""


@dataclass
class Done:
    """What was done again: `receipts` that were new here, rows that went by table, `put_away` messages, tombstones that
    were set and those that could not be; `accounts` that stay because nobody could look after the installation without
    them; and what could be found of it all the same."""

    receipts: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    put_away: int = 0
    stones: int = 0
    stones_of_another_key: int = 0
    accounts: list[int] = field(default_factory=list)
    left: list[Hit] = field(default_factory=list)


def told() -> Told:
    """What the database tells that is open now. Raises DatabaseError for one that is not of this version."""
    stones = Tombstone.objects.values("persona__uuid", "kind", "digest", "key_id")
    return Told(
        receipts=list(Receipt.objects.order_by("id").values(*_KEPT)),
        stones=list(stones.order_by("id")),
        withheld=frozenset(Message.objects.filter(withheld=True).values_list("uuid", flat=True)),
        key_id=tombstones.key_id(),
    )


def again(what: Told, now: datetime) -> Done:
    """Forget it in the database that is open now, all or nothing, and erase the bytes. Nobody else has it open."""
    done = Done()
    is_ours = what.key_id == tombstones.key_id()
    with transaction.atomic():
        missing = _noted(what, is_ours=is_ours)
        done.receipts = len(missing)
        _forget_people(missing, done, now, is_ours=is_ours)
        taken_back = [receipt for receipt in missing if receipt.is_reverted]
        forgotten = [receipt for receipt in missing if not receipt.is_reverted]
        _forget_all(_targets(forgotten, first=True), LEAST, done, now)
        _forget_all(_targets(forgotten, first=False), LEAST, done, now)
        _forget_all(_targets(taken_back, first=True), LEAST_REVERT, done, now)
        done.put_away = _put_away(what.withheld)
        _stop_imports(missing)
        _restore_tombstones(what, done)
    receipts.finish_pending(now)
    done.left = verify.of_receipts(missing)
    return done


def settle(now: datetime) -> None:
    """Take from whoever had it in hand what no process of that time will finish: replies that were being written fail
    and can be asked for again, sessions off the record are over and go."""
    Turn.objects.running().update(lease_until=None)
    turns.abandon(now)
    for session in Session.objects.filter(off_the_record=True).select_related("persona"):
        with transaction.atomic():
            gone = off_the_record.erase(session)
            receipts.note_erasure(session.persona, "off_record", gone, now)
    receipts.finish_pending(now)


# --- receipts -------------------------------------------------------------------------------------------------------
def _noted(what: Told, *, is_ours: bool) -> list[Receipt]:
    """The receipts that are new here, now kept here, too; by whom, where keys mean the same people."""
    known = set(Receipt.objects.values_list("uuid", flat=True))
    personas = dict(Persona.objects.values_list("uuid", "pk"))
    users = set(User.objects.values_list("pk", flat=True)) if is_ours else set()
    return Receipt.objects.bulk_create(
        Receipt(
            **{
                **row,
                "persona_id": personas.get(row["persona_uuid"]),
                "by_id": row["by_id"] if row["by_id"] in users else None,
            }
        )
        for row in what.receipts
        if row["uuid"] not in known
    )


# --- people ---------------------------------------------------------------------------------------------------------
def _forget_people(receipts: Sequence[Receipt], done: Done, now: datetime, *, is_ours: bool) -> None:
    """Personas by id; accounts by key, which means the same account only where both are states of one installation."""
    gone = [uuid for receipt in receipts for uuid in receipt.erased.get("persona", ())]
    for key in Persona.objects.filter(uuid__in=among(map(UUID, gone))).values_list("pk", flat=True):
        _forget_one(Target("persona", key), done, now)
    left = [receipt for receipt in receipts if receipt.targets and receipt.targets[0][0] == "owner"]
    for receipt in left if is_ours else ():
        for key in User.objects.filter(pk=receipt.owner_id, date_joined__lte=receipt.at).values_list("pk", flat=True):
            _forget_one(Target("owner", key), done, now)


def _forget_one(target: Target, done: Done, now: datetime) -> None:
    try:
        receipt = people.forget(planning.plan([target]), None, now)
    except people.LastSuperuser:
        done.accounts.append(target.key)
    else:
        done.rows.update(_rows(receipt))


# --- what a persona has ---------------------------------------------------------------------------------------------
_ERASED: Sequence[Kind] = ("message", "session", "node")


def _targets(receipts: Iterable[Receipt], *, first: bool) -> dict[int, list[Target]]:
    """What there is of it, by persona: first what was chosen, and all messages, sessions and memories that went; then,
    once those are gone, the names that are left."""
    wanted: dict[Kind, set[UUID]] = defaultdict(set)
    for receipt in receipts:
        for kind in _ERASED if first else ("entity", *_ERASED):
            wanted[kind].update(map(UUID, receipt.erased.get(kind, ())))
        for kind, uuid in receipt.targets if first else ():
            if kind in ("entity", "import") and uuid:
                wanted[kind].add(UUID(uuid))
    found: dict[int, list[Target]] = defaultdict(list)
    for kind, uuids in wanted.items():
        rows = MODELS[kind]._default_manager.filter(uuid__in=among(uuids))
        for key, persona in rows.values_list("pk", "persona_id"):
            found[persona].append(Target(kind, key))
    return found


def _forget_all(targets: Mapping[int, list[Target]], choice: Choice, done: Done, now: datetime) -> None:
    for hers in targets.values():
        for start in range(0, len(hers), AT_ONCE):
            plan = planning.plan(hers[start : start + AT_ONCE], choice)
            if not plan.is_empty:  # those before may have taken these along
                done.rows.update(_rows(execute.forget(plan, None, now)))


def _rows(receipt: Receipt) -> Mapping[str, int]:
    return {table: count for table, count in receipt.counts.items() if "." not in table}


def _put_away(uuids: Iterable[UUID]) -> int:
    return Message.objects.filter(uuid__in=among(uuids), withheld=False).update(withheld=True)


def _stop_imports(receipts: Iterable[Receipt]) -> None:
    """Those that were cancelled since are so again; the job of the minute takes away what nobody has read."""
    stopped = [UUID(uuid) for one in receipts for kind, uuid in one.targets if kind == CANCELLED_IMPORT]
    going_on = ImportJob.objects.filter(uuid__in=among(stopped)).exclude(status=ImportJob.Status.CANCELLED)
    going_on.update(status=ImportJob.Status.CANCELLED, finished_at=None, holder="", lease_until=None)


# --- tombstones -----------------------------------------------------------------------------------------------------
def _restore_tombstones(what: Told, done: Done) -> None:
    ours = tombstones.key_id()
    personas = dict(Persona.objects.values_list("uuid", "pk"))
    known = set(Tombstone.objects.values_list("persona_id", "digest"))
    hers = [(personas.get(stone["persona__uuid"]), stone) for stone in what.stones]
    missing = [(key, stone) for key, stone in hers if key and (key, stone["digest"]) not in known]
    usable = [(key, stone) for key, stone in missing if stone["key_id"] == ours]
    Tombstone.objects.bulk_create(
        Tombstone(persona_id=key, kind=stone["kind"], digest=stone["digest"], key_id=ours) for key, stone in usable
    )
    done.stones, done.stones_of_another_key = len(usable), len(missing) - len(usable)
