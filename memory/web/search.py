"""Search in memories and messages for their owner: by words, by meaning, by filters. Newest first, page by page.

Memories of every state are found: hidden, superseded and archived ones too, which recall never sees.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from django.db import connection
from django.db.models import Q

from chat import search
from chat.models import Message
from chat.models.message import MessageQuerySet
from echovessel.db.sqlite.substrings import SubstringIndex
from echovessel.embeddings import embedding
from echovessel.language.fact_domains import aspects_asked, is_told_in
from echovessel.language.feelings import feelings_in
from memory.consolidation import open_items
from memory.forgetting.registry import among
from memory.models import ConceptNode
from memory.models.node import NodeQuerySet
from memory.recall import scoring
from memory.store import vectors
from memory.store.active_model import expect, follow, with_one_model
from persona.models import Persona

Row = TypeVar("Row")
Status = ConceptNode.Status

MAX_INDEXED = 2_000  # limit of rows from the index
MAX_FEELINGS_CHECKED = 5_000  # the newest memories whose feelings are read
MAX_DOMAINS_CHECKED = 2_000  # the newest memories that are checked for their domain of life
MAX_INACTIVE = 2_000  # memories that recall does not search; the newest are compared by meaning
HEAVY, LIGHT = 6, 2
EXCERPT_BEFORE, EXCERPT_AFTER = 50, 120  # characters


@dataclass(frozen=True)
class Filters:
    """Filters of memories. Empty and None filter nothing; `entity` is a key; `weight` one of WEIGHTS; `feeling` one of
    `language.feelings.FEELINGS` or an emotion tag. `since` and `until` are days: those that a memory is about, or else
    the day it was created."""

    kind: str = ""
    tag: str = ""
    feeling: str = ""
    entity: int | None = None
    status: str = ""
    verification: str = ""
    outcome: str = ""
    weight: str = ""
    pinned: bool = False
    since: date | None = None
    until: date | None = None


WEIGHTS = {
    "heavy": Q(emotional_impact__gte=HEAVY) | Q(emotional_impact__lte=-HEAVY),
    "glad": Q(emotional_impact__gt=LIGHT),
    "sad": Q(emotional_impact__lt=-LIGHT),
    "light": Q(emotional_impact__gte=-LIGHT, emotional_impact__lte=LIGHT),
}


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows, and whether more follow."""

    rows: list[Row]
    has_more: bool


def filter_nodes(persona: Persona, filters: Filters) -> NodeQuerySet:
    """A persona's memories that match `filters`."""
    columns = ("kind", "status", "verification", "pinned")
    equal = {name: value for name in columns if (value := getattr(filters, name))}
    nodes = ConceptNode.objects.of(persona).filter(WEIGHTS.get(filters.weight, Q()), **equal)
    if filters.outcome:
        nodes = nodes.filter(outcome=filters.outcome, kind__in=open_items.KINDS)
    if filters.entity is not None:
        nodes = nodes.filter(mentions__entity=filters.entity)
    if filters.tag:
        quoted = f'"{filters.tag}"'
        nodes = nodes.filter(Q(relational_tags__icontains=quoted) | Q(emotion_tags__icontains=quoted))
    if filters.feeling:
        nodes = filter_by_feeling(nodes, filters.feeling)
    condition = Q()
    if filters.since is not None:
        condition &= Q(event_time_end__gte=filters.since) | Q(
            event_time_start=None, created_at__gte=_midnight(persona, filters.since)
        )
    if filters.until is not None:
        condition &= Q(event_time_start__lte=filters.until) | Q(
            event_time_start=None, created_at__lt=_midnight(persona, filters.until + timedelta(days=1))
        )
    return nodes.filter(condition)


def filter_by_feeling(nodes: Any, feeling: str) -> Any:
    """Nodes whose tags express the feeling or are that word; without tags, whose text expresses it. Only the newest
    nodes that have a feeling are checked."""
    nodes_with_feeling = nodes.exclude(emotion_tags=[], emotional_impact=0).order_by("-pk")[:MAX_FEELINGS_CHECKED]
    feeling_folded = feeling.casefold()
    keys = [
        key
        for key, tags, words in nodes_with_feeling.values_list("pk", "emotion_tags", "description")
        if feeling_folded in map(str.casefold, tags) or feeling_folded in feelings_in(". ".join(tags) or words)
    ]
    return nodes.filter(pk__in=among(keys))


def search_by_words(
    persona: Persona, text: str, filters: Filters, before: ConceptNode | None = None, limit: int = 30
) -> Page[ConceptNode]:
    """The memories that contain `text` anywhere, in any case; all that match the filters if it is empty."""
    nodes = filter_nodes(persona, filters)
    if needle := text.strip():
        nodes = _filter_containing(nodes, vectors.SUBSTRINGS, persona, needle)
    if before is not None:
        nodes = nodes.before(before)
    return _page(nodes.newest_first(), limit)


@with_one_model
def search_by_meaning(persona: Persona, text: str, filters: Filters, limit: int = 30) -> list[ConceptNode]:
    """The memories nearest in meaning to `text`, nearest first. No transaction may be open.

    Raises EmbeddingUnavailable.
    """
    matching_nodes = filter_nodes(persona, filters)
    model = follow()
    [vector] = embedding.embed([text], as_query=True)
    # Recall does not search inactive memories: the newest of them are compared one by one.
    others = matching_nodes.exclude(status=Status.ACTIVE).newest_first().values_list("pk", flat=True)[:MAX_INACTIVE]
    distances_of_others = ((pk, float(np.linalg.norm(row - vector))) for pk, row in vectors.of(others).items())
    near = [*vectors.nearest(persona.pk, vector, limit * 4), *distances_of_others]
    limit_distance = scoring.floor_distance()
    distances = {pk: distance for pk, distance in near if distance <= limit_distance}
    expect(model)
    nodes = {node.pk: node for node in matching_nodes.filter(pk__in=distances)}
    return sorted(nodes.values(), key=lambda node: (distances[node.pk], -node.pk))[:limit]


def search_by_domain(persona: Persona, text: str, filters: Filters, limit: int = 30) -> list[ConceptNode]:
    """The newest memories of the domain of life that the words name: "my job" finds "I'm a nurse"."""
    aspects = aspects_asked(text)
    rows = filter_nodes(persona, filters).newest_first().values_list("pk", "description") if aspects else ()
    telling_ids = (pk for pk, description in rows[:MAX_DOMAINS_CHECKED] if is_told_in(description, aspects))
    return list(filter_nodes(persona, filters).filter(pk__in=list(islice(telling_ids, limit))).newest_first())


def search_messages(persona: Persona, text: str, before: Message | None = None, limit: int = 30) -> Page[Message]:
    """The messages that contain `text`, including withheld ones and those of other people."""
    messages: MessageQuerySet = Message.objects.filter(persona=persona).exclude(role=Message.Role.SYSTEM, speaker="")
    messages = _filter_containing(messages, search.SUBSTRINGS, persona, text.strip())
    if before is not None:
        messages = messages.before(before)
    return _page(messages.select_related("session", "turn").order_by("-created_at", "-id"), limit)


def excerpt_around(text: str, words: str) -> tuple[str, str, str]:
    """The text before the words, the words as they are written there, and the text after them, shortened.

    >>> excerpt_around("We went to Lisbon in May.", "lisbon")
    ('We went to ', 'Lisbon', ' in May.')
    """
    flat = " ".join(text.split())
    at = max(0, flat.casefold().find(" ".join(words.split()).casefold()))
    end = min(len(flat), at + len(" ".join(words.split())))
    before, after = flat[max(0, at - EXCERPT_BEFORE) : at], flat[end : end + EXCERPT_AFTER]
    return (
        before if at <= EXCERPT_BEFORE else f"…{before}",
        flat[at:end],
        after if end + EXCERPT_AFTER >= len(flat) else f"{after}…",
    )


def _midnight(persona: Persona, day: date) -> datetime:
    return datetime.combine(day, time.min, persona.zone)


def _filter_containing(rows: Any, index: SubstringIndex, persona: Persona, needle: str) -> Any:
    """Those of a persona's `rows` that contain `needle`. If it occurs nearly everywhere, the rows themselves are
    searched, newest first."""
    keys = index.find(connection, needle, MAX_INDEXED + 1, scope=persona.pk)
    if len(keys) > MAX_INDEXED:
        return rows.filter(**{f"{index.column}__icontains": needle})
    return rows.filter(pk__in=keys)


def _page(rows: Any, limit: int) -> Page[Any]:
    page = list(rows[: limit + 1])
    return Page(page[:limit], len(page) > limit)
