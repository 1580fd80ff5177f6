"""The retrievers of recall: candidates from one persona's indexes. Retrievers know no channel (D4).

    dense     nodes near the query's vector
    parts     nodes near the vectors of the questions that it consists of
    lexical   nodes that contain its words
    evidence  nodes that rest on messages that contain its words
    entity    nodes that mention a named entity
    domain    for a question about somebody's life: facts of the domain; nodes with a date, if it asks for a day; and
              nodes about the people whom it means by their relation to the owner
    graph     nodes one step away from the best: by a thought, or by an entity with few mentions
    thread    the newest nodes of the thread, if the question asks how a matter went
    feeling   the last nodes with the feeling, if the question asks when it occurred
    time      nodes of the requested days, and the sessions of those days
    lines     messages that contain its words, and the sessions around them

Not retrieved is what may not be recalled: inactive nodes, messages that are withheld or off the record.
"""

import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, islice

import numpy as np

from chat import search
from echovessel.embeddings import embedding
from echovessel.embeddings.cosine_scale import Kind
from echovessel.language import common_words
from echovessel.language.fact_domains import (
    asks_for_day,
    aspects_asked,
    domains_asked,
    is_told_in,
    person_asked_about,
)
from echovessel.language.roles import can_be_pet, roles_in
from echovessel.language.sentences import is_question
from echovessel.language.tokenizer import FUNCTION_WORDS
from memory.models.node import ConceptNode
from memory.recall import details, lexical, scoring, snapshot
from memory.recall.dates import Window
from memory.recall.leads import Leads, find_leads
from memory.recall.passages import Sessions
from memory.recall.query import UNSPACED, Meaning, Query
from memory.recall.rows import DatabaseRows, Memory, MessageRows, NodeRows
from memory.recall.xray import RetrieverRecord
from memory.store import vectors
from memory.store.calibration import sharpen_query
from memory.store.corrections import ReplacedText
from memory.store.vector_cache import index_of
from memory.store.vectors import Space
from persona.models import Persona

Domain = ConceptNode.Domain
# A word in more rows than this is common; its exact count does not matter.
COMMON = 1_000
# The rarest words are looked up first. Once they have this many rows, the other words hardly change the best rows.
MAX_ROWS = 8_000
MAX_MESSAGES = 200
# Factor of rows read beyond the limit, because some of the best may not be shown.
SPARE = 8
MAX_SESSIONS = 30
MAX_SESSIONS_IN_WINDOW = 10
MAX_ALIAS_WORDS = 5
MAX_ALIAS_CHARACTERS = 8
MIN_ALIAS_CHARACTERS = 2
MAX_CHARACTERS = 600
MAX_MENTIONS = 200
MAX_OF_A_DOMAIN = 8  # facts about the domain of the question, the last mentioned and the nearest
MAX_OF_ANY_DOMAIN = 4
MAX_DATED = 8
MAX_OF_ROLES = 8
# Nodes of the requested kind are looked for among this many of the nearest.
NEAREST = 200
KIND_RELEVANCE = 0.31  # cosine 0.05: what is at a right angle to a question does not answer it, whatever its kind
# The node nearest to the messages without the names is looked for among this many nearest to the whole query.
MAX_CLOSE = 40
# The graph step starts from this many of the best nodes; entities with more than COMPANY mentions are no links.
HUBS = 5
COMPANY = 8
_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = re.compile(f"{UNSPACED.pattern}+")


@dataclass(frozen=True, eq=False)
class Nodes(NodeRows):
    """The node candidates. `vectors` (n, d) and Euclidean `distances` (n,) are NaN for a node without a vector;
    `is_anchored` marks nodes that mention a named entity, and facts of the domain; `in_window` marks those of the
    requested days; `part_distances` (n, p) are the distances from each part of the query; `edges` (edges, 3) holds the
    positions of two nodes and the number of nodes that share the link."""

    vectors: np.ndarray
    distances: np.ndarray
    part_distances: np.ndarray
    is_anchored: np.ndarray
    in_window: np.ndarray
    edges: np.ndarray


@dataclass(frozen=True, eq=False)
class Pool:
    """All candidates of one recall, from `memory`. `node_worth` and `message_worth` (words,): the worth of the query's
    words among the persona's nodes and messages, of which there are `node_count` and `message_count`; `leads`: the
    nodes that come first; `closest`: the distance of the nearest node from the query's messages without the names;
    `nodes_by_retriever`: their ids; `replaced_texts`: the corrections of nodes that contain the words."""

    memory: Memory
    nodes: Nodes
    messages: MessageRows
    sessions: Sessions
    node_worth: np.ndarray
    message_worth: np.ndarray
    node_count: int
    message_count: int
    window: Window | None
    sessions_in_window: Sequence[int]
    leads: Leads
    closest: float | None
    nodes_by_retriever: Mapping[str, Sequence[int]]
    replaced_texts: Sequence[ReplacedText]
    retrievers: Sequence[RetrieverRecord]


@dataclass
class _Results:
    """The results so far: the nodes of each retriever."""

    nodes: dict[str, list[int]] = field(default_factory=dict)
    records: list[RetrieverRecord] = field(default_factory=list)

    @contextmanager
    def timed(self, name: str, skipped: str = "") -> Iterator[RetrieverRecord]:
        record = RetrieverRecord(name, skipped=skipped)
        started_at = time.perf_counter()
        yield record
        record.ms = round((time.perf_counter() - started_at) * 1000, 2)
        self.records.append(record)

    def add(self, nodes: Iterable[int], record: RetrieverRecord) -> None:
        self.nodes[record.name] = list(nodes)
        record.found = len(self.nodes[record.name])

    def of(self, name: str, nodes: np.ndarray) -> np.ndarray:
        """Which of `nodes` (ascending) a retriever found."""
        is_found = np.zeros(len(nodes), dtype=bool)
        places = index_of(np.array(self.nodes.get(name, ()), dtype=np.int64), nodes)
        is_found[places[places >= 0]] = True
        return is_found


def gather(
    persona: Persona, query: Query, meaning: Meaning | None, k: int, skip_reason: str = "", window: Window | None = None
) -> Pool:
    """All candidates of `persona` for `query`; each retriever returns about `k` at most.

    `meaning` is the query's, or None if nothing could be embedded; `skip_reason` is then the reason. `window` are the
    requested days.
    """
    in_memory = snapshot.of(persona.pk)
    memory: Memory = in_memory or DatabaseRows(persona.pk)
    results, words = _Results(), list(query.words)
    space = vectors.space(persona.pk, in_memory.all_nodes.state if in_memory else None)
    with results.timed("dense", skip_reason) as record:
        last_turn = query.turns[-1] if query.turns else ""
        asks_question = is_question(last_turn)
        nearest_nodes = space.nearest(meaning.whole, max(k, NEAREST if asks_question else k)) if meaning else []
        near = [node for node, _ in nearest_nodes[:k]]
        farthest = scoring.floor_distance(KIND_RELEVANCE)
        nodes_in_reach = [node for node, distance in nearest_nodes if distance <= farthest]
        results.add(near, record)
    if meaning and len(meaning.parts):
        with results.timed("parts") as record:
            near_parts = (space.nearest(part, k // len(meaning.parts)) for part in meaning.parts)
            results.add(dict.fromkeys(node for part in near_parts for node, _ in part), record)
    with results.timed("lexical") as record:
        node_count = memory.node_count
        node_worth, best_nodes = _best_by_words(query, memory.nodes_with_words(words, COMMON), node_count, k)
        by_words = memory.recallable(best_nodes, k)
        results.add(by_words, record)
    with results.timed("entity") as record:
        named_entities = entities_named(persona, query.turns)
        mentioning = [details.mentioning(persona.pk, entity, MAX_MENTIONS) for entity in named_entities]
        results.add(dict.fromkeys(node for nodes in mentioning for node in nodes), record)
    if asks_question and not query.is_general and (nodes_of_kind := _find_by_kind(persona, last_turn, nodes_in_reach)):
        with results.timed("domain") as record:
            results.add(nodes_of_kind, record)
    floor = scoring.floor_distance()
    close = [node for node, distance in nearest_nodes[:MAX_CLOSE] if distance <= floor]
    leads = find_leads(persona, query.turns, [*close, *by_words[:MAX_CLOSE]])
    if leads.nodes:
        with results.timed(leads.retriever) as record:
            results.add(leads.nodes, record)
    with results.timed("time") as record:
        sessions_in_window: Sequence[int] = ()
        if window:
            results.add(memory.recallable_in(window, k), record)
            sessions_in_window = search.sessions_between(persona.pk, window.since, window.until, MAX_SESSIONS_IN_WINDOW)
    with results.timed("lines") as record:
        rows_by_word, message_count = memory.messages_with_words(words, COMMON), memory.message_count
        message_worth, best_messages = _best_by_words(query, rows_by_word, message_count, MAX_MESSAGES)
        messages = memory.messages(best_messages, words, MAX_MESSAGES)
        record.found = len(messages.ids)
    with results.timed("evidence") as record:
        results.add(memory.nodes_by_evidence(messages.ids, 2 * k), record)
    with results.timed("graph") as record:
        edges = details.neighbours(persona.pk, sorted({*near[:HUBS], *by_words[:HUBS]}), COMPANY)
        results.add(dict.fromkeys(edges[:, 1].tolist()), record)
    rows = memory.nodes(list(dict.fromkeys(chain.from_iterable(results.nodes.values()))), words)
    # The sessions of most candidates, and those of the requested days.
    every_session = np.concatenate([messages.sessions, rows.sessions[rows.sessions > 0]])
    session_ids, counts = np.unique(every_session, return_counts=True)
    by_count = session_ids[np.argsort(-counts, kind="stable")[:MAX_SESSIONS]].tolist()
    return Pool(
        memory=memory,
        nodes=_measure(rows, space, meaning, results, edges, leads),
        messages=messages,
        sessions=memory.sessions(sorted({*by_count, *sessions_in_window})),
        node_worth=node_worth,
        message_worth=message_worth,
        node_count=node_count,
        message_count=message_count,
        window=window,
        sessions_in_window=sessions_in_window,
        leads=leads,
        closest=_distances("query", space.vectors(near[:MAX_CLOSE]), meaning.bare).min().item()
        if meaning and near
        else None,
        nodes_by_retriever=results.nodes,
        replaced_texts=details.replaced_texts(persona.pk, memory.replaced_nodes(best_nodes)),
        retrievers=results.records,
    )


def _find_by_kind(persona: Persona, question: str, nearest: Sequence[int]) -> dict[int, None]:
    """The ids of nodes of the kind that a question asks about; of each kind the `nearest` ones first."""
    node_ids: list[int] = []
    if domains := domains_asked(question):
        of_persona = person_asked_about(question, persona.user_display_name, persona.name) == "persona"
        node_ids += details.facts_about(persona.pk, domains, of_persona, MAX_OF_A_DOMAIN)
        # Plans concern any part of a life, and the domain of a fact is not always that of the question it answers.
        node_ids += details.facts_among(nearest, [*domains, Domain.PLANS], of_persona)[:MAX_OF_A_DOMAIN]
        node_ids += details.facts_among(nearest, Domain.values, of_persona)[:MAX_OF_ANY_DOMAIN]
    if aspects := aspects_asked(question):  # events have no domain: their descriptions are read
        event_ids = (node_id for node_id, text in details.descriptions_of_events(nearest) if is_told_in(text, aspects))
        node_ids += islice(event_ids, MAX_OF_ANY_DOMAIN)
    if asks_for_day(question):
        node_ids += details.dated_among(nearest)[:MAX_DATED]
    if roles := roles_in(question):
        for entity, kind, relation in details.entities_by_relation(persona.pk):
            has_role = roles & (roles_in(relation) | ({"pet"} if kind == "pet" else set()))
            if has_role and (kind != "pet" or can_be_pet(question, relation)):
                mentioning = set(details.mentioning(persona.pk, entity, MAX_MENTIONS))
                node_ids += [node for node in nearest if node in mentioning][:MAX_OF_ROLES]
    return dict.fromkeys(node_ids)


def _measure(
    rows: NodeRows, space: Space, meaning: Meaning | None, results: _Results, edges: np.ndarray, leads: Leads
) -> Nodes:
    """The node candidates with their vectors, their distances from the query, and the edges between them."""
    vectors = space.vectors(rows.ids) if meaning else np.full((len(rows.ids), 1), np.nan)
    parts = meaning.parts if meaning else ()
    part_distances = np.array([_distances("whole", vectors, part) for part in parts]).reshape(len(parts), len(rows.ids))
    edge_positions = np.stack([index_of(edges[:, 0], rows.ids), index_of(edges[:, 1], rows.ids), edges[:, 2]], axis=1)
    return Nodes(
        **vars(rows),
        vectors=vectors,
        distances=_distances("whole", vectors, meaning.whole) if meaning else vectors[:, 0],
        part_distances=part_distances.T,
        is_anchored=np.logical_or.reduce(
            [results.of(name, rows.ids) for name in ("entity", "domain", leads.retriever)]
        ),
        in_window=results.of("time", rows.ids),
        edges=edge_positions[(edge_positions[:, :2] >= 0).all(axis=1)],  # both ends are candidates
    )


def _distances(kind: Kind, vectors: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Euclidean distances on the scale of the bundled model, for which all thresholds are written."""
    own = np.linalg.norm(vectors - vector, axis=1).astype(np.float64)
    return np.asarray(embedding.scale().comparable_distance(kind, own))


def sharpen(pool: Pool, meaning: Meaning, best: np.ndarray) -> Pool:
    """The pool with its nodes measured from the query plus the mean direction of its `best` nodes (positions): what is
    near good answers is likelier to be one (Rocchio 1971)."""
    centre = np.nansum(pool.nodes.vectors[best], axis=0)
    if not centre.any():
        return pool
    distances = _distances("sharpened", pool.nodes.vectors, sharpen_query(meaning.whole, centre))
    return replace(pool, nodes=replace(pool.nodes, distances=distances))


def rarest_words(weights: Mapping[str, float], frequencies: Mapping[str, int]) -> list[str]:
    """The words that occur, rarest first; no common ones while there are rarer ones; until together they occur in
    MAX_ROWS rows."""
    known_words = sorted((word for word in weights if frequencies.get(word)), key=lambda word: frequencies[word])
    rarer = [word for word in known_words if frequencies[word] < COMMON] or known_words
    rows = accumulate((frequencies[word] for word in rarer), initial=0)
    return [word for word, before in zip(rarer, rows, strict=False) if before < MAX_ROWS]


def _best_by_words(
    query: Query, rows_by_word: Mapping[str, np.ndarray], rows: int, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """The worth of each word of the query among `rows`, and the ids of the rows with the greatest summed worth: more
    than `limit`, because some of them may not be shown."""
    frequencies = {word: len(ids) for word, ids in rows_by_word.items()}
    worth = lexical.worth(query.words, frequencies, rows)
    by_word = dict(zip(query.words, worth.tolist(), strict=True))
    rarest = [(by_word[word], rows_by_word[word]) for word in rarest_words(query.words, frequencies)]
    return worth, lexical.best(rarest, SPARE * limit)


def entities_named(persona: Persona, turns: Sequence[str]) -> list[int]:
    """The ids of the persona's entities whose name or alias occurs in `turns`: every run of words that could be a name
    is looked up; aliases are not scanned."""
    return details.entities_by_names(persona.pk, sorted(possible_names("\n".join(turns)[-MAX_CHARACTERS:])))


def names_somebody(persona: Persona, text: str) -> bool:
    """Whether `text` names a person or a pet of the persona's memory. "Will it rain?" does not name Will."""
    names = possible_names(text[:MAX_CHARACTERS]) - common_words.is_everyday() - FUNCTION_WORDS
    return details.has_person_or_pet(persona.pk, sorted(names))


def possible_names(text: str) -> set[str]:
    """Every run of `text` that could be a name, in the form in which aliases are stored: whole words in spaced scripts,
    at least two characters in others.

    >>> sorted(possible_names("Is Mary Ann?")), sorted(possible_names("小黑呢"))
    (['ann', 'is', 'ismary', 'ismaryann', 'mary', 'maryann'], ['小黑', '小黑呢', '黑呢'])
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _WORD.findall(UNSPACED.sub(" ", folded))
    lengths = range(1, MAX_ALIAS_WORDS + 1)
    runs = {"".join(words[start : start + length]) for start in range(len(words)) for length in lengths}
    for run in _UNSPACED_RUN.findall(folded):
        for length in range(MIN_ALIAS_CHARACTERS, MAX_ALIAS_CHARACTERS + 1):
            runs.update(run[start : start + length] for start in range(len(run) - length + 1))
    return runs
