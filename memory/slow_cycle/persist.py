"""Store all results of a run together, with a row that refers to them by keys only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.db import transaction

from echovessel.embeddings import embedding
from echovessel.jobs.lease import Lease
from memory.consolidation import open_items
from memory.consolidation.slow_cycle_requests import clear_request, fresh_events
from memory.curation import questions, threads
from memory.entities.resolve import link_inherited
from memory.models import ConceptNode, SlowCycle, SlowCycleRun
from memory.recall.lessons import boundaries_of, crosses
from memory.slow_cycle import entity_descriptions, replies
from memory.slow_cycle.context import RunInputs
from memory.slow_cycle.entity_descriptions import Description
from memory.slow_cycle.prompt import Thinking
from memory.slow_cycle.tombstone_check import brings_back
from memory.slow_cycle.validate import Account, AnsweredQuestion, NewQuestion, SettledItem, ThreadPart
from memory.store import tombstones, writing
from memory.store.active_model import follow, with_one_model
from memory.store.writing import Draft

FORGOTTEN, NO_GROUND, LEFT_ALONE = "forgotten", "no_ground", "left_alone"


@with_one_model
def store(lease: Lease[SlowCycle], reason: str, thinking: Thinking, described: Sequence[Description]) -> SlowCycleRun:
    """Write the results and release the lease; the request stays if there are events that did not fit.

    Embeds first, then writes in one transaction. Raises EmbeddingUnavailable and LeaseLost without writing anything.
    """
    now, model, inputs, valid = lease.clock(), follow(), thinking.inputs, thinking.valid
    vectors = embedding.embed([draft.description for draft in valid.drafts])
    usage = sum((description.usage for description in described), thinking.usage)
    cycle = lease.row
    with transaction.atomic():
        lease.release(through=inputs.through, attempts=0)
        cycle.through = inputs.through  # these events are no longer new
        if not fresh_events(cycle, now).exists():
            clear_request(cycle)
        run = SlowCycleRun.objects.create(
            persona=cycle.persona,
            session=cycle.requested_by,
            reason=reason,
            outcome=SlowCycleRun.Outcome.DONE,
            given=inputs.keys() | {"entities": [description.of.entity.pk for description in described]},
            through=inputs.through,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            at=now,
        )
        # A boundary may have been set while the model worked.
        results = _Results(run, replace(inputs, boundaries=boundaries_of(cycle.persona)), now)
        run.made = [
            *(results.write(draft, vector, model) for draft, vector in zip(valid.drafts, vectors, strict=True)),
            *(results.ask(question) for question in valid.questions),
            *(results.settle(item) for item in valid.outcomes),
            *(results.answer(item) for item in valid.answered),
            *(results.join(part) for part in valid.threads),
            *(results.describe(description) for description in described),
            *valid.dropped,
        ]
        run.dropped = sum("dropped" in item for item in run.made)
        run.save(update_fields=["made", "dropped"])
        questions.drop_old(cycle.persona, now)
        replies.delete(cycle.persona)
    return run


@dataclass(frozen=True)
class _Results:
    """The results of a run: each is stored with the grounds that remain, and recorded by keys."""

    run: SlowCycleRun
    inputs: RunInputs
    now: datetime

    def write(self, draft: Draft, vector: np.ndarray, model: str) -> Account:
        """Write a thought or an expectation through the gate."""
        filling = _live(draft.filling)
        if not filling:
            return _dropped(draft.kind, NO_GROUND)
        if crosses(self.inputs.boundaries, draft.description):
            return _dropped(draft.kind, LEFT_ALONE)
        if brings_back(self.run.persona, draft.description, self.inputs.words):
            return _dropped(draft.kind, FORGOTTEN)
        node = writing.write(self.run.persona, replace(draft, filling=filling), vector, model, self.now)
        if node.node is None:
            return _dropped(draft.kind, FORGOTTEN)
        link_inherited(node.node, filling)
        return {"kind": draft.kind, "id": node.node.pk, "outcome": node.outcome}

    def ask(self, item: NewQuestion) -> Account:
        about, text = _live(item.about), questions.tidy_question(item.text)
        if not about:
            return _dropped("question", NO_GROUND)
        if crosses(self.inputs.boundaries, text):
            return _dropped("question", LEFT_ALONE)
        if tombstones.refuses(self.run.persona, [text]) or brings_back(self.run.persona, text, self.inputs.words):
            return _dropped("question", FORGOTTEN)
        question = questions.keep(self.run.persona, text, about, self.now, self.run)
        return {"kind": "question", "id": question.pk} if question else _dropped("question", "asked_before")

    def settle(self, item: SettledItem) -> Account:
        """Settle a promise or an expectation."""
        evidence = _live(item.evidence)
        if not evidence or not _live([item.node]):
            return _dropped("outcome", NO_GROUND)
        if not open_items.settle(item.node, item.outcome, evidence[0], self.now):
            return _dropped("outcome", "not_open")
        by = [event.pk for event in evidence]
        return {"kind": "outcome", "id": item.node.pk, "outcome": item.outcome, "by": by}

    def answer(self, item: AnsweredQuestion) -> Account:
        if not _live([item.by]):
            return _dropped("answer", NO_GROUND)
        if not questions.answer(item.question, item.by, self.now):
            return _dropped("answer", "not_open")
        return {"kind": "answer", "id": item.question.pk, "by": [item.by.pk]}

    def join(self, part: ThreadPart) -> Account:
        """Begin a thread, or continue one that was not dissolved meanwhile."""
        persona, nodes = self.run.persona, _live(part.nodes)
        if part.thread is not None:
            thread = persona.threads.standing().filter(pk=part.thread.pk).first()
            added = threads.continue_thread(thread, nodes, part.state) if thread else []
            by = [node.pk for node in added]
            return {"kind": "thread", "id": part.thread.pk, "by": by} if by else _dropped("thread", NO_GROUND)
        if any(crosses(self.inputs.boundaries, text) for text in (part.title, *(node.description for node in nodes))):
            return _dropped("thread", LEFT_ALONE)
        if tombstones.refuses(persona, [part.title]) or brings_back(persona, part.title, self.inputs.words):
            return _dropped("thread", FORGOTTEN)
        begun = threads.begin(persona, part.title, nodes, part.state, self.now)
        by = [node.pk for node in nodes]
        return {"kind": "thread", "id": begun.pk, "by": by} if begun else _dropped("thread", NO_GROUND)

    def describe(self, description: Description) -> Account:
        about: Account = {"kind": "description", "id": description.of.entity.pk}
        why = entity_descriptions.write(self.run.persona, description)
        return about | ({"dropped": why} if why else {"by": list(description.cited)})


def _dropped(kind: str, why: str) -> Account:
    return {"kind": kind, "dropped": why}


def _live(nodes: Sequence[ConceptNode]) -> list[ConceptNode]:
    """The nodes that are still recallable: a person may have forgotten or hidden one while the model worked."""
    live_nodes = ConceptNode.objects.recallable().in_bulk([node.pk for node in nodes])
    return [live_nodes[node.pk] for node in nodes if node.pk in live_nodes]
