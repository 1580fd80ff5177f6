"""From candidates to scores: nodes and lines on one scale. Pure.

    node  fused(meaning, words), raised by the words of its evidence, drawn towards its lines' neighbourhood
    line  passages.scored, scaled so that the best line stands at `passage_scale` of the best node

The floor comes first. It asks whether memory has an answer at all: some node above `minimum_relevance` in meaning
(where the model knows the script) or above `minimum_coverage` in words, or some line above the latter. Where nothing
is, nothing enters. Else what is near it may come along, down to `companion_relevance`, or with a third of the words;
but what is below the floor gets no bonus, however heavy it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from echovessel import embedding
from memory import knobs
from memory.recall import lexical, passages, scoring
from memory.recall.candidates import Node, Pool
from memory.recall.lexical import Weights
from memory.recall.passages import Around
from memory.recall.query import Query
from memory.recall.scoring import Parts, Profile

# Chosen by the mean of six LoCoMo conversations, 2026-11-21; around these values the mean moves by less than 0.005.
EVIDENCE = 0.3  # of the lexical score of a node's best line
TALK_MEANING = 0.5  # a session's best node against its words
NEIGHBOURHOOD = 0.3  # how far a node is drawn towards the score of its best line
# The best row holds at least this share of the query's worth; else even it is not a full answer.
FULL_ANSWER = 0.35
COMPANION_WORDS = 1 / 3
SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Tuning:
    """The numbers that ranking depends on, read from the knobs once per recall."""

    share: float
    floor: float
    least_meaning: float
    least_coverage: float
    companion: float
    knows_script: bool
    half_life_days: float
    passage_scale: float
    around: Around
    weights: Profile


@dataclass(frozen=True)
class ScoredNode:
    node: Node
    parts: Parts
    removed: str
    only_anchored: bool


@dataclass(frozen=True)
class Ranking:
    """Every node candidate with its parts; every line with its relevance (0 … 1), those below the floor left out."""

    nodes: Sequence[ScoredNode]
    lines: Mapping[int, float]
    lines_below: int


def tuning(query: Query) -> Tuning:
    """The tuning for a query: the share of the dense arm belongs to the embedding model and the script."""
    knows = query.script == "latin" or embedding.name() != embedding.BUNDLED
    share = knobs.dense_share_known_script() if knows else knobs.dense_share_unknown_script()
    return Tuning(
        share=share,
        floor=scoring.floor_of(knobs.minimum_relevance(), share),
        least_meaning=knobs.minimum_relevance(),
        least_coverage=knobs.minimum_coverage(),
        companion=knobs.companion_relevance(),
        knows_script=knows,
        half_life_days=knobs.recency_half_life_days(),
        passage_scale=knobs.passage_scale(),
        around=Around(knobs.adjacent_weight(), knobs.pair_weight(), knobs.session_weight()),
        weights=scoring.profile(),
    )


def ranked(pool: Pool, query: Query, now: datetime, tuned: Tuning) -> Ranking:
    """Score everything in `pool`."""
    own, telling = _lines_by_own_words(pool, query)
    words = _nodes_by_words(pool, query)
    base = {node.id: _base(node, words[node.id][0], tuned) for node in pool.nodes}
    talks = _talks(pool, query, base)
    around = passages.scored(pool.sessions, own, talks, tuned.around)
    plain = {node.id: _with_evidence(base[node.id], _best(node.evidence, own)) for node in pool.nodes}
    strength = max([*plain.values(), telling], default=0.0)
    highest = max(around.values(), default=0.0)
    scale = tuned.passage_scale * min(1.0, strength) / highest if highest else 0.0
    lines = {line: score * scale for line, score in around.items()} if telling else {}
    answers = telling > 0 or any(_stands(node, words[node.id][1], tuned, 1.0) for node in pool.nodes)
    nodes = [
        _scored(node, _drawn(node, plain[node.id], lines), *words[node.id], now, tuned, answers) for node in pool.nodes
    ]
    kept = {line: relevance for line, relevance in lines.items() if relevance > tuned.floor}
    return Ranking(nodes, kept, len(lines) - len(kept))


def _lines_by_own_words(pool: Pool, query: Query) -> tuple[dict[int, float], float]:
    """Each line's lexical score 0 … 1, and how much of a full answer the best one is (0: below the floor)."""
    bodies = pool.bodies
    weights = lexical.weighed(query.words, pool.line_frequencies, pool.line_count, list(bodies.values()))
    scores = {line: lexical.score(body, weights) for line, body in bodies.items()}
    covered = max((lexical.coverage(body, weights) for body in bodies.values()), default=0.0)
    return _normal(scores, weights), _telling(covered)


def _nodes_by_words(pool: Pool, query: Query) -> dict[int, tuple[float, float]]:
    """Each node's lexical score 0 … 1 and its coverage of the query's words."""
    bodies = [node.body for node in pool.nodes]
    weights = lexical.weighed(query.words, pool.node_frequencies, pool.node_count, bodies)
    scores = _normal({node.id: lexical.score(node.body, weights) for node in pool.nodes}, weights)
    return {node.id: (scores[node.id], lexical.coverage(node.body, weights)) for node in pool.nodes}


def _normal(scores: dict[int, float], weights: Weights) -> dict[int, float]:
    """Scores against the best one, or against a full answer where even the best falls short of that."""
    full = max([FULL_ANSWER * weights.ideal, *scores.values()])
    return {key: score / full for key, score in scores.items()} if full else scores


def _telling(covered: float) -> float:
    return min(1.0, covered / FULL_ANSWER) if covered >= knobs.minimum_coverage() else 0.0


def _base(node: Node, words: float, tuned: Tuning) -> float:
    dense = None if node.distance is None else scoring.dense_relevance(node.distance)
    return scoring.fused(dense, words, tuned.share)


def _with_evidence(relevance: float, words: float) -> float:
    """Relevance raised by the words of the lines it rests on; 1 stays the most there is."""
    return relevance + EVIDENCE * words * (1 - relevance)


def _best(lines: Sequence[int], scores: Mapping[int, float]) -> float:
    return max((scores.get(line, 0.0) for line in lines), default=0.0)


def _talks(pool: Pool, query: Query, base: Mapping[int, float]) -> dict[int, float]:
    """How much each talk is about the matter: by the words of its lines together, and by its best node."""
    together = {
        session: [word for line in lines for word in pool.bodies.get(line, ())]
        for session, lines in pool.sessions.items()
    }
    weights = lexical.weighed(query.words, pool.line_frequencies, pool.line_count, list(together.values()))
    words = _normal({session: lexical.score(body, weights) for session, body in together.items()}, weights)
    meant: dict[int, float] = {}
    for node in pool.nodes:
        if node.session_id is not None:
            meant[node.session_id] = max(meant.get(node.session_id, 0.0), base[node.id])
    highest = max(meant.values(), default=0.0) or 1.0
    return {talk: words[talk] + TALK_MEANING * meant.get(talk, 0.0) / highest for talk in words}


def _drawn(node: Node, relevance: float, lines: Mapping[int, float]) -> float:
    """A node's relevance, drawn towards that of the best line it rests on."""
    if not any(line in lines for line in node.evidence):
        return relevance
    return min(1.0, (1 - NEIGHBOURHOOD) * relevance + NEIGHBOURHOOD * _best(node.evidence, lines))


def _stands(node: Node, coverage: float, tuned: Tuning, words_share: float) -> bool:
    """Whether a node stands above the floor (`words_share` 1), or near enough to come along."""
    least = tuned.least_meaning if words_share == 1 else tuned.companion
    dense = 0.0 if node.distance is None or not tuned.knows_script else scoring.dense_relevance(node.distance)
    return dense >= least or coverage >= tuned.least_coverage * words_share


def _scored(
    node: Node, relevance: float, words: float, coverage: float, now: datetime, tuned: Tuning, answers: bool
) -> ScoredNode:
    dense = 0.0 if node.distance is None else scoring.dense_relevance(node.distance)
    passes = answers and _stands(node, coverage, tuned, COMPANION_WORDS)
    parts = scoring.bounded(
        relevance=relevance,
        recency=scoring.recency((now - node.created_at).total_seconds() / SECONDS_A_DAY, tuned.half_life_days),
        impact=scoring.impact(node.emotional_impact),
        relational=scoring.RELATIONAL if node.relational_tags else 0.0,
        anchor=float(node.anchored),
        confidence=node.confidence,
        disputed=node.disputed,
        floor=tuned.floor,
        weights=tuned.weights,
        dense=dense,
        words=words,
    )
    removed = "" if passes or node.anchored else "below_floor"
    return ScoredNode(node, parts, removed, only_anchored=node.anchored and not passes)
