"""Replay: after a database is replaced by an older state, forget again what had been forgotten since.

`read_log` reads the receipts and tombstones of the database that will be replaced; `replay` applies them to the older
one. A receipt lists the ids of all deleted rows. Each id that the older state contains is deleted with the choice that
takes least along ("orphan", "withhold"), because everything deleted with it is listed, too. Entities that nothing
mentions are deleted implicitly; a deleted entity that something still mentions here is deleted like a chosen one:
rather too much than too little. Withheld messages are withheld, tombstones are set again. Reverted imports are reverted
again, and may be imported again as before.

Tombstones are valid only with the key they were made with. With another key they are left out and counted; rows deleted
here get new ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.models import Message, Session, Turn
from chat.turns import turn as turns
from echovessel.backup.forget_replay import ForgetLog, ReplayResult
from memory.consolidation import off_the_record
from memory.erasure import receipts
from memory.forgetting import execute, people, planning, verify
from memory.forgetting.registry import among
from memory.forgetting.types import CANCELLED_IMPORT, MODELS, Choice, Kind, Target
from memory.models import ImportJob, Receipt, Tombstone
from memory.store import tombstones
from memory.store.checks import check
from persona.models import Persona

# Entry points for restores, by the setting FORGET_REPLAY.
__all__ = ["check", "read_log", "replay", "settle"]

LEAST_CHOICE = Choice("orphan", "withhold")
LEAST_REVERT = Choice("orphan", "withhold", block_reimport=False)
BATCH_SIZE = 500
_RECEIPT_FIELDS = ("uuid", "persona_uuid", "owner_id", "targets", "choice", "counts", "erased", "prints", "by_id", "at")


def read_log() -> ForgetLog:
    """The log of the database that is open now. Raises DatabaseError for one of another version."""
    rows = Tombstone.objects.values("persona__uuid", "kind", "digest", "key_id")
    return ForgetLog(
        receipts=list(Receipt.objects.order_by("id").values(*_RECEIPT_FIELDS)),
        tombstones=list(rows.order_by("id")),
        withheld=frozenset(Message.objects.filter(withheld=True).values_list("uuid", flat=True)),
        key_id=tombstones.key_id(),
    )


def replay(log: ForgetLog, now: datetime) -> ReplayResult:
    """Apply the log to the database that is open now, completely or not at all, and erase the bytes. No other process
    may have it open."""
    result = ReplayResult()
    has_our_key = log.key_id == tombstones.key_id()
    with transaction.atomic():
        missing = _add_receipts(log, has_our_key=has_our_key)
        result.receipts = len(missing)
        # Personas by id; accounts by key, which identifies the same account only if both are states of one
        # installation.
        deleted_uuids = [uuid for receipt in missing for uuid in receipt.erased.get("persona", ())]
        for key in Persona.objects.filter(uuid__in=among(map(UUID, deleted_uuids))).values_list("pk", flat=True):
            _forget_target(Target("persona", key), result, now)
        owner_receipts = [receipt for receipt in missing if receipt.targets and receipt.targets[0][0] == "owner"]
        for receipt in owner_receipts if has_our_key else ():
            for key in User.objects.filter(pk=receipt.owner_id, date_joined__lte=receipt.at).values_list(
                "pk", flat=True
            ):
                _forget_target(Target("owner", key), result, now)
        reverted = [receipt for receipt in missing if receipt.is_reverted]
        forgotten = [receipt for receipt in missing if not receipt.is_reverted]
        _forget_all(_targets(forgotten, first=True), LEAST_CHOICE, result, now)
        _forget_all(_targets(forgotten, first=False), LEAST_CHOICE, result, now)
        _forget_all(_targets(reverted, first=True), LEAST_REVERT, result, now)
        result.withheld = Message.objects.filter(uuid__in=among(log.withheld), withheld=False).update(withheld=True)
        # Imports cancelled since are cancelled again; the job of every minute removes what nobody has read.
        cancelled_uuids = [
            UUID(uuid) for receipt in missing for kind, uuid in receipt.targets if kind == CANCELLED_IMPORT
        ]
        jobs_to_cancel = ImportJob.objects.filter(uuid__in=among(cancelled_uuids)).exclude(
            status=ImportJob.Status.CANCELLED
        )
        jobs_to_cancel.update(status=ImportJob.Status.CANCELLED, finished_at=None, holder="", lease_until=None)
        _restore_tombstones(log, result)
    receipts.finish_pending(now)
    result.hits = verify.prove(missing).hits
    return result


def settle(now: datetime) -> None:
    """Settle work that no process of that time will finish: replies being written fail and can be requested again,
    sessions off the record end and are deleted."""
    Turn.objects.running().update(lease_until=None)
    turns.abandon(now)
    for session in Session.objects.filter(off_the_record=True).select_related("persona"):
        with transaction.atomic():
            counts = off_the_record.erase(session)
            receipts.note_erasure(session.persona, "off_record", counts, now)
    receipts.finish_pending(now)


# --- receipts -------------------------------------------------------------------------------------------------------
def _add_receipts(log: ForgetLog, *, has_our_key: bool) -> list[Receipt]:
    """Store the receipts that are missing here; with `by_id` if keys identify the same users."""
    known_receipts = set(Receipt.objects.values_list("uuid", flat=True))
    personas = dict(Persona.objects.values_list("uuid", "pk"))
    users = set(User.objects.values_list("pk", flat=True)) if has_our_key else set()
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


def _forget_target(target: Target, result: ReplayResult, now: datetime) -> None:
    try:
        receipt = people.forget(planning.plan([target]), None, now)
    except people.LastSuperuser:
        result.accounts.append(target.key)
    else:
        result.rows.update(_deleted_rows(receipt))


# --- what a persona has ---------------------------------------------------------------------------------------------
_DELETED_KINDS: Sequence[Kind] = ("message", "session", "node")


def _targets(receipts: Iterable[Receipt], *, first: bool) -> dict[int, list[Target]]:
    """The targets that exist here, by persona. First the chosen rows, and all deleted messages, sessions and memories;
    then, once these are gone, the remaining entities."""
    wanted_targets: dict[Kind, set[UUID]] = defaultdict(set)
    for receipt in receipts:
        for kind in _DELETED_KINDS if first else ("entity", *_DELETED_KINDS):
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


def _forget_all(targets: Mapping[int, list[Target]], choice: Choice, result: ReplayResult, now: datetime) -> None:
    for persona_targets in targets.values():
        for start in range(0, len(persona_targets), BATCH_SIZE):
            plan = planning.plan(persona_targets[start : start + BATCH_SIZE], choice)
            if not plan.is_empty:  # earlier batches may have deleted these already
                result.rows.update(_deleted_rows(execute.forget(plan, None, now)))


def _deleted_rows(receipt: Receipt) -> Mapping[str, int]:
    return {table: count for table, count in receipt.counts.items() if "." not in table}


# --- tombstones -----------------------------------------------------------------------------------------------------
def _restore_tombstones(log: ForgetLog, result: ReplayResult) -> None:
    our_key_id = tombstones.key_id()
    personas = dict(Persona.objects.values_list("uuid", "pk"))
    known_tombstones = set(Tombstone.objects.values_list("persona_id", "digest"))
    stored_tombstones = [(personas.get(tombstone["persona__uuid"]), tombstone) for tombstone in log.tombstones]
    missing = [
        (key, tombstone)
        for key, tombstone in stored_tombstones
        if key and (key, tombstone["digest"]) not in known_tombstones
    ]
    usable = [(key, tombstone) for key, tombstone in missing if tombstone["key_id"] == our_key_id]
    Tombstone.objects.bulk_create(
        Tombstone(persona_id=key, kind=tombstone["kind"], digest=tombstone["digest"], key_id=our_key_id)
        for key, tombstone in usable
    )
    result.tombstones_added, result.tombstones_of_another_key = len(usable), len(missing) - len(usable)
