"""Doing: one transaction from a plan to its receipt, and after it the bytes.

the persona is held; no reply of hers may be under way
planned again; another plan than the confirmed one is not done
the talks that are being read are taken from their workers, so that nothing of theirs is written later
tombstones, while the words are still there; none for what is taken back, so that it may come again
the copies are rewritten, the rows deleted, by key
nothing of it may be left; else all of it is undone
the receipt, and the news of it, by ids alone
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat.models import Session, Turn
from chat.sessions import close
from echovessel.outbox import events
from memory.forgetting import fingerprints, people, receipts, registry
from memory.forgetting.collect import Reach
from memory.forgetting.copies import texts
from memory.forgetting.planning import Survey, nothing, survey
from memory.forgetting.targets import NothingThere, are_people, hold, uuid_of
from memory.forgetting.types import Plan, PlanChanged
from memory.models import ImportJob, Receipt, SlowCycle
from memory.store import tombstones
from memory.store.tombstones import Burial, of_draft, of_external, of_words
from persona.models import CoreDraft, Persona


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
        persona = found.reach.persona
        _fence(persona)
        stones = tombstones.bury_all(persona, _burials(found), now) if plan.choice.bury else []
        receipt = _receipt(found, by, now, stones)
        with registry.bulk_deletion(
            sum(len(found.work.deletes.get(table, ())) for table in ("chat_message", "memory_conceptnode"))
        ):
            registry.do(found.work)
        _tell(found)
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


def _fence(persona: Persona) -> None:
    """Take the persona's talks, what she wonders about between them, and what is on its way into her memory, from those
    who have them in hand: what a model was asked of the words is thrown away, what was read of a file is read again."""
    SlowCycle.objects.filter(persona=persona).exclude(holder="").update(holder="", lease_until=None)
    ImportJob.objects.at_work().filter(persona=persona).exclude(holder="").update(holder="", lease_until=None)
    held = list(persona.sessions.exclude(holder=""))
    mine = Session.objects.filter(pk__in=[session.pk for session in held])
    mine.filter(status=Session.Status.CONSOLIDATING).update(status=Session.Status.CLOSING)
    mine.update(holder="", lease_until=None, waiting_for="")
    for session in held:
        close.enqueue_consolidation(session)


# --- what does not come back ----------------------------------------------------------------------------------------
def _burials(found: Survey) -> Iterator[Burial]:
    reach, consequences = found.reach, found.consequences
    for pk in reach.fate.memories:
        yield from _of_row("node", reach.nodes[pk])
        yield Burial("text", reach.nodes[pk].description)
        yield from (Burial("text", version.description) for version in reach.versions[pk])
    yield from _of_lines(found)
    for pk in consequences.sessions:
        yield from _of_row("session", consequences.touched[pk])
    runs = reach.persona.import_runs.filter(pk__in=list(reach.runs)).values("uuid")
    for job in ImportJob.objects.filter(persona=reach.persona, uuid__in=runs):
        yield from _of_row("import", job)
    for entity in consequences.entities.values():
        yield from _of_row("entity", entity)
        yield Burial("name", entity.canonical_name)
    yield from (Burial("name", alias.text) for alias in consequences.aliases.values())
    drafts = CoreDraft.objects.filter(pk__in=registry.among(found.work.deletes.get("persona_coredraft", ())))
    yield from (of_draft(draft.label, draft.text) for draft in drafts)


def _of_lines(found: Survey) -> Iterator[Burial]:
    """Lines that go or are put away, and the quotes of what goes: none of them is to be made into a memory again."""
    reach = found.reach
    for pk in (*reach.fate.lines, *reach.fate.withheld):
        if line := reach.lines.get(pk):
            yield of_words(line.content, line.day)
            if pk in reach.fate.lines:
                yield from _of_row("message", line)
    for row in reach.evidence.values():
        line = reach.lines.get(row.message_id)
        if row.node_id in reach.fate.memories and line is not None:
            yield of_words(row.quote, line.day)


def _of_row(what: str, row: Any) -> Iterator[Burial]:
    """By the id that it had in an archive, and by the one that an export of ours gives it."""
    yield of_external(what, str(row.uuid))
    if row.external_id:
        yield of_external(what, row.external_id)


# --- the receipt ----------------------------------------------------------------------------------------------------
def _receipt(found: Survey, by: AbstractBaseUser | None, now: datetime, stones: list[int]) -> Receipt:
    reach = found.reach
    return Receipt.objects.create(
        persona=reach.persona,
        persona_uuid=reach.persona.uuid,
        owner_id=reach.persona.owner_id,
        targets=[[target.kind, uuid_of(target)] for target in found.plan.targets],
        choice=told_choice(found.plan),
        counts=dict(found.plan.counts),
        erased=_erased(found),
        prints=_prints(reach),
        stones=stones,
        by_id=by.pk if by is not None else None,
        at=now,
    )


def _prints(reach: Reach) -> list[str]:
    """By them what went is known again; none of what is taken back, for that may come again."""
    put_away = [reach.lines[pk].content for pk in reach.fate.withheld if pk in reach.lines]
    return fingerprints.of(texts(reach), but=put_away) if reach.choice.bury else []


def told_choice(plan: Plan) -> dict[str, Any]:
    """The choice as it is kept."""
    kept = sum(1 for one in plan.mentioned if one.why == "same_words" and one.mode == "leave")
    chosen = {**asdict(plan.choice), "staying": len(plan.choice.staying), "mentions": len(plan.choice.mentions)}
    return chosen | {"kept_elsewhere": kept}


def _erased(found: Survey) -> dict[str, list[str]]:
    """The ids of what goes, by kind."""
    reach, consequences = found.reach, found.consequences
    gone: Mapping[str, Iterable[Any]] = {
        "node": (reach.nodes[pk] for pk in reach.fate.memories),
        "message": (reach.lines[pk] for pk in reach.fate.lines if pk in reach.lines),
        "session": (consequences.touched[pk] for pk in consequences.sessions),
        "turn": Turn.objects.filter(pk__in=registry.among(consequences.turns)),
        "entity": consequences.entities.values(),
    }
    told = {kind: [str(row.uuid) for row in found_rows] for kind, found_rows in gone.items()}
    return {kind: uuids for kind, uuids in told.items() if uuids}


def _tell(found: Survey) -> None:
    """The pages drop what has gone, and say of the lines that are put away that they are. Ids alone."""
    erased = _erased(found)
    reach = found.reach
    events.publish(
        reach.persona.uuid,
        "memory.node.forgotten",
        node_ids=erased.get("node", []),
        message_ids=erased.get("message", []),
        withheld_ids=[str(reach.lines[pk].uuid) for pk in reach.fate.withheld if pk in reach.lines],
        entity_ids=erased.get("entity", []),
        session_ids=erased.get("session", []),
    )
