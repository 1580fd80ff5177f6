"""The arms of recall: what could be meant, found inside one persona's indexes. No arm knows a channel (D4).

    dense     nodes near the query's vector
    lexical   nodes that hold its words
    evidence  nodes that rest on lines that hold its words
    entity    nodes that mention somebody who is named
    graph     nodes one step away from the best: by a thought, or by an entity that few mention
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
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain

import numpy as np

from chat import search
from memory.recall import details, lexical, snapshot
from memory.recall.database_rows import DatabaseRows
from memory.recall.passages import Sessions
from memory.recall.query import UNSPACED, Meaning, Query
from memory.recall.rows import LineRows, Memory, NodeRows
from memory.recall.time_window import Window
from memory.store import vectors
from memory.store.corrections import ReplacedText
from memory.store.vector_cache import index_of
from memory.store.vectors import Space
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
MOST_MENTIONS = 200
# The node nearest to the lines without the names is among these nearest to all that is asked.
MOST_LIKELY = 40
# One step is made from the best of each arm, and not by somebody whom everything is about.
HUBS = 5
COMPANY = 8
# How much the best memories have to say beside the query itself.
FEEDBACK = 0.5
_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = re.compile(f"{UNSPACED.pattern}+")


@dataclass(frozen=True, eq=False)
class Nodes(NodeRows):
    """The nodes that were found. `vectors` (n, 384) and `distances` (n,), Euclidean, are NaN where a node has none;
    `anchored` are those that mention somebody who is named, `in_window` those of the days that are asked about.
    `joined` (edges, 3) holds the places of two nodes and how many share what joins them."""

    vectors: np.ndarray
    distances: np.ndarray
    anchored: np.ndarray
    in_window: np.ndarray
    joined: np.ndarray


@dataclass
class Retriever:
    """What an arm found and how long it took."""

    name: str
    found: int = 0
    ms: float = 0.0
    skipped: str = ""


@dataclass(frozen=True, eq=False)
class Pool:
    """All candidates of one recall. `node_worth` and `line_worth` (words,) say what the words of the query are worth
    among the persona's nodes and lines, of which there are `node_count` and `line_count`; `closest` how near the
    nearest node lies to the query's lines without the names; `found` by which arms each node was; `replaced` what was
    put right of the nodes that hold the words."""

    nodes: Nodes
    lines: LineRows
    talks: Sessions
    node_worth: np.ndarray
    line_worth: np.ndarray
    node_count: int
    line_count: int
    window: Window | None
    talks_in_window: Sequence[int]
    closest: float | None
    found: Mapping[int, set[str]]
    replaced: Sequence[ReplacedText]
    arms: Sequence[Retriever]


@dataclass
class _Finds:
    """What the arms have found so far: the arms of each node."""

    by_node: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    arms: list[Retriever] = field(default_factory=list)

    @contextmanager
    def arm(self, name: str, skipped: str = "") -> Iterator[Retriever]:
        arm = Retriever(name, skipped=skipped)
        started = time.perf_counter()
        yield arm
        arm.ms = (time.perf_counter() - started) * 1000
        self.arms.append(arm)

    def note(self, nodes: Iterable[int], arm: Retriever) -> None:
        for node in nodes:
            self.by_node[node].add(arm.name)
            arm.found += 1

    def by(self, arm: str, nodes: Sequence[int]) -> np.ndarray:
        return np.fromiter((arm in self.by_node[node] for node in nodes), dtype=bool, count=len(nodes))


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a query in one index: what each is worth, and the ids of the rows that look best by them."""

    worth: np.ndarray
    rows: int
    best: Sequence[int]


def gather(
    persona: Persona, query: Query, meaning: Meaning | None, k: int, why_not: str = "", window: Window | None = None
) -> Pool:
    """Everything of `persona` that could answer `query`; each arm gives at most about `k`.

    `meaning` is the query's, or None where nothing could be embedded; `why_not` then says why. `window` are the days
    that are asked about.
    """
    memory: Memory = snapshot.of(persona.pk) or DatabaseRows(persona.pk)
    finds, space, words = _Finds(), vectors.space(persona.pk), list(query.words)
    with finds.arm("dense", why_not) as arm:
        near = [node for node, _ in space.nearest(meaning.whole, k)] if meaning else []
        finds.note(near, arm)
    with finds.arm("lexical") as arm:
        held = _weighed(query, memory.nodes_holding(words, COMMON), memory.node_count, k)
        by_words = memory.recallable(held.best, k)
        finds.note(by_words, arm)
    with finds.arm("entity") as arm:
        finds.note(_mentioning(persona, entities_named(persona, query.turns)), arm)
    with finds.arm("time") as arm:
        talks_in_window = _of_the_days(persona, window, k, finds, arm) if window else ()
    with finds.arm("lines") as arm:
        said = _weighed(query, memory.lines_holding(words, COMMON), memory.line_count, MOST_LINES)
        lines = memory.lines(said.best, words, MOST_LINES)
        arm.found = len(lines.ids)
    with finds.arm("evidence") as arm:
        finds.note(memory.resting_on(lines.ids, 2 * k), arm)
    with finds.arm("graph") as arm:
        edges = details.neighbours(persona.pk, sorted({*near[:HUBS], *by_words[:HUBS]}), COMPANY)
        finds.note(dict.fromkeys(edges[:, 1].tolist()), arm)
    rows = memory.nodes(list(finds.by_node), words)
    return Pool(
        nodes=_measured(rows, space, meaning, finds, edges),
        lines=lines,
        talks=memory.talks(_talks(rows, lines, talks_in_window)),
        node_worth=held.worth,
        line_worth=said.worth,
        node_count=held.rows,
        line_count=said.rows,
        window=window,
        talks_in_window=talks_in_window,
        closest=_closest(space.vectors(near[:MOST_LIKELY]), meaning.bare) if meaning else None,
        found=finds.by_node,
        replaced=details.replaced_texts(persona.pk, list(held.best)),
        arms=finds.arms,
    )


def sharpen(pool: Pool, meaning: Meaning, best: np.ndarray) -> Pool:
    """The same pool, its nodes measured by the query together with what the `best` of them (places) have in common:
    what is near to good answers is likelier to be one (Rocchio 1971)."""
    centre = np.nansum(pool.nodes.vectors[best], axis=0)
    if not centre.any():
        return pool
    whole = meaning.whole + FEEDBACK * centre / np.linalg.norm(centre)
    distances = _distances(pool.nodes.vectors, whole / np.linalg.norm(whole))
    return replace(pool, nodes=replace(pool.nodes, distances=distances))


def telling_words(weights: Mapping[str, float], frequencies: Mapping[str, int]) -> list[str]:
    """The words that occur at all, the rarest first, without those that are common, as long as rarer ones remain, and
    as far as they are held by MOST_ROWS rows together."""
    known = sorted((word for word in weights if frequencies.get(word)), key=lambda word: frequencies[word])
    rarer = [word for word in known if frequencies[word] < COMMON] or known
    rows = accumulate((frequencies[word] for word in rarer), initial=0)
    return [word for word, before in zip(rarer, rows, strict=False) if before < MOST_ROWS]


def _weighed(query: Query, holding: Mapping[str, np.ndarray], rows: int, most: int) -> _Words:
    """Rows that hold words of the query, those first whose words are worth most together. There may be some among them
    that recall may not show, so they are more than `most`."""
    frequencies = {word: len(held) for word, held in holding.items()}
    worth = lexical.worth(query.words, frequencies, rows)
    of = dict(zip(query.words, worth.tolist(), strict=True))
    telling = [(of[word], holding[word]) for word in telling_words(query.words, frequencies)]
    return _Words(worth, rows, lexical.best(telling, SPARE * most))


def _of_the_days(persona: Persona, window: Window, k: int, finds: _Finds, arm: Retriever) -> list[int]:
    """Note the nodes of a window; the talks of it."""
    finds.note(details.recallable_between(persona.pk, window.days, window.since, window.until, k), arm)
    return search.sessions_between(persona.pk, window.since, window.until, MOST_TALKS_IN_WINDOW)


def entities_named(persona: Persona, turns: Sequence[str]) -> list[int]:
    """Ids of the persona's entities whose name or alias occurs in `turns`: a look-up of every run of words that could
    be one, not a scan of every alias."""
    return details.entities_called(persona.pk, sorted(possible_names("\n".join(turns)[-MOST_CHARACTERS:])))


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
    each = (details.mentioning(persona.pk, entity, MOST_MENTIONS) for entity in entities)
    return list(dict.fromkeys(chain.from_iterable(each)))


def _measured(rows: NodeRows, space: Space, meaning: Meaning | None, finds: _Finds, edges: np.ndarray) -> Nodes:
    """The nodes that were found, with their vectors and how far these lie, and what joins them."""
    ids = rows.ids.tolist()
    vectors = space.vectors(rows.ids) if meaning else np.full((len(ids), 1), np.nan)
    joined = np.stack([index_of(edges[:, 0], rows.ids), index_of(edges[:, 1], rows.ids), edges[:, 2]], axis=1)
    return Nodes(
        **vars(rows),
        vectors=vectors,
        distances=_distances(vectors, meaning.whole) if meaning else vectors[:, 0],
        anchored=finds.by("entity", ids),
        in_window=finds.by("time", ids),
        joined=joined[(joined[:, :2] >= 0).all(axis=1)],
    )


def _distances(vectors: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors - vector, axis=1).astype(np.float64)


def _talks(nodes: NodeRows, lines: LineRows, in_window: Sequence[int]) -> list[int]:
    """The talks that most candidates belong to, and those of the days that are asked about."""
    counts = Counter(lines.sessions.tolist()) + Counter(nodes.sessions[nodes.sessions > 0].tolist())
    talks = [session for session, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TALKS]]
    return sorted({*talks, *in_window})


def _closest(vectors: np.ndarray, vector: np.ndarray) -> float | None:
    """How near the nearest of `vectors` lies; None where there is none."""
    return float(_distances(vectors, vector).min()) if len(vectors) else None
