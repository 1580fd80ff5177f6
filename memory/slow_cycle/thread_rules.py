"""Decide by rule which memories belong to one matter. Pure.

Two memories belong to one matter if they are near in time, are not about different people, and mention the same ongoing
matter (`echovessel.language.courses`), confirmed by a shared word, by the same people, or by similarity; without such a
matter, if they share two significant words, are similar, and something is open. A memory joins a thread if it belongs
to one matter with half of its last members. A new thread needs three memories of two days. These rules serve
installations without a model, so they err towards joining nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language.courses import matters_in, tells_an_end
from memory import knobs
from memory.curation.restatements import telling_words
from memory.models import ConceptNode, Thread

MIN_NEW = 3
MIN_SHARED = 2
LAST_MEMBERS = 6
MIN_COSINE = 0.3  # the least cosine between a new memory and an earlier one that is shown


@dataclass(frozen=True, eq=False)
class MemoryFeatures:
    """The features of a memory: its day, its people, its significant words, its matters, whether something is open, and
    its vector (NaN if it has none)."""

    key: int
    text: str
    day: date
    recorded_on: date
    people: frozenset[Any]
    words: frozenset[str]
    matters: frozenset[str]
    is_awaited: bool
    vector: np.ndarray


@dataclass(frozen=True)
class Proposal:
    """Memories, by key, that begin a thread, or continue the one with this key. `texts` are the texts of all its
    members, oldest first."""

    thread: int | None
    members: Sequence[int]
    texts: Sequence[str]
    state: str


def features_of(
    node: ConceptNode, day: date, recorded_on: date, people: Iterable[Any], names: frozenset[str], vector: np.ndarray
) -> MemoryFeatures:
    """The features of a node. `names` are the words of the names of owner and persona."""
    return MemoryFeatures(
        node.pk,
        node.description,
        day,
        recorded_on,
        frozenset(people),
        frozenset(telling_words(node.description, names)),
        frozenset(matters_in(node.description)),
        bool(node.plan_state) or day > recorded_on,
        vector,
    )


def is_one_matter(first: MemoryFeatures, other: MemoryFeatures) -> bool:
    """Whether two memories belong to one matter."""
    if abs((first.day - other.day).days) > knobs.thread_gap_days():
        return False
    if first.people and other.people and first.people.isdisjoint(other.people):
        return False
    shared = first.words & other.words
    if first.matters & other.matters:
        return bool(shared) or (bool(first.people) and first.people == other.people) or _are_alike(first, other)
    is_awaited = first.is_awaited or other.is_awaited
    return is_awaited and len(shared) >= MIN_SHARED and _are_alike(first, other)


def likeness(first: MemoryFeatures, other: MemoryFeatures) -> float:
    """The cosine of two memories on the scale of the bundled model; 0 if one has no vector."""
    return float(embedding.scale().comparable("texts", float(np.nan_to_num(first.vector @ other.vector))))


def _are_alike(first: MemoryFeatures, other: MemoryFeatures) -> bool:
    return likeness(first, other) >= knobs.thread_cosine()


def propose(
    fresh: Sequence[MemoryFeatures], earlier: Sequence[MemoryFeatures], threads: Mapping[int, Sequence[MemoryFeatures]]
) -> list[Proposal]:
    """The threads that fresh memories continue or begin, also with `earlier` memories that are in no thread. `threads`
    holds the last members of each thread, oldest first."""
    continued: dict[int, list[MemoryFeatures]] = {}
    loose: list[MemoryFeatures] = []
    for memory in (*fresh, *earlier):
        # An earlier memory, such as a plan, joins only threads that a fresh one continues.
        thread_keys = threads if memory in fresh else continued
        fits = {key: _share_alike(memory, [*threads[key], *continued.get(key, ())]) for key in thread_keys}
        best = max(fits, key=lambda key: fits[key], default=None)
        if best is not None and fits[best] >= 0.5:
            continued.setdefault(best, []).append(memory)
        elif memory in fresh:
            loose.append(memory)
    earlier = [memory for memory in earlier if not any(memory in added for added in continued.values())]
    proposals = [
        Proposal(
            key,
            [features.key for features in added],
            [features.text for features in (*threads[key], *added)],
            _state(added),
        )
        for key, added in continued.items()
    ]
    candidates = sorted([*earlier, *loose], key=lambda features: (features.day, features.key))
    for memory in loose:
        if memory not in candidates:
            continue
        members = [memory]
        for candidate in candidates:
            if (
                candidate is not memory
                and _share_alike(candidate, members) >= 0.5
                and is_one_matter(candidate, members[0])
            ):
                members.append(candidate)
        if len(members) >= MIN_NEW and len({features.recorded_on for features in members}) > 1:
            members.sort(key=lambda features: (features.day, features.key))
            candidates = [features for features in candidates if features not in members]
            keys, texts = [features.key for features in members], [features.text for features in members]
            proposals.append(Proposal(None, keys, texts, _state(members)))
    return proposals


def _share_alike(memory: MemoryFeatures, members: Sequence[MemoryFeatures]) -> float:
    last = members[-LAST_MEMBERS:]
    return sum(is_one_matter(memory, member) for member in last) / len(last) if last else 0.0


def _state(members: Sequence[MemoryFeatures]) -> str:
    """Ended if the newest memory says so."""
    newest = max(members, key=lambda features: (features.day, features.key))
    return Thread.State.ENDED if tells_an_end(newest.text) else Thread.State.OPEN


def nearness(memory: MemoryFeatures, events: Sequence[MemoryFeatures]) -> float:
    """How near an earlier memory is to one of the events; one that belongs to the same matter ranks first. 0 if it is
    near none."""
    best = max((likeness(memory, event) for event in events), default=0.0)
    is_same_matter = any(is_one_matter(memory, event) for event in events)
    return is_same_matter + best if is_same_matter or best >= MIN_COSINE else 0.0
