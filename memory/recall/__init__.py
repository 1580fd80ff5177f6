"""Recall: what the user's lines bring to mind, and why. Reads only; scope is one persona; no channel (D4).

query -> candidates (arms) -> ranking (scores) -> choosing (budget) -> items and x-ray
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chat import search
from chat.models import Message
from echovessel.embeddings import embedding
from echovessel.llm.prompt_sections import tokens
from memory import knobs
from memory.models import ImportJob
from memory.recall import query, ranking, retrievers, select, shortlist, snapshot, time_window, xray
from memory.recall.query import Meaning, Query
from memory.recall.render import RenderedMessage, RenderedNode, Renderer, format_uuid
from memory.recall.retrievers import Pool
from memory.recall.scoring import Parts
from memory.recall.select import SelectedItem, Selection
from memory.recall.shortlist import Shortlist
from memory.recall.xray import CandidateRecord, ItemRecord, RetrieverRecord, XRay
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from persona.models import Persona

__all__ = ["Item", "Meaning", "Recall", "prepare", "recall"]

# So many of the best memories are taken for a part of what is asked.
FED_BACK = 3
# What the x-ray keeps of the candidates: all that matter, and not a megabyte in every turn.
MOST_SEEN = 100
# What an import in hand does while memory changes from moment to moment.
CHANGING = (ImportJob.Status.WRITING, ImportJob.Status.REMEMBERING)


@dataclass(frozen=True)
class Item:
    """One recollection. `messages` are the archive ids of the messages whose words it shows: of a node its evidence,
    of a passage its lines. `text` is what the model reads; `said` the same without date and speaker."""

    layer: str
    kind: str
    uuid: UUID
    external_id: str | None
    messages: tuple[str, ...]
    message_uuids: tuple[UUID, ...]
    text: str
    said: str
    speaker: str | None
    tokens: int
    score: float
    parts: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """The item of a result line (design/archive.md)."""
        return {
            "layer": self.layer,
            "kind": self.kind,
            "id": str(self.uuid),
            "external_id": self.external_id,
            "messages": list(self.messages),
            "text": self.text,
            "tokens": self.tokens,
            "score": self.score,
            "parts": dict(self.parts),
        }


@dataclass(frozen=True)
class Recall:
    """What came to mind, best first, and the account of it."""

    items: tuple[Item, ...]
    xray: XRay


def prepare(persona_id: int) -> None:
    """Hold in memory what recall looks through, as the database is now. Off the hot path: it may take seconds. It is
    left while a worker stores or remembers what is brought from elsewhere: by the next turn it would be out of date.
    """
    vectors.space(persona_id)
    if not ImportJob.objects.filter(persona=persona_id, status__in=CHANGING).exclude(holder="").exists():
        snapshot.prepare(persona_id)


@with_one_model
def recall(
    persona: Persona,
    turns: Sequence[str],
    *,
    now: datetime,
    budget_tokens: int,
    window: Iterable[Message] = (),
    standing: Callable[[Meaning | None], Collection[int]] = lambda meaning: (),
) -> Recall:
    """What `turns`, the user's recent lines (oldest first, the last one current), bring to mind.

    At most `budget_tokens` in all. Lines of `window` are not repeated, nor the nodes whose ids `standing` names: they
    stand in the prompt anyway; it is told what the lines mean, so that it can depend on that. The same input gives the
    same output. Without an embedding model the dense arm is skipped, and the x-ray says so.
    """
    clock = _Clock()
    asked = query.build_query(turns, knobs.turn_decay(), (persona.name, persona.called))
    if not asked.turns:
        return Recall((), _unasked(budget_tokens))
    model = follow()
    meaning, why_not = _embedded(asked)
    clock.lap("embed")
    k = max(4 * knobs.retrieve_k(), 40, budget_tokens // shortlist.LEAST_ITEM_TOKENS)
    window_asked = time_window.window_asked_for(asked.turns, now, persona.zone)
    pool = retrievers.gather(persona, asked, meaning, k, why_not, window_asked)
    expect(model)
    clock.lap("search")
    tuned = ranking.tuning(asked)
    if meaning:
        pool = retrievers.sharpen(pool, meaning, ranking.best(pool, tuned, FED_BACK))
    ranks = ranking.rank(pool, asked, now, tuned)
    contest = shortlist.build_shortlist(
        persona, pool, ranks, Renderer.of(persona, now), standing(meaning), budget_tokens
    )
    in_prompt = frozenset(line.pk for line in window)
    choice = select.select_within_budget(
        contest.offers,
        budget_tokens,
        window=in_prompt,
        longest_passage=knobs.passage_lines(),
        fall_off=knobs.fall_off(),
    )
    items = _items(persona, choice, contest)
    clock.lap("rank")
    stored = pool.node_count + max(0, pool.line_count - len(in_prompt))
    return Recall(
        items,
        XRay(
            query={
                "lines": len(asked.turns),
                "weights": [round(weight, 4) for weight in asked.weights],
                "words": len(asked.words),
                "script": asked.script,
                "days": pool.window.days.as_json() if pool.window else None,
            },
            arms=[RetrieverRecord(arm.name, arm.found, round(arm.ms, 2), arm.skipped) for arm in pool.arms],
            candidates=_seen(pool, contest, choice),
            chosen=[
                ItemRecord(
                    id=str(item.uuid),
                    layer=item.layer,
                    kind=item.kind,
                    speaker=item.speaker,
                    messages=tuple(str(uuid) for uuid in item.message_uuids),
                    score=item.score,
                    parts=dict(item.parts),
                    tokens=item.tokens,
                )
                for item in items
            ],
            budget=budget_tokens,
            tokens=sum(item.tokens for item in items),
            elapsed_ms=clock.laps,
            empty_reason=xray.empty_reason(stored, len(items)),
        ),
    )


class _Clock:
    """Milliseconds by step."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.started = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self.started) * 1000, 2)
        self.started = now


def _embedded(asked: Query) -> tuple[Meaning | None, str]:
    try:
        return query.meaning(asked), ""
    except embedding.EmbeddingUnavailable as error:
        return None, str(error)


def _items(persona: Persona, choice: Selection, contest: Shortlist) -> tuple[Item, ...]:
    evidence = sorted({line for shown in choice.shown for line in shown.best.lines if shown.best.is_node})
    sources = {key: (UUID(uuid_hex), external_id) for key, uuid_hex, external_id in search.names(persona.pk, evidence)}
    return tuple(
        _node_item(contest.nodes[shown.best.key], shown, contest.parts[shown.best.key], sources)
        if shown.best.is_node
        else _passage_item(shown, [contest.lines[offer.key] for offer in shown.lines], contest.teller)
        for shown in choice.shown
    )


def _node_item(
    node: RenderedNode, shown: SelectedItem, parts: Parts, sources: Mapping[int, tuple[UUID, str | None]]
) -> Item:
    rests_on = [sources[line] for line in sorted(shown.best.lines) if line in sources]
    return Item(
        layer=node.layer,
        kind=node.kind,
        uuid=UUID(node.uuid_hex),
        external_id=node.external_id,
        messages=tuple(external_id or str(uuid) for uuid, external_id in rests_on),
        message_uuids=tuple(uuid for uuid, _ in rests_on),
        text=shown.best.text,
        said=node.description,
        speaker=None,
        tokens=shown.best.tokens,
        score=round(shown.best.score, 4),
        parts=parts.weighted(),
    )


def _passage_item(shown: SelectedItem, lines: Sequence[RenderedMessage], teller: Renderer) -> Item:
    best = next(line for line in lines if line.id == shown.best.key)
    told = sorted(lines, key=lambda line: (line.created_at, line.id))
    uuids = tuple(UUID(line.uuid_hex) for line in told)
    text = teller.passage(told)
    return Item(
        layer="L2",
        kind="passage",
        uuid=UUID(best.uuid_hex),
        external_id=best.external_id,
        messages=tuple(line.external_id or str(uuid) for line, uuid in zip(told, uuids, strict=True)),
        message_uuids=uuids,
        text=text,
        said=best.content,
        speaker=best.role,
        tokens=tokens(text),
        score=round(shown.best.score, 4),
        parts={"relevance": round(shown.best.score, 4)},
    )


def _seen(pool: Pool, contest: Shortlist, choice: Selection) -> list[CandidateRecord]:
    """What is told of the candidates: the chosen ones, then the best of the others."""
    chosen = {(offer.is_node, offer.key) for shown in choice.shown for offer in (shown.best, *shown.lines)}
    removed = {**contest.removed, **choice.removed}
    scores = {(True, key): parts.total for key, parts in contest.parts.items()}
    scores |= {(False, key): score for key, score in contest.scores.items()}
    verdicts = {one: "chosen" if one in chosen else removed.get(one, "no_room") for one in scores}
    best = sorted(verdicts, key=lambda one: (one not in chosen, -scores[one], not one[0], one[1]))[:MOST_SEEN]
    by_words = set(pool.lines.ids.tolist())
    return [
        _node_seen(contest.nodes[key], contest.parts[key], pool.found[key], verdicts[True, key])
        if is_node
        else _line_seen(contest.lines[key], scores[False, key], contest, key in by_words, verdicts[False, key])
        for is_node, key in best
    ]


def _node_seen(node: RenderedNode, parts: Parts, arms: Collection[str], verdict: str) -> CandidateRecord:
    return CandidateRecord(
        id=format_uuid(node.uuid_hex),
        layer=node.layer,
        score=round(parts.total, 4),
        parts=parts.as_json(),
        arms=tuple(sorted(arms)),
        verdict=verdict,
    )


def _line_seen(
    line: RenderedMessage, score: float, contest: Shortlist, by_words: bool, verdict: str
) -> CandidateRecord:
    return CandidateRecord(
        id=format_uuid(line.uuid_hex),
        layer="L2",
        score=round(score, 4),
        parts={"raw_relevance": round(contest.relevance[line.id], 4)},
        arms=("lines",) if by_words else ("neighbourhood",),
        verdict=verdict,
    )


def _unasked(budget: int) -> XRay:
    """Nothing was asked: nothing was looked for."""
    nothing: Sequence[Any] = ()
    return XRay({"lines": 0}, nothing, nothing, nothing, budget, 0, {}, "nothing_asked")
