"""Recall: what the user's lines bring to mind, and why. Reads only; scope is one persona; no channel (D4).

query -> candidates (arms) -> ranking (scores) -> choosing (budget) -> items and x-ray
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from chat import search
from chat.models import Message
from echovessel import embedding
from echovessel.context import tokens
from memory import knobs
from memory.models import ConceptNode
from memory.recall import candidates, choosing, passages, query, ranking, time_window, xray
from memory.recall.candidates import Pool
from memory.recall.choosing import Choice, Offer, Shown
from memory.recall.query import Meaning, Query
from memory.recall.ranking import Ranking, ScoredNode
from memory.recall.wording import Line, Teller
from memory.recall.xray import ArmSeen, CandidateSeen, ItemSeen, XRay
from persona.models import Persona

__all__ = ["Item", "Recall", "recall"]

# A budget is filled by items of about this many tokens at least; each arm must offer more than fit.
LEAST_ITEM_TOKENS = 25
# Of the candidates the best compete for the budget, several times as many as it can hold.
MOST_LINES_OFFERED = 100
MOST_NODES_OFFERED = 100
# What the x-ray keeps of the candidates: all that matter, and not a megabyte in every turn.
MOST_SEEN = 100


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


def recall(
    persona: Persona,
    turns: Sequence[str],
    *,
    now: datetime,
    budget_tokens: int,
    window: Iterable[Message] = (),
    standing: Collection[int] = (),
) -> Recall:
    """What `turns`, the user's recent lines (oldest first, the last one current), bring to mind.

    At most `budget_tokens` in all. Lines of `window` are not repeated, nor nodes whose ids are in `standing`: they
    stand in the prompt anyway. The same input gives the same output. Without
    an embedding model the dense arm is skipped, and the x-ray says so.
    """
    clock = _Clock()
    asked = query.asked(turns, knobs.turn_decay(), (persona.name, persona.called))
    if not asked.turns:
        return Recall((), _unasked(budget_tokens))
    meaning, why_not = _embedded(asked)
    vector = meaning.whole if meaning else None
    clock.lap("embed")
    k = max(4 * knobs.retrieve_k(), 40, budget_tokens // LEAST_ITEM_TOKENS)
    window_asked = time_window.asked(asked.turns, now, persona.zone)
    pool = candidates.gather(persona, asked, vector, k, why_not, window_asked)
    clock.lap("search")
    candidates.load(persona, asked, pool, vector)
    pool.closest = candidates.closest(persona, pool, meaning.lines) if meaning else None
    clock.lap("load")
    ranks = ranking.ranked(pool, asked, now, ranking.tuning(asked))
    teller = Teller.of(persona, now)
    lines = _loaded(persona, ranks.lines)
    scores = _line_scores(lines, ranks)
    choice = choosing.chosen(
        [*_node_offers(ranks, teller, standing), *_line_offers(scores, lines, pool, teller)],
        budget_tokens,
        window=_hidden_lines(window, lines),
        longest_passage=knobs.passage_lines(),
        fall_off=knobs.fall_off(),
    )
    items = _items(persona, choice, ranks, lines, teller)
    clock.lap("rank")
    return Recall(items, _xray(asked, pool, ranks, scores, choice, lines, items, standing, budget_tokens, clock.laps))


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


def _loaded(persona: Persona, relevance: Mapping[int, float]) -> dict[int, Line]:
    """The best lines with their words."""
    best = sorted(relevance, key=lambda line: (-relevance[line], line))[:MOST_LINES_OFFERED]
    return {
        key: Line(key, uuid, external_id, role, content, said_at.replace(tzinfo=UTC))
        for key, uuid, external_id, role, content, said_at in search.told(persona.pk, best)
    }


def _hidden_lines(window: Iterable[Message], lines: Mapping[int, Line]) -> frozenset[int]:
    return frozenset(line.pk for line in window) & lines.keys()


def _node_offers(ranks: Ranking, teller: Teller, standing: Collection[int]) -> list[Offer]:
    standing_up = [scored for scored in ranks.nodes if not scored.removed and scored.node.id not in standing]
    best = sorted(standing_up, key=lambda scored: (-scored.parts.total, scored.node.id))[:MOST_NODES_OFFERED]
    return [_node_offer(scored, teller.node(scored.node)) for scored in best]


def _node_offer(scored: ScoredNode, text: str) -> Offer:
    return Offer(
        key=scored.node.id,
        is_node=True,
        score=scored.parts.total,
        tokens=tokens(text),
        lines=frozenset(scored.node.evidence),
        rank=(-abs(scored.node.emotional_impact), -scored.node.created_at.timestamp()),
        only_excepted=scored.only_excepted,
        text=text,
    )


def _line_scores(lines: Mapping[int, Line], ranks: Ranking) -> dict[int, float]:
    weight = knobs.relevance_weight()
    return {key: weight * ranks.lines[key] * passages.tells(line.content) for key, line in lines.items()}


def _line_offers(scores: Mapping[int, float], lines: Mapping[int, Line], pool: Pool, teller: Teller) -> list[Offer]:
    offers = []
    for said in pool.sessions.values():
        for place, key in enumerate(said):
            if key not in lines:
                continue
            line = lines[key]
            cost, joined = teller.costs(line)
            offers.append(
                Offer(
                    key=key,
                    is_node=False,
                    score=scores[key],
                    tokens=cost,
                    lines=frozenset([key]),
                    rank=(0.0, -line.created_at.timestamp()),
                    before=said[place - 1] if place else None,
                    after=said[place + 1] if place + 1 < len(said) else None,
                    joined_tokens=joined,
                )
            )
    return offers


def _items(
    persona: Persona, choice: Choice, ranks: Ranking, lines: Mapping[int, Line], teller: Teller
) -> tuple[Item, ...]:
    nodes = {scored.node.id: scored for scored in ranks.nodes}
    evidence = sorted({line for shown in choice.shown for line in shown.best.lines if shown.best.is_node})
    sources = {key: (UUID(uuid_hex), external_id) for key, uuid_hex, external_id in search.names(persona.pk, evidence)}
    return tuple(
        _node_item(nodes[shown.best.key], shown, sources)
        if shown.best.is_node
        else _passage_item(shown, [lines[offer.key] for offer in shown.lines], teller)
        for shown in choice.shown
    )


def _node_item(scored: ScoredNode, shown: Shown, sources: Mapping[int, tuple[UUID, str | None]]) -> Item:
    node = scored.node
    rests_on = [sources[line] for line in node.evidence if line in sources]
    return Item(
        layer="L3" if node.kind == ConceptNode.Kind.EVENT else "L4",
        kind=node.kind,
        uuid=node.uuid,
        external_id=node.external_id,
        messages=tuple(external_id or str(uuid) for uuid, external_id in rests_on),
        message_uuids=tuple(uuid for uuid, _ in rests_on),
        text=shown.best.text,
        said=node.description,
        speaker=None,
        tokens=shown.best.tokens,
        score=round(shown.best.score, 4),
        parts=scored.parts.weighted(),
    )


def _passage_item(shown: Shown, lines: Sequence[Line], teller: Teller) -> Item:
    best = next(line for line in lines if line.id == shown.best.key)
    told = sorted(lines, key=lambda line: (line.created_at, line.id))
    text = teller.passage(told)
    return Item(
        layer="L2",
        kind="passage",
        uuid=best.uuid,
        external_id=best.external_id,
        messages=tuple(line.external_id or str(line.uuid) for line in told),
        message_uuids=tuple(line.uuid for line in told),
        text=text,
        said=best.content,
        speaker=best.role,
        tokens=tokens(text),
        score=round(shown.best.score, 4),
        parts={"relevance": round(shown.best.score, 4)},
    )


def _xray(
    asked: Query,
    pool: Pool,
    ranks: Ranking,
    scores: Mapping[int, float],
    choice: Choice,
    lines: Mapping[int, Line],
    items: Sequence[Item],
    standing: Collection[int],
    budget: int,
    laps: dict[str, float],
) -> XRay:
    return XRay(
        query={
            "lines": len(asked.turns),
            "weights": [round(weight, 4) for weight in asked.weights],
            "words": len(asked.words),
            "script": asked.script,
            "days": pool.window.days.as_json() if pool.window else None,
        },
        arms=[ArmSeen(arm.name, arm.found, round(arm.ms, 2), arm.skipped) for arm in pool.arms],
        candidates=_seen(pool, ranks, scores, choice, lines, standing),
        chosen=[
            ItemSeen(
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
        budget=budget,
        tokens=sum(item.tokens for item in items),
        elapsed_ms=laps,
        empty_reason=xray.empty_reason(pool.node_count + pool.line_count, len(items)),
    )


def _seen(
    pool: Pool,
    ranks: Ranking,
    line_scores: Mapping[int, float],
    choice: Choice,
    lines: Mapping[int, Line],
    standing: Collection[int],
) -> list[CandidateSeen]:
    """What is told of the candidates: the chosen ones, then the best of the others."""
    nodes = {scored.node.id: scored for scored in ranks.nodes}
    verdicts = {(True, key): _verdict(scored, choice, standing) for key, scored in nodes.items()}
    verdicts |= {(False, key): choice.removed.get((False, key), "no_room") for key in lines}
    verdicts |= {(offer.is_node, offer.key): "chosen" for shown in choice.shown for offer in (shown.best, *shown.lines)}
    scores = {(True, key): scored.parts.total for key, scored in nodes.items()}
    scores |= {(False, key): score for key, score in line_scores.items()}
    best = sorted(verdicts, key=lambda one: (verdicts[one] != "chosen", -scores[one], not one[0], one[1]))[:MOST_SEEN]
    return [
        _node_seen(nodes[key], verdicts[True, key])
        if is_node
        else _line_seen(lines[key], line_scores[key], ranks.lines[key], key in pool.lines, verdicts[False, key])
        for is_node, key in best
    ]


def _verdict(scored: ScoredNode, choice: Choice, standing: Collection[int]) -> str:
    if scored.removed:
        return scored.removed
    return "in_prompt" if scored.node.id in standing else choice.removed.get((True, scored.node.id), "no_room")


def _node_seen(scored: ScoredNode, verdict: str) -> CandidateSeen:
    return CandidateSeen(
        id=str(scored.node.uuid),
        layer="L3" if scored.node.kind == ConceptNode.Kind.EVENT else "L4",
        score=round(scored.parts.total, 4),
        parts=scored.parts.as_json(),
        arms=scored.node.arms,
        verdict=verdict,
    )


def _line_seen(line: Line, score: float, relevance: float, by_words: bool, verdict: str) -> CandidateSeen:
    return CandidateSeen(
        id=str(line.uuid),
        layer="L2",
        score=round(score, 4),
        parts={"raw_relevance": round(relevance, 4)},
        arms=("lines",) if by_words else ("neighbourhood",),
        verdict=verdict,
    )


def _unasked(budget: int) -> XRay:
    """Nothing was asked: nothing was looked for."""
    nothing: Sequence[Any] = ()
    return XRay({"lines": 0}, nothing, nothing, nothing, budget, 0, {}, "everything_filtered")
