"""Replay: a database is replaced by an older state, and what was forgotten since is forgotten in it once more.

`read_log` reads the receipts and tombstones of the database that is to be replaced; `replay` applies them to the older
one. A receipt names by id all that was deleted, so that is what is deleted again: each id that the older state has,
with the choice that takes least along ("orphan", "withhold"), for everything that was deleted with it is named, too.
Names that nothing mentions go by themselves; one that something still mentions here is deleted like a chosen one:
rather too much than too little. Withheld messages are withheld, tombstones are set again. Reverted imports are
reverted again, and may come again as they might before.

Tombstones need the key they were made with. Where it is another, they are left out and counted; what is deleted here
gets new ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.models import Message, Session, Turn
from chat.turns import turn as turns
from echovessel.backup.forget_replay import ForgetLog, Replayed
from memory.consolidation import off_the_record
from memory.erasure import receipts
from memory.forgetting import execute, people, planning, verify
from memory.forgetting.registry import among
from memory.forgetting.types import CANCELLED_IMPORT, MODELS, Choice, Kind, Target
from memory.models import ImportJob, Receipt, Tombstone
from memory.store import tombstones
from memory.store.checks import check
from persona.models import Persona

# What a restore calls by the setting FORGET_REPLAY.
__all__ = ["check", "read_log", "replay", "settle"]

LEAST = Choice("orphan", "withhold")
LEAST_REVERT = Choice("orphan", "withhold", block_reimport=False)
AT_ONCE = 500
_KEPT = ("uuid", "persona_uuid", "owner_id", "targets", "choice", "counts", "erased", "prints", "by_id", "at")


def read_log() -> ForgetLog:
    """What the database tells that is open now. Raises DatabaseError for one that is not of this version."""
    rows = Tombstone.objects.values("persona__uuid", "kind", "digest", "key_id")
    return ForgetLog(
        receipts=list(Receipt.objects.order_by("id").values(*_KEPT)),
        tombstones=list(rows.order_by("id")),
        withheld=frozenset(Message.objects.filter(withheld=True).values_list("uuid", flat=True)),
        key_id=tombstones.key_id(),
    )


def replay(log: ForgetLog, now: datetime) -> Replayed:
    """Forget it in the database that is open now, all or nothing, and erase the bytes. Nobody else has it open."""
    result = Replayed()
    is_ours = log.key_id == tombstones.key_id()
    with transaction.atomic():
        missing = _add_receipts(log, is_ours=is_ours)
        result.receipts = len(missing)
        # Personas by id; accounts by key, which means the same account only where both are states of one installation.
        gone = [uuid for receipt in missing for uuid in receipt.erased.get("persona", ())]
        for key in Persona.objects.filter(uuid__in=among(map(UUID, gone))).values_list("pk", flat=True):
            _forget_one(Target("persona", key), result, now)
        owner_receipts = [receipt for receipt in missing if receipt.targets and receipt.targets[0][0] == "owner"]
        for receipt in owner_receipts if is_ours else ():
            for key in User.objects.filter(pk=receipt.owner_id, date_joined__lte=receipt.at).values_list(
                "pk", flat=True
            ):
                _forget_one(Target("owner", key), result, now)
        reverted = [receipt for receipt in missing if receipt.is_reverted]
        forgotten = [receipt for receipt in missing if not receipt.is_reverted]
        _forget_all(_targets(forgotten, first=True), LEAST, result, now)
        _forget_all(_targets(forgotten, first=False), LEAST, result, now)
        _forget_all(_targets(reverted, first=True), LEAST_REVERT, result, now)
        result.withheld = Message.objects.filter(uuid__in=among(log.withheld), withheld=False).update(withheld=True)
        # Those that were cancelled since are so again; the job of the minute takes away what nobody has read.
        stopped = [UUID(uuid) for receipt in missing for kind, uuid in receipt.targets if kind == CANCELLED_IMPORT]
        going_on = ImportJob.objects.filter(uuid__in=among(stopped)).exclude(status=ImportJob.Status.CANCELLED)
        going_on.update(status=ImportJob.Status.CANCELLED, finished_at=None, holder="", lease_until=None)
        _restore_tombstones(log, result)
    receipts.finish_pending(now)
    result.left = verify.prove(missing).hits
    return result


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
def _add_receipts(log: ForgetLog, *, is_ours: bool) -> list[Receipt]:
    """The receipts that are new here, now kept here, too; by whom, where keys mean the same people."""
    known_receipts = set(Receipt.objects.values_list("uuid", flat=True))
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
        for row in log.receipts
        if row["uuid"] not in known_receipts
    )


def _forget_one(target: Target, result: Replayed, now: datetime) -> None:
    try:
        receipt = people.forget(planning.plan([target]), None, now)
    except people.LastSuperuser:
        result.accounts.append(target.key)
    else:
        result.rows.update(_rows(receipt))


# --- what a persona has ---------------------------------------------------------------------------------------------
_ERASED: Sequence[Kind] = ("message", "session", "node")


def _targets(receipts: Iterable[Receipt], *, first: bool) -> dict[int, list[Target]]:
    """What there is of it, by persona: first what was chosen, and all messages, sessions and memories that went; then,
    once those are gone, the names that are left."""
    wanted_targets: dict[Kind, set[UUID]] = defaultdict(set)
    for receipt in receipts:
        for kind in _ERASED if first else ("entity", *_ERASED):
            wanted_targets[kind].update(map(UUID, receipt.erased.get(kind, ())))
        for kind, uuid in receipt.targets if first else ():
            if kind in ("entity", "import") and uuid:
                wanted_targets[kind].add(UUID(uuid))
    targets: dict[int, list[Target]] = defaultdict(list)
    for kind, uuids in wanted_targets.items():
        rows = MODELS[kind]._default_manager.filter(uuid__in=among(uuids))
        for key, persona in rows.values_list("pk", "persona_id"):
            targets[persona].append(Target(kind, key))
    return targets


def _forget_all(targets: Mapping[int, list[Target]], choice: Choice, result: Replayed, now: datetime) -> None:
    for uuids in targets.values():
        for start in range(0, len(uuids), AT_ONCE):
            plan = planning.plan(uuids[start : start + AT_ONCE], choice)
            if not plan.is_empty:  # those before may have taken these along
                result.rows.update(_rows(execute.forget(plan, None, now)))


def _rows(receipt: Receipt) -> Mapping[str, int]:
    return {table: count for table, count in receipt.counts.items() if "." not in table}


# --- tombstones -----------------------------------------------------------------------------------------------------
def _restore_tombstones(log: ForgetLog, result: Replayed) -> None:
    ours = tombstones.key_id()
    personas = dict(Persona.objects.values_list("uuid", "pk"))
    known_tombstones = set(Tombstone.objects.values_list("persona_id", "digest"))
    stored_tombstones = [(personas.get(tombstone["persona__uuid"]), tombstone) for tombstone in log.tombstones]
    missing = [
        (key, tombstone)
        for key, tombstone in stored_tombstones
        if key and (key, tombstone["digest"]) not in known_tombstones
    ]
    usable = [(key, tombstone) for key, tombstone in missing if tombstone["key_id"] == ours]
    Tombstone.objects.bulk_create(
        Tombstone(persona_id=key, kind=tombstone["kind"], digest=tombstone["digest"], key_id=ours)
        for key, tombstone in usable
    )
    result.tombstones_set, result.tombstones_of_another_key = len(usable), len(missing) - len(usable)
