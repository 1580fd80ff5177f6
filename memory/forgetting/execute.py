"""Executing a plan: one transaction from the plan to its receipt, and after it the bytes.

1. No reply of the persona may be running.
2. The plan is made again; if it differs from the confirmed one, nothing is done.
3. Every lease on the persona's sessions, slow cycle and imports is revoked.
4. Tombstones are added while the words are still there; none for an import that is reverted.
5. Copies are rewritten and rows deleted, by key. If anything is left, all of it is undone.
6. The receipt is stored and published, by ids alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat.models import Session, Turn
from chat.sessions import close
from echovessel.outbox import events
from memory.erasure import receipts
from memory.forgetting import fingerprints, people, registry
from memory.forgetting.collect import Closure
from memory.forgetting.copies import texts
from memory.forgetting.planning import Survey, nothing, survey
from memory.forgetting.targets import NothingThere, are_people, hold, uuid_of
from memory.forgetting.types import Plan, PlanChanged
from memory.models import ImportJob, Receipt, SlowCycle
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_ids, of_row
from persona.models import CoreDraft


def forget(plan: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    """Do what was planned, all of it or nothing, and erase the bytes. The receipt is pending where those are not gone
    yet; a job does it then.

    Raises Busy while a reply of the persona is being written, and PlanChanged where something else would go than what
    was confirmed.
    """
    receipt = people.forget(plan, by, now) if are_people(plan.targets) else _forget(plan, by, now)
    receipt.refresh_from_db()
    return receipt


def _forget(plan: Plan, by: AbstractBaseUser | None, now: datetime) -> Receipt:
    with transaction.atomic():
        found = _confirmed(plan)
        persona = found.closure.persona
        # Revoke every lease on this persona's sessions, slow cycle and imports, so that no worker can commit text
        # derived from what is being forgotten. What was read of a file is read again.
        SlowCycle.objects.filter(persona=persona).exclude(holder="").update(holder="", lease_until=None)
        at_work = ImportJob.objects.filter(persona=persona, status__in=ImportJob.AT_WORK)
        at_work.exclude(holder="").update(holder="", lease_until=None)
        held = list(persona.sessions.exclude(holder=""))
        mine = Session.objects.filter(pk__in=[session.pk for session in held])
        mine.filter(status=Session.Status.CONSOLIDATING).update(status=Session.Status.CLOSING)
        mine.update(holder="", lease_until=None, waiting_for="")
        for session in held:
            close.enqueue_consolidation(session)
        stones = (
            tombstones.add_tombstones(persona, _tombstone_sources(found), now) if plan.choice.block_reimport else []
        )
        receipt = _receipt(found, by, now, stones)
        with registry.bulk_deletion(
            sum(len(found.work.deletes.get(table, ())) for table in ("chat_message", "memory_conceptnode"))
        ):
            registry.do(found.work)
        # The pages drop what has gone, and say of the messages that are withheld that they are. Ids alone.
        erased = _erased(found)
        closure = found.closure
        events.publish(
            closure.persona.uuid,
            "memory.node.forgotten",
            node_ids=erased.get("node", []),
            message_ids=erased.get("message", []),
            withheld_ids=[str(closure.messages[pk].uuid) for pk in closure.decision.withheld if pk in closure.messages],
            entity_ids=erased.get("entity", []),
            session_ids=erased.get("session", []),
        )
        transaction.on_commit(lambda: receipts.finish(receipt, now))
    return receipt


def _confirmed(plan: Plan) -> Survey:
    """What would be forgotten now, where it is what was confirmed. Raises Busy and PlanChanged."""
    if plan.persona is not None:
        hold([plan.persona])
    try:
        found = survey(plan.targets, plan.choice)
    except NothingThere:
        raise PlanChanged(nothing(plan.targets, plan.choice)) from None
    if found.plan.digest != plan.digest:
        raise PlanChanged(found.plan)
    return found


# --- what does not come back ----------------------------------------------------------------------------------------
def _tombstone_sources(found: Survey) -> Iterator[TombstoneSource]:
    """What each model declares, of every deleted row; and the ids by which an archive would bring such a row back."""
    closure, consequences = found.closure, found.consequences
    for pk in closure.decision.memories:
        yield from of_ids("node", closure.nodes[pk])
        for said in (closure.nodes[pk], *closure.versions[pk]):
            yield from of_row(said)
    yield from _of_messages(closure)
    for pk in consequences.sessions:
        yield from of_ids("session", consequences.touched[pk])
    runs = closure.persona.import_runs.filter(pk__in=list(closure.runs)).values("uuid")
    for job in ImportJob.objects.filter(persona=closure.persona, uuid__in=runs):
        yield from of_ids("import", job)
    for entity in consequences.entities.values():
        yield from of_ids("entity", entity)
        yield from of_row(entity)
    drafts = CoreDraft.objects.filter(pk__in=registry.among(found.work.deletes.get("persona_coredraft", ())))
    for row in (*consequences.aliases.values(), *drafts):
        yield from of_row(row)


def _of_messages(closure: Closure) -> Iterator[TombstoneSource]:
    """Deleted and withheld messages, and the quotes of deleted memories: none of them is to become a memory again."""
    for pk in (*closure.decision.messages, *closure.decision.withheld):
        if message := closure.messages.get(pk):
            yield from of_row(message, message.day)
            if pk in closure.decision.messages:
                yield from of_ids("message", message)
    for evidence in closure.evidence.values():
        message = closure.messages.get(evidence.message_id)
        if evidence.node_id in closure.decision.memories and message is not None:
            yield from of_row(evidence, message.day)


# --- the receipt ----------------------------------------------------------------------------------------------------
def _receipt(found: Survey, by: AbstractBaseUser | None, now: datetime, stones: list[int]) -> Receipt:
    closure = found.closure
    return Receipt.objects.create(
        persona=closure.persona,
        persona_uuid=closure.persona.uuid,
        owner_id=closure.persona.owner_id,
        targets=[[target.kind, uuid_of(target)] for target in found.plan.targets],
        choice=choice_as_json(found.plan),
        counts=dict(found.plan.counts),
        erased=_erased(found),
        prints=_fingerprints_of(closure),
        stones=stones,
        by_id=by.pk if by is not None else None,
        at=now,
    )


def _fingerprints_of(closure: Closure) -> list[str]:
    """By them what went is known again; none of what is reverted, for that may come again."""
    put_away = [closure.messages[pk].content for pk in closure.decision.withheld if pk in closure.messages]
    return fingerprints.of(texts(closure), but=put_away) if closure.choice.block_reimport else []


def choice_as_json(plan: Plan) -> dict[str, Any]:
    """The choice as a receipt keeps it. (Archives and the API know `block_reimport` as "bury".)"""
    kept = sum(1 for one in plan.mentioned if one.why == "same_words" and one.mode == "leave")
    choice = plan.choice
    return {
        "dependents": choice.dependents,
        "messages": choice.messages,
        "staying": len(choice.staying),
        "bury": choice.block_reimport,
        "mentions": len(choice.mentions),
        "other_mentions": choice.other_mentions,
        "kept_elsewhere": kept,
    }


def _erased(found: Survey) -> dict[str, list[str]]:
    """The ids of what goes, by kind."""
    closure, consequences = found.closure, found.consequences
    gone: Mapping[str, Iterable[Any]] = {
        "node": (closure.nodes[pk] for pk in closure.decision.memories),
        "message": (closure.messages[pk] for pk in closure.decision.messages if pk in closure.messages),
        "session": (consequences.touched[pk] for pk in consequences.sessions),
        "turn": Turn.objects.filter(pk__in=registry.among(consequences.turns)),
        "entity": consequences.entities.values(),
    }
    told = {kind: [str(row.uuid) for row in found_rows] for kind, found_rows in gone.items()}
    return {kind: uuids for kind, uuids in told.items() if uuids}
