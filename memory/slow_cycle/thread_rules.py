"""Which memories are of one matter, by rule. Pure.

Two memories are of one matter where they lie near each other in time, are not about different people, and speak of the
same thing that takes its course (`echovessel.language.courses`) by a word that they share, by the same people, or by
likeness; without such a thing, where they share two telling words, are alike, and something is awaited. A memory joins
a thread where it is of one matter with half of its last members. A new thread takes three memories of two days.
It is for where no model is asked, so it errs to the side of joining nothing.
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
MIN_COSINE = 0.3  # an earlier memory that is shown is at least so near to a new one


@dataclass(frozen=True, eq=False)
class Telling:
    """What a memory tells of: its day, whom it is about, its telling words, the matters it speaks of, whether something
    is awaited, and its vector (NaN where it has none)."""

    key: int
    text: str
    day: date
    told: date
    people: frozenset[Any]
    words: frozenset[str]
    matters: frozenset[str]
    is_awaited: bool
    vector: np.ndarray


@dataclass(frozen=True)
class Proposal:
    """Memories, by key, that begin a thread, or continue the one with this key. `texts` are those of all its members,
    oldest first."""

    thread: int | None
    members: Sequence[int]
    texts: Sequence[str]
    state: str


def tell(
    node: ConceptNode, day: date, recorded_on: date, people: Iterable[Any], names: frozenset[str], vector: np.ndarray
) -> Telling:
    """The telling of a node. `names` are the words of the names of owner and persona."""
    return Telling(
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


def is_one_matter(first: Telling, other: Telling) -> bool:
    """Whether two memories are of one matter."""
    if abs((first.day - other.day).days) > knobs.thread_gap_days():
        return False
    if first.people and other.people and first.people.isdisjoint(other.people):
        return False
    shared = first.words & other.words
    if first.matters & other.matters:
        return bool(shared) or (bool(first.people) and first.people == other.people) or _are_alike(first, other)
    is_awaited = first.is_awaited or other.is_awaited
    return is_awaited and len(shared) >= MIN_SHARED and _are_alike(first, other)


def likeness(first: Telling, other: Telling) -> float:
    """The cosine of two memories on the scale of the bundled model; 0 where one has no vector."""
    return float(embedding.scale().comparable("texts", float(np.nan_to_num(first.vector @ other.vector))))


def _are_alike(first: Telling, other: Telling) -> bool:
    return likeness(first, other) >= knobs.thread_cosine()


def propose(
    fresh: Sequence[Telling], earlier: Sequence[Telling], threads: Mapping[int, Sequence[Telling]]
) -> list[Proposal]:
    """What the fresh memories continue or begin, with `earlier` memories that stand in no thread. `threads` holds the
    last members of each thread, oldest first."""
    continued: dict[int, list[Telling]] = {}
    loose: list[Telling] = []
    for memory in (*fresh, *earlier):
        # An earlier memory, such as a plan that was noted meanwhile, joins only what goes on now.
        open_to = threads if memory in fresh else continued
        fits = {key: _share_alike(memory, [*threads[key], *continued.get(key, ())]) for key in open_to}
        best = max(fits, key=lambda key: fits[key], default=None)
        if best is not None and fits[best] >= 0.5:
            continued.setdefault(best, []).append(memory)
        elif memory in fresh:
            loose.append(memory)
    earlier = [memory for memory in earlier if not any(memory in added for added in continued.values())]
    proposals = [
        Proposal(
            key,
            [telling.key for telling in added],
            [telling.text for telling in (*threads[key], *added)],
            _state(added),
        )
        for key, added in continued.items()
    ]
    candidates = sorted([*earlier, *loose], key=lambda telling: (telling.day, telling.key))
    for memory in loose:
        if memory not in candidates:
            continue
        members = [memory]
        for other in candidates:
            if other is not memory and _share_alike(other, members) >= 0.5 and is_one_matter(other, members[0]):
                members.append(other)
        if len(members) >= MIN_NEW and len({telling.told for telling in members}) > 1:
            members.sort(key=lambda telling: (telling.day, telling.key))
            candidates = [telling for telling in candidates if telling not in members]
            keys, texts = [telling.key for telling in members], [telling.text for telling in members]
            proposals.append(Proposal(None, keys, texts, _state(members)))
    return proposals


def _share_alike(memory: Telling, members: Sequence[Telling]) -> float:
    last = members[-LAST_MEMBERS:]
    return sum(is_one_matter(memory, member) for member in last) / len(last) if last else 0.0


def _state(members: Sequence[Telling]) -> str:
    """Ended where the newest says so."""
    newest = max(members, key=lambda telling: (telling.day, telling.key))
    return Thread.State.ENDED if tells_an_end(newest.text) else Thread.State.OPEN


def nearness(memory: Telling, events: Sequence[Telling]) -> float:
    """How near an earlier memory is to one of the events; what is of one matter comes first. 0 for none."""
    best = max((likeness(memory, event) for event in events), default=0.0)
    is_one = any(is_one_matter(memory, event) for event in events)
    return is_one + best if is_one or best >= MIN_COSINE else 0.0
