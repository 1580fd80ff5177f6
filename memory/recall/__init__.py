"""Recall: the memories and passages that the user's recent messages call up, and why. Reads only; scope is one
persona; no channel (D4).

query -> candidates (retrievers) -> scores (ranking) -> shortlist -> selection (budget) -> items and x-ray
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
from echovessel.llm.prompts import tokens
from memory import knobs
from memory.models import ImportJob
from memory.recall import dates, exchanges, passages, query, ranking, retrievers, select, shortlist, snapshot
from memory.recall.query import Meaning
from memory.recall.render import Renderer, format_uuid
from memory.recall.retrievers import Pool
from memory.recall.select import SelectedItem, Selection
from memory.recall.shortlist import Shortlist
from memory.recall.xray import CandidateRecord, EmptyReason, ItemRecord, XRay
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from memory.store.calibration import FEEDBACK_NODES
from persona.models import Persona

__all__ = ["Item", "Meaning", "Recall", "prepare", "recall"]

# The x-ray keeps this many candidates: all that matter, and not a megabyte in every turn.
MAX_XRAY_CANDIDATES = 100
# An import in these states changes memory from moment to moment.
CHANGING = (ImportJob.Status.WRITING, ImportJob.Status.REMEMBERING)


@dataclass(frozen=True)
class Item:
    """One recollection. `messages` are the archive ids of the messages whose words it shows: of a node its evidence,
    of a passage its messages. `text` is what the model reads; `said` the same without date and speaker; `when` how long
    ago it was, as people say it."""

    layer: str
    kind: str
    uuid: UUID
    external_id: str | None
    messages: tuple[str, ...]
    message_uuids: tuple[UUID, ...]
    text: str
    said: str
    when: str
    speaker: str | None
    tokens: int
    score: float
    parts: Mapping[str, float]

    @classmethod
    def of_node(cls, shown: SelectedItem, offered: Shortlist, ids: Mapping[int, tuple[UUID, str | None]]) -> "Item":
        """A node; `ids` are the uuid and the archive id of each message."""
        node = offered.nodes[shown.best.key]
        evidence = [ids[message] for message in sorted(shown.best.messages) if message in ids]
        return cls(
            layer=node.layer,
            kind=node.kind,
            uuid=UUID(node.uuid_hex),
            external_id=node.external_id,
            messages=tuple(external_id or str(uuid) for uuid, external_id in evidence),
            message_uuids=tuple(uuid for uuid, _ in evidence),
            text=shown.best.text,
            said=node.description,
            when=offered.renderer.when_node(node),
            speaker=None,
            tokens=shown.best.tokens,
            score=round(shown.best.score, 4),
            parts=offered.parts[node.id].weighted(),
        )

    @classmethod
    def of_passage(cls, shown: SelectedItem, offered: Shortlist) -> "Item":
        """A passage: its messages in the order they were written, scored by the best of them."""
        chosen = [offered.messages[candidate.key] for candidate in shown.passage]
        in_order = exchanges.in_order_of_time([*chosen, *shown.context])
        best = offered.messages[shown.best.key]
        # Of a question it is the answer that tells.
        later = [message for message in shown.context if message.created_at > best.created_at]
        teller = later[0] if later and passages.is_question(best.content) else best
        uuids = tuple(UUID(message.uuid_hex) for message in in_order)
        text = offered.renderer.passage(in_order)
        return cls(
            layer="L2",
            kind="passage",
            uuid=UUID(best.uuid_hex),
            external_id=best.external_id,
            messages=tuple(message.external_id or str(uuid) for message, uuid in zip(in_order, uuids, strict=True)),
            message_uuids=uuids,
            text=text,
            said=teller.content,
            when=offered.renderer.when_message(teller),
            speaker=teller.role,
            tokens=tokens(text),
            score=round(shown.best.score, 4),
            parts={"relevance": round(shown.best.score, 4)},
        )

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

    def as_record(self) -> ItemRecord:
        """The item of an x-ray: ids in place of words."""
        return ItemRecord(
            id=str(self.uuid),
            layer=self.layer,
            kind=self.kind,
            speaker=self.speaker,
            messages=tuple(str(uuid) for uuid in self.message_uuids),
            score=self.score,
            parts=dict(self.parts),
            tokens=self.tokens,
        )


@dataclass(frozen=True)
class Recall:
    """The recollections, best first, and the account of them."""

    items: tuple[Item, ...]
    xray: XRay


def prepare(persona_id: int) -> None:
    """Load into memory what recall searches, as the database is now. Off the hot path: it may take seconds. Skipped
    while a worker stores or remembers an import: by the next turn it would be out of date.
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
    already_in_prompt: Callable[[Meaning | None], Collection[int]] = lambda meaning: (),
) -> Recall:
    """What `turns`, the user's recent messages (oldest first, the last one current), call up.

    At most `budget_tokens` in all. Not repeated are the messages of `window`, and the nodes whose ids
    `already_in_prompt` returns; it receives the meaning of the query, so that it can depend on that. The same input
    gives the same output. Without an embedding model the dense retriever is skipped, and the x-ray says so.
    """
    clock = _Clock()
    question = query.build_query(turns, knobs.turn_decay(), (persona.name, persona.called))
    if not question.turns:
        return Recall((), XRay({"lines": 0}, [], [], [], budget_tokens, 0, {}, "nothing_asked"))
    model = follow()
    meaning, why_not = None, ""
    try:
        meaning = query.meaning(question)
    except embedding.EmbeddingUnavailable as error:
        why_not = str(error)
    clock.lap("embed")
    k = max(4 * knobs.retrieve_k(), 40, budget_tokens // shortlist.MIN_ITEM_TOKENS)
    days = dates.window_asked_for(question.turns, now, persona.zone)
    pool = retrievers.gather(persona, question, meaning, k, why_not, days)
    expect(model)
    clock.lap("search")
    tuning = ranking.tuning(question)
    if meaning:
        pool = retrievers.sharpen(pool, meaning, ranking.best(pool, tuning, FEEDBACK_NODES))
    ranks = ranking.rank(pool, question, now, tuning)
    offered = shortlist.build_shortlist(
        persona, question, pool, ranks, Renderer.of(persona, now), already_in_prompt(meaning), budget_tokens
    )
    in_window = frozenset(message.pk for message in window)
    selection = select.select_within_budget(
        offered.candidates,
        budget_tokens,
        window=in_window,
        longest_passage=knobs.passage_lines(),
        fall_off=knobs.fall_off(),
    )
    selection = exchanges.complete_exchanges(
        selection,
        offered.messages,
        lambda ids: shortlist.read_current_messages(persona, ids, offered.renderer, pool),
        offered.renderer,
        budget_tokens,
        in_window | {key for (is_node, key), why in offered.removed.items() if not is_node and why == "outdated"},
    )
    evidence = sorted({message for item in selection.items for message in item.best.messages if item.best.is_node})
    ids = {key: (UUID(uuid_hex), external_id) for key, uuid_hex, external_id in search.names(persona.pk, evidence)}
    items = tuple(
        Item.of_node(item, offered, ids) if item.best.is_node else Item.of_passage(item, offered)
        for item in selection.items
    )
    clock.lap("rank")
    stored = pool.node_count + max(0, pool.message_count - len(in_window))
    empty_reason: EmptyReason = "" if items else "everything_filtered" if stored else "nothing_stored"
    return Recall(
        items,
        XRay(
            query={
                "lines": len(question.turns),
                "weights": [round(weight, 4) for weight in question.weights],
                "words": len(question.words),
                "script": question.script,
                "days": pool.window.days.as_json() if pool.window else None,
            },
            arms=pool.retrievers,
            candidates=_candidate_records(pool, offered, selection),
            chosen=[item.as_record() for item in items],
            budget=budget_tokens,
            tokens=sum(item.tokens for item in items),
            elapsed_ms=clock.laps,
            empty_reason=empty_reason,
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


def _candidate_records(pool: Pool, offered: Shortlist, selection: Selection) -> list[CandidateRecord]:
    """The candidates of the x-ray: the chosen ones, then the best of the others."""
    chosen = {(part.is_node, part.key) for item in selection.items for part in (item.best, *item.passage)}
    removed = {**offered.removed, **selection.removed}
    scores = {(True, key): parts.total for key, parts in offered.parts.items()}
    scores |= {(False, key): score for key, score in offered.scores.items()}
    best = sorted(scores, key=lambda key: (key not in chosen, -scores[key], not key[0], key[1]))
    found_by_words = set(pool.messages.ids.tolist())
    records = []
    for is_node, key in best[:MAX_XRAY_CANDIDATES]:
        verdict = "chosen" if (is_node, key) in chosen else removed.get((is_node, key), "no_room")
        if is_node:
            node, parts = offered.nodes[key], offered.parts[key].as_json()
            uuid_hex, layer, found_by = node.uuid_hex, node.layer, tuple(sorted(pool.found_by[key]))
        else:
            uuid_hex, layer, parts = (
                offered.messages[key].uuid_hex,
                "L2",
                {"raw_relevance": round(offered.relevance[key], 4)},
            )
            found_by = ("lines",) if key in found_by_words else ("neighbourhood",)
        score = round(scores[is_node, key], 4)
        records.append(CandidateRecord(format_uuid(uuid_hex), layer, score, parts, found_by, verdict))
    return records
