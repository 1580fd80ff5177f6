"""Execute a plan: one transaction from the plan to its receipt, then the erasure of the bytes.

1. No reply of the persona may be in progress.
2. The plan is made again; if it differs from the confirmed one, nothing is done.
3. Every lease on the persona's sessions, slow cycle and imports is revoked.
4. Tombstones are added while the text is still there; none for an import that is reverted.
5. Copies are rewritten and rows deleted, by key. If anything is left, everything is rolled back.
6. The receipt is stored and published, with ids only; if an import is reverted, also the replies that tell of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat.models import Session
from chat.sessions import close
from echovessel.outbox import events
from memory.erasure import receipts
from memory.forgetting import people, registry
from memory.forgetting.copies import deleted_texts
from memory.forgetting.planning import Survey, survey
from memory.forgetting.types import (
    Plan,
    PlanChanged,
    TargetsMissing,
    empty_plan,
    is_persona_or_owner,
    require_no_reply_in_progress,
)
from memory.models import ImportJob, Receipt, SlowCycle
from memory.requests.retold import find_retold_replies, note_retold
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_ids, of_row
from persona.models import CoreDraft


def forget(plan: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    """Execute the plan completely or not at all, and erase the bytes. The receipt is pending until they are erased, if
    necessary by a job.

    Raises Busy while a reply of the persona is being written, and PlanChanged if the current plan differs from the
    confirmed one.
    """
    if is_persona_or_owner(plan.targets):
        receipt = people.forget(plan, by, now)
        receipt.refresh_from_db()
        return receipt
    imported_texts = (
        {str(row.uuid): row.text for row in plan.deleted if row.uuid} if not plan.choice.block_reimport else {}
    )
    replies = find_retold_replies(plan.persona, imported_texts) if plan.persona and imported_texts else []
    with transaction.atomic():
        current = _check_confirmed(plan)
        persona = current.closure.persona
        # Revoke every lease on this persona's sessions, slow cycle and imports, so that no worker can commit text
        # derived from what is being forgotten. An interrupted import reads its file again.
        SlowCycle.objects.filter(persona=persona).exclude(holder="").update(holder="", lease_until=None)
        running_imports = ImportJob.objects.filter(persona=persona, status__in=ImportJob.AT_WORK)
        running_imports.exclude(holder="").update(holder="", lease_until=None)
        leased_sessions = list(persona.sessions.exclude(holder=""))
        to_requeue = Session.objects.filter(pk__in=[session.pk for session in leased_sessions])
        to_requeue.filter(status=Session.Status.CONSOLIDATING).update(status=Session.Status.CLOSING)
        to_requeue.update(holder="", lease_until=None, waiting_for="")
        for session in leased_sessions:
            close.enqueue_consolidation(session)
        sources = _tombstone_sources(current) if plan.choice.block_reimport else ()
        deleted_ids = _deleted_ids(current)
        receipt = _create_receipt(current, deleted_ids, by, now, tombstones.add_tombstones(persona, sources, now))
        indexed_keys = [current.work.deletes.get(table, ()) for table in ("chat_message", "memory_conceptnode")]
        with registry.bulk_deletion(sum(map(len, indexed_keys))):
            registry.execute(current.work)
        # Pages drop deleted rows and mark withheld messages. Ids only.
        closure = current.closure
        events.publish(
            closure.persona.uuid,
            "memory.node.forgotten",
            node_ids=deleted_ids.get("node", []),
            message_ids=deleted_ids.get("message", []),
            withheld_ids=[str(closure.messages[pk].uuid) for pk in closure.decision.withheld if pk in closure.messages],
            entity_ids=deleted_ids.get("entity", []),
            session_ids=deleted_ids.get("session", []),
        )
        note_retold(receipt, replies)
        transaction.on_commit(lambda: receipts.finish(receipt, now))
    receipt.refresh_from_db()
    return receipt


def _check_confirmed(plan: Plan) -> Survey:
    """The current plan, if it equals the confirmed one. Raises Busy and PlanChanged."""
    if plan.persona is not None:
        require_no_reply_in_progress([plan.persona])
    try:
        current = survey(plan.targets, plan.choice)
    except TargetsMissing:
        raise PlanChanged(empty_plan(plan.targets, plan.choice)) from None
    if current.plan.digest != plan.digest:
        raise PlanChanged(current.plan)
    return current


# --- tombstones -----------------------------------------------------------------------------------------------------
def _tombstone_sources(current: Survey) -> Iterator[TombstoneSource]:
    """The texts of deleted rows as their models declare them, and the ids by which an archive would restore these
    rows."""
    closure, consequences = current.closure, current.consequences
    for pk in closure.decision.memories:
        yield from of_ids("node", closure.nodes[pk])
        for row in (closure.nodes[pk], *closure.versions[pk]):
            yield from of_row(row)
    # Deleted and withheld messages, and quotes of deleted memories: none of them may become a memory again.
    for pk in (*closure.decision.messages, *closure.decision.withheld):
        if message := closure.messages.get(pk):
            yield from of_row(message, message.day)
            if pk in closure.decision.messages:
                yield from of_ids("message", message)
    for evidence in closure.evidence.values():
        message = closure.messages.get(evidence.message_id)
        if evidence.node_id in closure.decision.memories and message is not None:
            yield from of_row(evidence, message.day)
    for pk in consequences.sessions:
        yield from of_ids("session", consequences.touched[pk])
    runs = closure.persona.import_runs.filter(pk__in=list(closure.runs)).values("uuid")
    for job in ImportJob.objects.filter(persona=closure.persona, uuid__in=runs):
        yield from of_ids("import", job)
    for entity in consequences.entities.values():
        yield from of_ids("entity", entity)
        yield from of_row(entity)
    drafts = CoreDraft.objects.filter(pk__in=registry.among(current.work.deletes.get("persona_coredraft", ())))
    for row in (*consequences.aliases.values(), *drafts):
        yield from of_row(row)


# --- the receipt ----------------------------------------------------------------------------------------------------
def _create_receipt(
    current: Survey,
    deleted_ids: dict[str, list[str]],
    by: AbstractBaseUser | None,
    now: datetime,
    tombstone_ids: list[int],
) -> Receipt:
    closure = current.closure
    withheld = [closure.messages[pk].content for pk in closure.decision.withheld if pk in closure.messages]
    return Receipt.objects.create(
        persona=closure.persona,
        persona_uuid=closure.persona.uuid,
        owner_id=closure.persona.owner_id,
        targets=[[target.kind, str(current.ids.get(target, ""))] for target in current.plan.targets],
        choice=choice_as_json(current.plan),
        counts=dict(current.plan.counts),
        erased=deleted_ids,
        # No fingerprints of a reverted import, because it may be imported again.
        prints=receipts.fingerprints_of(deleted_texts(closure), excluded_texts=withheld)
        if closure.choice.block_reimport
        else [],
        stones=tombstone_ids,
        by_id=by.pk if by is not None else None,
        at=now,
    )


def choice_as_json(plan: Plan) -> dict[str, Any]:
    """The choice in the form that a receipt stores. (Archives and the API call `block_reimport` "bury".)"""
    kept_mentions = sum(1 for mention in plan.mentioned if mention.why == "same_words" and mention.mode == "leave")
    choice = plan.choice
    return {
        "dependents": choice.dependents,
        "messages": choice.messages,
        "staying": len(choice.staying),
        "bury": choice.block_reimport,
        "mentions": len(choice.mentions),
        "other_mentions": choice.other_mentions,
        "kept_elsewhere": kept_mentions,
    }


def _deleted_ids(current: Survey) -> dict[str, list[str]]:
    """The ids of deleted rows, by kind."""
    closure, consequences = current.closure, current.consequences
    deleted: Mapping[str, Iterable[UUID]] = {
        "node": (closure.nodes[pk].uuid for pk in closure.decision.memories),
        "message": (closure.messages[pk].uuid for pk in closure.decision.messages if pk in closure.messages),
        "session": (consequences.touched[pk].uuid for pk in consequences.sessions),
        "turn": consequences.turns.values(),
        "entity": (entity.uuid for entity in consequences.entities.values()),
    }
    ids = {kind: [str(uuid) for uuid in uuids] for kind, uuids in deleted.items()}
    return {kind: uuids for kind, uuids in ids.items() if uuids}
