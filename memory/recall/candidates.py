"""The arms of recall: what could be meant, found inside one persona's indexes. No arm knows a channel (D4).

    dense     nodes near the query's vector
    lexical   nodes that hold its words
    evidence  nodes that rest on lines that hold its words
    entity    nodes that mention somebody who is named
    time      nodes of the days that are asked about, and the talks of those days
    lines     messages that hold its words, and the talks around them

What may not be recalled is left out here: nodes that are not active, messages that are withheld or off the record.
"""

import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import accumulate, chain
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from chat import search
from memory import vectors
from memory.recall import lexical, reading
from memory.recall.lexical import Held
from memory.recall.query import UNSPACED, Query
from memory.recall.time_window import Window
from persona.models import Persona

# A word that more rows hold than this is common; its exact count does not matter any more.
COMMON = 1_000
# The rarest words are looked at first; when their rows are this many, the others can hardly change who is best.
MOST_ROWS = 8_000
MOST_LINES = 200
SPARE = 8
MOST_TALKS = 30
MOST_TALKS_IN_WINDOW = 10
LONGEST_ALIAS_WORDS = 5
LONGEST_ALIAS_CHARACTERS = 8
LEAST_ALIAS_CHARACTERS = 2
MOST_CHARACTERS = 600
# The node nearest to one line is among these nearest to all of them together.
MOST_LIKELY = 40
MOST_MENTIONS = 200
NOTHING_HELD = Held({}, 0)
_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = re.compile(f"{UNSPACED.pattern}+")


class Node(NamedTuple):
    """What recall needs to know of a node. (Hundreds are made in each turn; a dataclass takes five times as long.)"""

    id: int
    uuid_hex: str
    external_id: str | None
    kind: str
    description: str
    emotional_impact: int
    is_relational: bool
    confidence: float
    event_day: date | None
    created_at: datetime
    session_id: int | None
    disputed: bool
    distance: float | None = None
    text: Held = NOTHING_HELD
    evidence: tuple[int, ...] = ()
    anchored: bool = False
    in_window: bool = False
    arms: tuple[str, ...] = ()

    @property
    def uuid(self) -> UUID:
        return UUID(self.uuid_hex)


@dataclass
class Arm:
    """What an arm found and how long it took."""

    name: str
    found: int = 0
    ms: float = 0.0
    skipped: str = ""


@dataclass
class Pool:
    """All candidates of one recall. `found` says by which arms each node was, `near` how far those lie that are so by
    their vector; `load` reads the rest."""

    found: Mapping[int, set[str]] = field(default_factory=dict)
    near: Mapping[int, float] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    node_frequencies: Mapping[str, int] = field(default_factory=dict)
    node_count: int = 0
    sessions: Mapping[int, list[int]] = field(default_factory=dict)
    session_of: Mapping[int, int] = field(default_factory=dict)
    lines: Mapping[int, Held] = field(default_factory=dict)
    line_frequencies: Mapping[str, int] = field(default_factory=dict)
    line_count: int = 0
    arms: list[Arm] = field(default_factory=list)
    window: Window | None = None
    talks_in_window: Sequence[int] = ()
    closest: float | None = None

    @contextmanager
    def arm(self, name: str) -> Iterator[Arm]:
        arm = Arm(name)
        started = time.perf_counter()
        yield arm
        arm.ms = (time.perf_counter() - started) * 1000
        self.arms.append(arm)


def gather(
    persona: Persona,
    query: Query,
    vector: np.ndarray | None,
    k: int,
    why_not: str = "",
    window: Window | None = None,
) -> Pool:
    """Everything of `persona` that could answer `query`; each arm gives at most about `k`.

    `vector` is the query's, or None where nothing could be embedded; `why_not` then says why. `window` are the days
    that are asked about.
    """
    pool = Pool(window=window, node_count=vectors.count(persona.pk), line_count=search.count(persona.pk))
    found: dict[int, set[str]] = defaultdict(set)
    with pool.arm("dense") as arm:
        arm.skipped = why_not
        near = dict(vectors.nearest(persona.pk, vector, k)) if vector is not None else {}
        _noted(found, near, arm)
    with pool.arm("lexical") as arm:
        _noted(found, _find_by_words(persona, query, pool, k), arm)
    with pool.arm("entity") as arm:
        _noted(found, _mentioning(persona, entities_named(persona, query.turns)), arm)
    with pool.arm("time") as arm:
        if window:
            _noted(found, reading.within(persona.pk, window.days, window.since, window.until, k), arm)
            pool.talks_in_window = search.talks_between(persona.pk, window.since, window.until, MOST_TALKS_IN_WINDOW)
    with pool.arm("lines") as arm:
        _find_lines(persona, query, pool)
        arm.found = len(pool.lines)
    with pool.arm("evidence") as arm:
        _noted(found, reading.resting_on(persona.pk, list(pool.lines), 2 * k), arm)
    pool.found, pool.near = found, near
    return pool


def load(persona: Persona, query: Query, pool: Pool, vector: np.ndarray | None) -> None:
    """Read what ranking needs of what was found."""
    pool.nodes = _loaded(persona, query, pool, vector)
    _find_talks(persona, pool)


def telling_words(weights: Mapping[str, float], frequencies: Mapping[str, int]) -> list[str]:
    """The words that occur at all, the rarest first, without those that are common, as long as rarer ones remain, and
    as far as they are held by MOST_ROWS rows together."""
    known = sorted((word for word in weights if frequencies.get(word)), key=lambda word: frequencies[word])
    rarer = [word for word in known if frequencies[word] < COMMON] or known
    rows = accumulate((frequencies[word] for word in rarer), initial=0)
    return [word for word, before in zip(rarer, rows, strict=False) if before < MOST_ROWS]


def _find_by_words(persona: Persona, query: Query, pool: Pool, k: int) -> list[int]:
    holding = vectors.holding(persona.pk, list(query.words), COMMON)
    pool.node_frequencies = {word: len(rows) for word, rows in holding.items()}
    return reading.recallable(persona.pk, _best(query, holding, pool.node_count, k), k)


def _best(query: Query, holding: Mapping[str, np.ndarray], rows: int, most: int) -> list[int]:
    """Rows that hold words of the query, those first whose words are worth most together. There may be some among them
    that recall may not show, so they are more than `most`."""
    frequencies = {word: len(held) for word, held in holding.items()}
    worth = {word: query.words[word] * lexical.rarity(frequencies[word], rows) for word in holding}
    telling = telling_words(query.words, frequencies)
    return lexical.best({word: (worth[word], holding[word]) for word in telling}, SPARE * most)


def _noted(found: dict[int, set[str]], nodes: Iterable[int], arm: Arm) -> None:
    for node in nodes:
        found[node].add(arm.name)
        arm.found += 1


def entities_named(persona: Persona, turns: Sequence[str]) -> list[int]:
    """Ids of the persona's entities whose name or alias occurs in `turns`: a look-up of every run of words that could
    be one, not a scan of every alias."""
    return reading.entities_called(persona.pk, sorted(possible_names("\n".join(turns)[-MOST_CHARACTERS:])))


def possible_names(text: str) -> set[str]:
    """Every run of `text` that could be a name, in the form in which aliases are stored: whole words where words are
    spaced, at least two characters where they are not.

    >>> sorted(possible_names("Is Mary Ann?")), sorted(possible_names("小黑呢"))
    (['ann', 'is', 'ismary', 'ismaryann', 'mary', 'maryann'], ['小黑', '小黑呢', '黑呢'])
    """
    runs: set[str] = set()
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = _WORD.findall(UNSPACED.sub(" ", folded))
    for start in range(len(spaced)):
        runs.update("".join(spaced[start:end]) for end in _ends(start, len(spaced), LONGEST_ALIAS_WORDS))
    for run in _UNSPACED_RUN.findall(folded):
        for start in range(len(run)):
            ends = _ends(start, len(run), LONGEST_ALIAS_CHARACTERS)[LEAST_ALIAS_CHARACTERS - 1 :]
            runs.update(run[start:end] for end in ends)
    return runs


def _ends(start: int, length: int, longest: int) -> range:
    return range(start + 1, min(length, start + longest) + 1)


def _mentioning(persona: Persona, entities: Iterable[int]) -> list[int]:
    """Nodes that mention any of `entities`, MOST_MENTIONS of each."""
    each = (reading.mentioning(persona.pk, entity, MOST_MENTIONS) for entity in entities)
    return list(dict.fromkeys(chain.from_iterable(each)))


def _find_lines(persona: Persona, query: Query, pool: Pool) -> None:
    holding = search.holding(persona.pk, list(query.words), COMMON)
    pool.line_frequencies = {word: len(rows) for word, rows in holding.items()}
    best = _best(query, holding, pool.line_count, MOST_LINES)
    rows = search.bodies(persona.pk, best, MOST_LINES)
    pool.session_of = {message: session for message, session, _ in rows}
    pool.lines = {message: lexical.held(body, query.words) for message, _, body in rows}


def _loaded(persona: Persona, query: Query, pool: Pool, vector: np.ndarray | None) -> list[Node]:
    """The nodes that were found, with exact distance, words and evidence, by id."""
    others = [node for node in pool.found if node not in pool.near]
    distances = dict(pool.near) | (vectors.distances(persona.pk, others, vector) if vector is not None else {})
    rows = reading.nodes(persona.pk, list(pool.found))
    return [_node(row, query, distances.get(row[0]), pool.found[row[0]]) for row in rows]


def _node(row: Sequence[Any], query: Query, distance: float | None, arms: set[str]) -> Node:
    key, uuid, external_id, kind, description, impact, is_relational, confidence, day, *rest = row
    created_at, session_id, disputed, body, evidence = rest
    return Node(
        key,
        uuid,
        external_id,
        kind,
        description,
        impact,
        is_relational,
        confidence,
        day,
        created_at=created_at.replace(tzinfo=UTC),
        session_id=session_id,
        disputed=bool(disputed),
        distance=distance,
        text=lexical.held(body or "", query.words),
        evidence=tuple(sorted(set(map(int, evidence.split(","))))) if evidence else (),
        anchored="entity" in arms,
        in_window="time" in arms,
        arms=tuple(sorted(arms)),
    )


def _find_talks(persona: Persona, pool: Pool) -> None:
    """The lines of the talks that the candidates belong to, in the order they were said."""
    counts = Counter(pool.session_of.values()) + Counter(node.session_id for node in pool.nodes if node.session_id)
    talks = [session for session, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TALKS]]
    pool.sessions = search.talks(persona.pk, sorted({*talks, *pool.talks_in_window}))


def closest(persona: Persona, pool: Pool, lines: np.ndarray) -> float | None:
    """How near the nearest node lies to any one of the query's lines (n, 384); None where no node has a vector."""
    likely = sorted(pool.near, key=lambda node: pool.near[node])[:MOST_LIKELY]
    near = (vectors.distances(persona.pk, likely, line).values() for line in lines)
    return min(chain.from_iterable(near), default=None)
