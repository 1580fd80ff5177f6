"""The deaths of a slow cycle: a real process each time, killed at a moment of its own; then another carries on.

    python -m tests.journeys.slow_cycle_process FOLDER DEATHS      what became of each, as JSON

The folder holds a database that was never used, life.sqlite3. In it a persona wants to think, in a copy of its own each
time: of an interview that was awaited, of somebody of whom much is told, and of a question that is answered.
"""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
import numpy as np

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from echovessel.db.sqlite import erasure  # noqa: E402
from echovessel.embeddings import embedding  # noqa: E402
from echovessel.llm.base import Provider  # noqa: E402
from echovessel.llm.models import LLMCall  # noqa: E402
from echovessel.llm.request import Finished, Request, Shape, Usage  # noqa: E402
from echovessel.llm.tiers import Models  # noqa: E402
from echovessel.outbox.models import OutboxEvent  # noqa: E402
from memory import slow_cycle  # noqa: E402
from memory.entities.resolve import learn_aliases, link  # noqa: E402
from memory.models import (  # noqa: E402
    ConceptNode,
    Entity,
    Filling,
    ModelReply,
    NodeText,
    NodeVector,
    Question,
    SlowCycle,
    SlowCycleRun,
)
from memory.slow_cycle import questions, runner  # noqa: E402
from memory.store import vectors  # noqa: E402
from persona.models import Persona  # noqa: E402
from persona.onboarding.creation import create_persona  # noqa: E402
from tests.journeys.forget_process import copied, opened  # noqa: E402
from tests.journeys.kill_process import embed  # noqa: E402
from tests.memory.sessions import Clock  # noqa: E402

CLOCK = Clock()
DIES = "THE_MODEL_KILLS"
THINKING, DESCRIBING, EMBEDDING = "slow_cycle", "entity", "while it embeds"
Moment = int | str


class WonderingProvider(Provider):
    """Says the same to the same; and may be the last to see its process alive. (It is found by its path, in another
    copy of this module, so that only the environment reaches it.)"""

    name = "wondering"
    defaults = Models("one", "one", "one")

    async def stream(self, request: Request, shape: Shape | None = None) -> AsyncGenerator[str | Finished, None]:
        assert not connection.in_atomic_block
        if os.environ.get(DIES) == request.purpose:
            die()
        await asyncio.sleep(0)
        yield json.dumps(ANSWERS[request.purpose](request.material))
        yield Finished("stop", Usage(100, 0, 50))


def _thought(material: Any) -> dict[str, Any]:
    events = [event["id"] for event in material["events"]]
    return {
        "thoughts": [_of(events, "Ana stands straighter.", emotional_impact=3, subject="user"), _of([], "unfounded")],
        "expectations": [_of(events[:1], "The boat sails.", due="2026-03-09")],
        "salient_questions": [{"text": "Where does the boat sail?", "about": events[:2]}],
        "outcomes": [{"of": one["id"], "outcome": "fulfilled", "evidence": events[:1]} for one in material["awaited"]],
        "answered_questions": [{"question": one["id"], "by": events[0]} for one in material["questions"]],
    }


def _of(events: list[str], description: str, **values: Any) -> dict[str, Any]:
    return {"description": description, "filling": events, **values}


ANSWERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    THINKING: _thought,
    DESCRIBING: lambda material: _of([material["events"][0]["id"]], f"{material['name']} sails."),
}


def main(folder: Path, count: int) -> None:
    settings.LLM_PROVIDER = "tests.journeys.slow_cycle_process.WonderingProvider"
    embedding.embed = embed_outside_transactions
    life = folder / "life.sqlite3"
    begin(life)
    _, statements = counted(life), counted(life)  # the second time, as each child, it has looked some up
    spread = [*dict.fromkeys(round(1 + at * (statements - 1) / max(1, count - 4)) for at in range(count - 3))]
    moments = (None, THINKING, DESCRIBING, EMBEDDING, *spread)
    json.dump([after_a_death(life, moment) for moment in moments], sys.stdout)


def begin(life: Path) -> None:
    """Make a life in which there is something to wonder about."""
    with opened(life):
        persona = create_persona(User.objects.create_user("ana"), "Mira", user_name="Ana", timezone="Asia/Shanghai")
        before = SlowCycleRun.objects.create(
            persona=persona, reason="first", outcome="done", at=CLOCK() - timedelta(days=1)
        )
        old = remembered(persona, "Ana had an interview.", kind="event")
        SlowCycle.objects.create(persona=persona, wanted_at=CLOCK(), through=old.pk)
        questions.keep(before, "Did they call?", [old], CLOCK())
        remembered(persona, "The port calls Ana.", kind="expectation")
        for name in ("Omar", "Noor"):
            entity = Entity.objects.create(persona=persona, canonical_name=name, kind="person")
            learn_aliases(entity, [name])
            told = [remembered(persona, f"{name} sails boat {number}.", kind="event") for number in range(3)]
            link(entity, told)
        erasure.checkpoint(connection)


def embed_outside_transactions(texts: Sequence[str], model: str | None = None) -> np.ndarray:
    assert not connection.in_atomic_block
    return embed(texts)


def remembered(persona: Persona, words: str, **values: Any) -> ConceptNode:
    values |= {"source": "extraction", "content_hash": words, "embedding_model": embedding.name()}
    node = ConceptNode.objects.create(persona=persona, description=words, **values)
    vectors.index([node], embedding.embed([words]))
    return node


def die(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def thought_through(at_each_statement: Callable[[int], None]) -> str:
    """The job; `at_each_statement` hears of each statement before it is run."""
    numbers = itertools.count(1)

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        at_each_statement(next(numbers))
        return run(*args)

    with connection.execute_wrapper(execute):
        return str(runner.run(SlowCycle.objects.get().pk, CLOCK))


def counted(life: Path) -> int:
    """How many statements it takes."""
    seen: list[int] = []
    with opened(copied(life)):
        assert thought_through(seen.append) == "done"
    return len(seen)


def after_a_death(life: Path, moment: Moment | None) -> dict[str, Any]:
    """What is there in the end, when a process has died at that moment and another has carried on."""
    with opened(copied(life)):
        how = killed(moment)
        paid = LLMCall.objects.count()
        if slow_cycle.requeue_stale(CLOCK()):
            runner.run(SlowCycle.objects.get().pk, CLOCK)
        return {"moment": moment, "killed": how == signal.SIGKILL, "paid": paid, "remains": remains()}


def killed(moment: Moment | None) -> int:
    """How a process ends that thinks, and is killed at this moment."""
    connections.close_all()
    child = os.fork()
    if not child:
        if moment in ANSWERS:
            os.environ[DIES] = str(moment)
        if moment == EMBEDDING:
            embedding.embed = die
        thought_through(lambda number: die() if number == moment else None)
        connections.close_all()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def remains() -> dict[str, Any]:
    """Everything that a run leaves, without the clocks of this machine."""

    def rows(of: Any, *fields: str) -> list[list[str]]:
        return sorted([str(value) for value in row] for row in of.objects.values_list(*fields))

    return {
        "cycle": rows(SlowCycle, "through", "wanted_at", "holder", "lease_until", "attempts"),
        "runs": rows(SlowCycleRun, "reason", "outcome", "given", "made", "through", "tokens_in", "dropped"),
        "nodes": rows(ConceptNode, "id", "kind", "description", "outcome", "resolved_by", "mention_count", "source"),
        "filling": rows(Filling, "parent", "child"),
        "vectors": rows(NodeVector, "node"),
        "words": rows(NodeText, "node", "body"),
        "questions": rows(Question, "text", "status", "answered_by", "rests_on__node"),
        "entities": rows(Entity, "canonical_name", "description", "described_by", "described_through"),
        "ledger": rows(LLMCall, "purpose", "outcome", "tokens_in"),
        "replies": rows(ModelReply, "step"),
        "told": sorted(Counter(OutboxEvent.objects.values_list("name", flat=True)).items()),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
