"""Storing: all that a run made, at once, with a row that tells of it by keys alone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.db import transaction

from echovessel.embeddings import embedding
from echovessel.jobs.lease import Lease
from memory.consolidation import open_items
from memory.consolidation.slow_cycle_requests import clear_request, fresh_events
from memory.curation import questions
from memory.entities.resolve import link_inherited
from memory.models import ConceptNode, SlowCycle, SlowCycleRun
from memory.recall.lessons import boundaries_of, crosses
from memory.slow_cycle import entity_descriptions, replies
from memory.slow_cycle.entity_descriptions import Description
from memory.slow_cycle.inputs import RunInputs
from memory.slow_cycle.prompt import Thinking
from memory.slow_cycle.tombstone_check import brings_back
from memory.slow_cycle.validate import Account, AnsweredQuestion, NewQuestion, SettledItem
from memory.store import tombstones, writing
from memory.store.active_model import follow, with_one_model
from memory.store.writing import Draft
from persona.models import Persona

FORGOTTEN, GONE, LEFT_ALONE = "forgotten", "no_ground", "left_alone"


@with_one_model
def store(lease: Lease[SlowCycle], reason: str, thinking: Thinking, described: Sequence[Description]) -> SlowCycleRun:
    """Write it and release the lease; the request stands if events are left that did not fit.

    Embeds first, then one transaction. Raises EmbeddingUnavailable and LeaseLost; nothing is written then.
    """
    now, model, given, drafts = lease.clock(), follow(), thinking.given, thinking.sifted.drafts
    vectors = embedding.embed([draft.description for draft in drafts])
    with transaction.atomic():
        _move_on(lease, given.through, now)
        run = _row(lease.row, reason, thinking, described, now)
        given = replace(given, boundaries=boundaries_of(lease.row.persona))  # one may have come while the model thought
        run.made = [
            *(_written(run, given, draft, vector, model, now) for draft, vector in zip(drafts, vectors, strict=True)),
            *(_asked(run, given, question, now) for question in thinking.sifted.questions),
            *(_settled(ended, now) for ended in thinking.sifted.outcomes),
            *(_answered(answered, now) for answered in thinking.sifted.answered),
            *(_described(run.persona, one) for one in described),
            *thinking.sifted.dropped,
        ]
        run.dropped = sum("dropped" in item for item in run.made)
        run.save(update_fields=["made", "dropped"])
        questions.drop_old(lease.row.persona, now)
        replies.delete(lease.row.persona)
    return run


def _move_on(lease: Lease[SlowCycle], through: int, now: datetime) -> None:
    """What was given is new no more."""
    cycle = lease.row
    lease.release(through=through, attempts=0)
    cycle.through = through
    if not fresh_events(cycle, now).exists():
        clear_request(cycle)


def _row(
    cycle: SlowCycle, reason: str, thinking: Thinking, described: Sequence[Description], now: datetime
) -> SlowCycleRun:
    usage = sum((one.usage for one in described), thinking.usage)
    return SlowCycleRun.objects.create(
        persona=cycle.persona,
        session=cycle.requested_by,
        reason=reason,
        outcome=SlowCycleRun.Outcome.DONE,
        given=thinking.given.keys() | {"entities": [one.of.entity.pk for one in described]},
        through=thinking.given.through,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        at=now,
    )


# --- what becomes of each thing -----------------------------------------------------------------------------------
def _written(
    run: SlowCycleRun, given: RunInputs, draft: Draft, vector: np.ndarray, model: str, now: datetime
) -> Account:
    """A thought or an expectation through the gate, on what is left of what it rests on."""
    filling = _live(draft.filling)
    if not filling:
        return _dropped(draft.kind, GONE)
    if crosses(given.boundaries, draft.description):
        return _dropped(draft.kind, LEFT_ALONE)
    if brings_back(run.persona, draft.description, given.words):
        return _dropped(draft.kind, FORGOTTEN)
    written = writing.write(run.persona, replace(draft, filling=filling), vector, model, now)
    if written.node is None:
        return _dropped(draft.kind, FORGOTTEN)
    link_inherited(written.node, filling)
    return {"kind": draft.kind, "id": written.node.pk, "outcome": written.outcome}


def _asked(run: SlowCycleRun, given: RunInputs, asked: NewQuestion, now: datetime) -> Account:
    """A question, on what is left of what it rests on."""
    about, text = _live(asked.about), questions.tidy_question(asked.text)
    if not about:
        return _dropped("question", GONE)
    if crosses(given.boundaries, text):
        return _dropped("question", LEFT_ALONE)
    if tombstones.refuses(run.persona, [text]) or brings_back(run.persona, text, given.words):
        return _dropped("question", FORGOTTEN)
    question = questions.keep(run, text, about, now)
    return {"kind": "question", "id": question.pk} if question else _dropped("question", "asked_before")


def _settled(ended: SettledItem, now: datetime) -> Account:
    """How something ended that she awaited."""
    evidence = _live(ended.evidence)
    if not evidence or not _live([ended.node]):
        return _dropped("outcome", GONE)
    if not open_items.settle(ended.node, ended.outcome, evidence[0], now):
        return _dropped("outcome", "not_open")
    by = [event.pk for event in evidence]
    return {"kind": "outcome", "id": ended.node.pk, "outcome": ended.outcome, "by": by}


def _answered(answered: AnsweredQuestion, now: datetime) -> Account:
    """A question that something new has answered."""
    if not _live([answered.by]):
        return _dropped("answer", GONE)
    if not questions.answer(answered.question, answered.by, now):
        return _dropped("answer", "not_open")
    return {"kind": "answer", "id": answered.question.pk, "by": [answered.by.pk]}


def _described(persona: Persona, one: Description) -> Account:
    """Who somebody is."""
    about: Account = {"kind": "description", "id": one.of.entity.pk}
    why = entity_descriptions.write(persona, one)
    return about | ({"dropped": why} if why else {"by": list(one.cited)})


def _dropped(kind: str, why: str) -> Account:
    return {"kind": kind, "dropped": why}


def _live(nodes: Sequence[ConceptNode]) -> list[ConceptNode]:
    """Those that are recallable still: somebody may have forgotten one while the model thought, or put it away."""
    stored = ConceptNode.objects.recallable().in_bulk([node.pk for node in nodes])
    return [stored[node.pk] for node in nodes if node.pk in stored]
