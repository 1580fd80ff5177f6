"""Recall: the memories and passages that the user's recent messages call up, and why. Read-only; the scope is one
persona, whatever the channel (D4).

  query -> candidates (retrievers) -> scores (ranking) -> shortlist -> (reranker) -> selection (budget) -> items, x-ray
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property, partial
from typing import Any
from uuid import UUID

from chat import search
from chat.models import Message
from echovessel.db.compiled_queries import Query
from echovessel.embeddings import embedding
from echovessel.llm.prompts import tokens
from memory import knobs
from memory.models import ImportJob
from memory.recall import (
    dates,
    details,
    exchanges,
    leads,
    passages,
    query,
    ranking,
    rerank,
    retrievers,
    select,
    snapshot,
)
from memory.recall.query import Meaning
from memory.recall.render import RenderedMessage, RenderedNode, Renderer, format_uuid
from memory.recall.retrievers import Pool
from memory.recall.select import SelectedItem, Selection
from memory.recall.shortlist import MIN_ITEM_TOKENS, Shortlist, build_shortlist, read_checked_messages
from memory.recall.xray import CandidateRecord, ItemRecord, XRay
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from memory.store.calibration import FEEDBACK_NODES
from persona.models import Persona

__all__ = ["Item", "Meaning", "Recall", "prepare", "recall"]

# The uuid (hex) and the archive id of each message, by primary key.
Names = Mapping[int, tuple[str, str | None]]
# Limit of candidates in an x-ray: enough for all that matter, without storing a megabyte per turn.
MAX_XRAY_CANDIDATES = 100
MAX_THREAD_TOKENS = 16
# While an import is in one of these states, memory changes constantly.
CHANGING = (ImportJob.Status.WRITING, ImportJob.Status.REMEMBERING)
_changing_imports: Query[tuple[int]] = Query(
    lambda persona: (
        ImportJob.objects.filter(persona=persona, status__in=CHANGING).exclude(holder="").values_list("pk")[:1]
    )
)


@dataclass(frozen=True)
class Item:
    """One recalled item. `text` is what the model reads; `content` is the same without date and speaker; `age` is in
    words. `read_evidence` returns the uuid (hex) and the archive id of each message whose words the item shows: the
    evidence of a node, the messages of a passage. `lead` is set on items that answer the question first: the state of
    the thread, or "feeling". `subject` is the person a node is about."""

    layer: str
    kind: str
    uuid_hex: str
    external_id: str | None
    text: str
    content: str
    age: str
    speaker: str | None
    tokens: int
    score: float
    lead: str = field(default="", kw_only=True)
    subject: str = field(default="", kw_only=True)
    created_at: datetime = field(kw_only=True)
    read_evidence: Callable[[], Sequence[tuple[str, str | None]]] = field(compare=False, repr=False)
    weigh_parts: Callable[[], Mapping[str, float]] = field(compare=False, repr=False)

    @classmethod
    def of_node(cls, item: SelectedItem, shortlist: Shortlist, names: Callable[[], Names]) -> "Item":
        """An item of a node; `names` returns the uuid and the archive id of each message."""
        node = shortlist.nodes[item.best.key]
        return cls(
            layer=node.layer,
            kind=node.kind,
            uuid_hex=node.uuid_hex,
            external_id=node.external_id,
            text=item.best.text,
            content=node.description,
            age=shortlist.renderer.humanize_node_age(node),
            speaker=None,
            subject=node.subject,
            created_at=node.created_at,
            tokens=item.best.tokens,
            score=round(item.best.score, 4),
            read_evidence=lambda: [names()[key] for key in sorted(item.best.messages) if key in names()],
            weigh_parts=lambda: shortlist.parts[node.id].weighted(),
        )

    @classmethod
    def of_passage(cls, item: SelectedItem, shortlist: Shortlist) -> "Item":
        """An item of a passage: its messages in chronological order, with the score of the best one."""
        best, score = shortlist.messages[item.best.key], round(item.best.score, 4)
        # If the best message is a question, the answer is what matters.
        later = [message for message in item.context if message.created_at > best.created_at]
        shown_message = later[0] if later and passages.is_question(best.content) else best
        return cls(
            layer="L2",
            kind="passage",
            uuid_hex=best.uuid_hex,
            external_id=best.external_id,
            text=item.text,
            content=shown_message.content,
            age=shortlist.renderer.humanize_message_age(shown_message),
            speaker=shown_message.role,
            created_at=shown_message.created_at,
            tokens=item.tokens,
            score=score,
            read_evidence=lambda: [
                (message.uuid_hex, message.external_id)
                for message in exchanges.in_order_of_time(item, shortlist.messages)
            ],
            weigh_parts=lambda: {"relevance": score},
        )

    @property
    def uuid(self) -> UUID:
        return UUID(self.uuid_hex)

    @cached_property
    def evidence(self) -> Sequence[tuple[str, str | None]]:
        return self.read_evidence()

    @cached_property
    def parts(self) -> Mapping[str, float]:
        return self.weigh_parts()

    @property
    def messages(self) -> tuple[str, ...]:
        """The archive ids of the messages whose words the item shows."""
        return tuple(external_id or format_uuid(uuid_hex) for uuid_hex, external_id in self.evidence)

    @property
    def message_uuids(self) -> tuple[UUID, ...]:
        return tuple(UUID(uuid_hex) for uuid_hex, _ in self.evidence)

    def as_json(self) -> dict[str, Any]:
        """The item as a result record (design/archive.md)."""
        return {
            "layer": self.layer,
            "kind": self.kind,
            "id": format_uuid(self.uuid_hex),
            "external_id": self.external_id,
            "messages": list(self.messages),
            "text": self.text,
            "tokens": self.tokens,
            "score": self.score,
            "parts": dict(self.parts),
        }

    def as_record(self) -> ItemRecord:
        """The item in an x-ray: ids instead of words."""
        return ItemRecord(
            id=format_uuid(self.uuid_hex),
            layer=self.layer,
            kind=self.kind,
            speaker=self.speaker,
            messages=tuple(format_uuid(uuid_hex) for uuid_hex, _ in self.evidence),
            score=self.score,
            parts=dict(self.parts),
            tokens=self.tokens,
        )


@dataclass(frozen=True)
class Recall:
    """The recalled items, best first, and their x-ray. The x-ray is built on first access, from the numbers of the
    selection, so that no reply waits for it."""

    items: tuple[Item, ...]
    explain: Callable[[], XRay] = field(compare=False, repr=False)

    @cached_property
    def xray(self) -> XRay:
        return self.explain()


def prepare(persona_id: int) -> None:
    """Load what recall searches into memory, as of now. Off the hot path: it may take seconds. Skipped while a worker
    writes or consolidates an import, because it would be out of date by the next turn."""
    vectors.space(persona_id)
    if not _changing_imports(persona_id):
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
    """Recall for `turns`, the user's recent messages (oldest first, the last one current).

    At most `budget_tokens` in all. Not repeated are the messages of `window`, and the nodes whose ids
    `already_in_prompt` returns; it receives the meaning of the query, on which it can depend. The same input gives the
    same output. Without an embedding model the dense retriever is skipped, and the x-ray records that.
    """
    clock = _Clock()
    names = (persona.name, persona.user_display_name)
    question = query.build_query(turns, knobs.turn_decay(), names, partial(retrievers.names_somebody, persona))
    if not question.turns:
        return Recall((), lambda: XRay({"lines": 0}, [], [], [], budget_tokens, 0, {}, "nothing_asked"))
    model = follow()
    meaning, skip_reason = None, ""
    try:
        meaning = query.meaning(question)
    except embedding.EmbeddingUnavailable as error:
        skip_reason = str(error)
    clock.lap("embed")
    k = max(4 * knobs.retrieve_k(), 40, budget_tokens // MIN_ITEM_TOKENS)
    days = None if question.is_general else dates.read_window(question.turns, now, persona.zone)
    pool = retrievers.gather(persona, question, meaning, k, skip_reason, days)
    expect(model)
    clock.lap("search")
    tuning = ranking.tuning(question)
    if meaning:
        pool = retrievers.sharpen(pool, meaning, ranking.best(pool, tuning, FEEDBACK_NODES))
    ranks = ranking.rank(pool, question, now, tuning)
    shortlist = build_shortlist(
        persona, question, pool, ranks, Renderer.of(persona, now), already_in_prompt(meaning), budget_tokens
    )
    candidates, rerank_records = rerank.rerank(shortlist.candidates, question)
    in_window = frozenset(message.pk for message in window)
    selection = select.select_within_budget(
        leads.lift(candidates, pool.leads),
        budget_tokens,
        window=in_window,
        longest_passage=knobs.passage_lines(),
        fall_off=knobs.fall_off(),
    )

    def read_current(ids: Sequence[int]) -> dict[int, RenderedMessage]:
        messages, no_answers = read_checked_messages(persona, ids, shortlist.renderer, pool)
        return {key: message for key, message in messages.items() if key not in no_answers}

    selection = exchanges.complete_exchanges(
        leads.put_first(selection, pool.leads),
        shortlist.messages,
        read_current,
        shortlist.renderer,
        budget_tokens,
        in_window
        | {key for (is_node, key), why in shortlist.removed.items() if not is_node and why in ("outdated", "request")},
    )
    evidence = sorted({message for item in selection.items for message in item.best.messages if item.best.is_node})
    ids_of = cache(lambda: {key: (uuid_hex, of) for key, uuid_hex, of in search.names(persona.pk, evidence)})
    items = tuple(
        Item.of_node(item, shortlist, ids_of) if item.best.is_node else Item.of_passage(item, shortlist)
        for item in selection.items
    )
    items = _with_threads(items, selection, shortlist, pool, budget_tokens)
    clock.lap("rank")

    def explain() -> XRay:
        stored_count = pool.node_count + max(0, pool.message_count - len(in_window))
        return XRay(
            query={
                "lines": len(question.turns),
                "weights": [round(weight, 4) for weight in question.weights],
                "words": len(question.words),
                "script": question.script,
                "days": pool.window.days.as_json() if pool.window else None,
            },
            arms=[*pool.retrievers, *rerank_records],
            candidates=_candidate_records(persona, shortlist, selection),
            chosen=[item.as_record() for item in items],
            budget=budget_tokens,
            tokens=sum(item.tokens for item in items),
            elapsed_ms=clock.laps,
            empty_reason="" if items else "everything_filtered" if stored_count else "nothing_stored",
        )

    return Recall(items, explain)


def _with_threads(
    items: tuple[Item, ...], selection: Selection, shortlist: Shortlist, pool: Pool, budget: int
) -> tuple[Item, ...]:
    """The items. The first item of each thread shows the thread's title, if that costs few tokens and the budget has
    them left."""
    tokens_left = budget - sum(item.tokens for item in items)
    threads, titled_items = set[int](), list[Item]()
    for item, selected in zip(items, selection.items, strict=True):
        node = shortlist.nodes.get(selected.best.key) if selected.best.is_node else None
        if node is not None and node.thread_id and node.thread_id not in threads:
            threads.add(node.thread_id)
            is_about_thread = node.thread_id == pool.leads.thread
            note = shortlist.renderer.thread_note(node, with_state=is_about_thread)
            cost = tokens(note)
            is_title_in_text = not is_about_thread and node.thread_title.casefold() in node.description.casefold()
            if cost <= min(tokens_left, MAX_THREAD_TOKENS) and not is_title_in_text:
                tokens_left -= cost
                item = replace(item, text=f"{item.text}{note}", tokens=item.tokens + cost)
        if node is not None and node.id in pool.leads.nodes:
            item = replace(item, lead=node.thread_state if pool.leads.thread else pool.leads.retriever)
        titled_items.append(item)
    return tuple(titled_items)


class _Clock:
    """Milliseconds by step."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.started_at = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self.started_at) * 1000, 2)
        self.started_at = now


def _candidate_records(persona: Persona, shortlist: Shortlist, selection: Selection) -> list[CandidateRecord]:
    """The candidates of the x-ray: the selected ones, then the best others. Nodes deleted meanwhile are left out."""
    chosen_keys = {(part.is_node, part.key) for item in selection.items for part in (item.best, *item.passage)}
    rules = {**shortlist.removed, **selection.removed}
    missing = details.node_rows(persona.pk, sorted(shortlist.parts.keys() - shortlist.nodes.keys()))
    nodes = {**shortlist.nodes, **{row[0]: RenderedNode(*row) for row in missing}}
    other_names = search.names(persona.pk, sorted(shortlist.scores.keys() - shortlist.messages.keys()))
    uuids = {key: message.uuid_hex for key, message in shortlist.messages.items()}
    uuids |= {key: uuid_hex for key, uuid_hex, _ in other_names}
    scores = {(True, key): parts.total for key, parts in shortlist.parts.items() if key in nodes}
    scores |= {(False, key): score for key, score in shortlist.scores.items() if key in uuids}
    best = sorted(scores, key=lambda key: (key not in chosen_keys, -scores[key], not key[0], key[1]))
    keys_by_retriever = [(name, set(ids)) for name, ids in shortlist.pool.nodes_by_retriever.items()]
    keys_by_words = set(shortlist.pool.messages.ids.tolist())
    records = []
    for is_node, key in best[:MAX_XRAY_CANDIDATES]:
        verdict = "chosen" if (is_node, key) in chosen_keys else rules.get((is_node, key), "no_room")
        if is_node:
            node, parts = nodes[key], shortlist.parts[key].as_json()
            uuid_hex, layer, retriever_names = (
                node.uuid_hex,
                node.layer,
                tuple(sorted(name for name, ids in keys_by_retriever if key in ids)),
            )
        else:
            uuid_hex, layer, parts = uuids[key], "L2", {"raw_relevance": round(shortlist.relevance[key], 4)}
            retriever_names = ("lines",) if key in keys_by_words else ("neighbourhood",)
        score = round(scores[is_node, key], 4)
        records.append(CandidateRecord(format_uuid(uuid_hex), layer, score, parts, retriever_names, verdict))
    return records
