"""The arms of recall: what could be meant, found inside one persona's indexes. No arm knows a channel (D4).

    dense     nodes near the query's vector
    lexical   nodes that hold its words
    evidence  nodes that rest on lines that hold its words
    entity    nodes that mention somebody who is named
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
from datetime import date, datetime
from uuid import UUID

import numpy as np

from chat import search
from chat.models import Message, MessageText
from memory import vectors
from memory.models import Alias, ConceptNode, Entity, Evidence, Mention, NodeText
from memory.recall.query import UNSPACED, Query
from persona.models import Persona

# A word that more rows hold than this is common; its exact count does not matter any more.
COMMON = 2_000
MOST_LINES = 300
MOST_TALKS = 40
LONGEST_ALIAS_WORDS = 5
LONGEST_ALIAS_CHARACTERS = 8
LEAST_ALIAS_CHARACTERS = 2
MOST_CHARACTERS = 600
MOST_MENTIONS = 200
_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = re.compile(f"{UNSPACED.pattern}+")


@dataclass(frozen=True)
class Node:
    """What recall needs to know of a node."""

    id: int
    uuid: UUID
    external_id: str | None
    kind: str
    description: str
    emotional_impact: int
    relational_tags: Sequence[str]
    confidence: float
    event_day: date | None
    created_at: datetime
    session_id: int | None
    disputed: bool
    distance: float | None = None
    body: Sequence[str] = ()
    evidence: tuple[int, ...] = ()
    anchored: bool = False
    arms: tuple[str, ...] = ()


@dataclass
class Arm:
    """What an arm found and how long it took."""

    name: str
    found: int = 0
    ms: float = 0.0
    skipped: str = ""


@dataclass
class Pool:
    """All candidates of one recall."""

    nodes: list[Node] = field(default_factory=list)
    node_frequencies: Mapping[str, int] = field(default_factory=dict)
    node_count: int = 0
    sessions: Mapping[int, list[int]] = field(default_factory=dict)
    bodies: Mapping[int, Sequence[str]] = field(default_factory=dict)
    line_frequencies: Mapping[str, int] = field(default_factory=dict)
    line_count: int = 0
    arms: list[Arm] = field(default_factory=list)

    @contextmanager
    def arm(self, name: str) -> Iterator[Arm]:
        arm = Arm(name)
        started = time.perf_counter()
        yield arm
        arm.ms = (time.perf_counter() - started) * 1000
        self.arms.append(arm)


def gather(persona: Persona, query: Query, vector: np.ndarray | None, k: int, why_not: str = "") -> Pool:
    """Everything of `persona` that could answer `query`; each arm gives at most about `k`.

    `vector` is the query's, or None where nothing could be embedded; `why_not` then says why.
    """
    pool = Pool(
        node_count=ConceptNode.objects.of(persona).recallable().count(),
        line_count=Message.objects.filter(persona=persona).count(),
    )
    found: dict[int, set[str]] = defaultdict(set)
    with pool.arm("dense") as arm:
        arm.skipped = why_not
        near = dict(vectors.nearest(persona.pk, vector, k)) if vector is not None else {}
        _noted(found, near, arm)
    with pool.arm("lexical") as arm:
        pool.node_frequencies = vectors.frequencies(persona.pk, list(query.words), COMMON)
        telling = telling_words(query.words, pool.node_frequencies)
        _noted(found, (node for node, _ in vectors.matching(persona.pk, telling, k)), arm)
    with pool.arm("entity") as arm:
        _noted(found, _mentioning(entities_named(persona, query.turns)), arm)
    with pool.arm("lines") as arm:
        _find_lines(persona, query, pool)
        arm.found = len(pool.bodies)
    with pool.arm("evidence") as arm:
        _noted(found, _resting_on(pool.bodies, k), arm)
    pool.nodes = _loaded(persona, found, near, vector)
    _find_talks(persona, pool)
    return pool


def telling_words(weights: Mapping[str, float], frequencies: Mapping[str, int]) -> list[str]:
    """The words that occur at all, without those that are common, as long as rarer ones remain."""
    known = [word for word in weights if frequencies.get(word)]
    return [word for word in known if frequencies[word] < COMMON] or known


def _noted(found: dict[int, set[str]], nodes: Iterable[int], arm: Arm) -> None:
    for node in nodes:
        found[node].add(arm.name)
        arm.found += 1


def entities_named(persona: Persona, turns: Sequence[str]) -> list[int]:
    """Ids of the persona's entities whose name or alias occurs in `turns`: a look-up of every run of words that could
    be one, not a scan of every alias."""
    could = possible_names("\n".join(turns)[-MOST_CHARACTERS:])
    aliases = Alias.objects.filter(persona=persona, normalized__in=could)
    named = aliases.exclude(entity__status=Entity.Status.MERGED).order_by("entity_id")
    return list(named.values_list("entity_id", flat=True).distinct())


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


def _mentioning(entities: Sequence[int]) -> list[int]:
    mentions = Mention.objects.filter(entity_id__in=entities, node__status=ConceptNode.Status.ACTIVE)
    newest = mentions.order_by("-node__created_at", "-node_id").values_list("node_id", flat=True)
    return list(dict.fromkeys(newest[:MOST_MENTIONS])) if entities else []


def _find_lines(persona: Persona, query: Query, pool: Pool) -> None:
    pool.line_frequencies = search.frequencies(persona.pk, list(query.words), COMMON)
    telling = telling_words(query.words, pool.line_frequencies)
    hits = [message for message, _ in search.lines(persona.pk, telling, MOST_LINES)]
    allowed = Message.objects.filter(persona=persona, id__in=hits).shown_to_models().on_record()
    rows = MessageText.objects.filter(message__in=allowed).values_list("message_id", "body")
    pool.bodies = {message: body.split() for message, body in rows}


def _resting_on(lines: Mapping[int, object], k: int) -> list[int]:
    """Active nodes whose evidence is among `lines`."""
    rows = Evidence.objects.filter(message_id__in=list(lines), node__status=ConceptNode.Status.ACTIVE)
    return list(rows.order_by("node_id").values_list("node_id", flat=True).distinct()[: 2 * k]) if lines else []


_FIELDS = (
    "id", "uuid", "external_id", "kind", "description", "emotional_impact", "relational_tags", "confidence",
    "created_at", "session_id",
)  # fmt: skip


def _loaded(
    persona: Persona, found: Mapping[int, set[str]], near: Mapping[int, float], vector: np.ndarray | None
) -> list[Node]:
    """The nodes that were found, with exact distance, words and evidence, by id."""
    nodes = ConceptNode.objects.of(persona).recallable().filter(id__in=list(found)).order_by("id")
    rows = nodes.values(*_FIELDS, "event_time_start", "verification")
    bodies = dict(NodeText.objects.filter(node_id__in=list(found)).values_list("node_id", "body"))
    evidence: dict[int, list[int]] = defaultdict(list)
    pairs = Evidence.objects.filter(node_id__in=list(found)).order_by("node_id", "message_id")
    for node, message in pairs.values_list("node_id", "message_id").distinct():
        evidence[node].append(message)
    distances = dict(near) | _distances([node for node in found if node not in near], vector)
    return [
        Node(
            **{name: row[name] for name in _FIELDS},
            event_day=row["event_time_start"],
            disputed=row["verification"] == ConceptNode.Verification.DISPUTED,
            distance=distances.get(row["id"]),
            body=bodies.get(row["id"], "").split(),
            evidence=tuple(evidence[row["id"]]),
            anchored="entity" in found[row["id"]],
            arms=tuple(sorted(found[row["id"]])),
        )
        for row in rows
    ]


def _distances(nodes: Sequence[int], vector: np.ndarray | None) -> dict[int, float]:
    """Exact Euclidean distances of nodes that another arm found."""
    if vector is None or not nodes:
        return {}
    return {node: float(np.linalg.norm(stored - vector)) for node, stored in vectors.of(nodes).items()}


def _find_talks(persona: Persona, pool: Pool) -> None:
    """The lines of the talks that the candidates belong to, in the order they were said."""
    hits = Message.objects.filter(id__in=list(pool.bodies)).values_list("session_id", flat=True)
    counts = Counter(hits) + Counter(node.session_id for node in pool.nodes if node.session_id)
    talks = [session for session, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TALKS]]
    allowed = Message.objects.filter(persona=persona, session_id__in=talks).shown_to_models().on_record()
    sessions: dict[int, list[int]] = defaultdict(list)
    ordered = allowed.order_by("session_id", "created_at", "id")
    for session, message in ordered.values_list("session_id", "id"):
        sessions[session].append(message)
    pool.sessions = dict(sessions)
