"""From candidates to scores: nodes and lines on one scale. Pure.

    node  fused(meaning, words), raised by the words of its evidence, drawn towards its lines' neighbourhood
    line  passages.scored, scaled so that the best line stands at `passage_scale` of the best node

The floor comes first. It asks whether memory has an answer at all (`answers`): whether some node is near enough to one
of the lines, the names left out, or holds enough of the words. Where none is, no node enters, but those of somebody who
is named or of the days that are asked about. Else what is near may come along, down to `companion_relevance`, or with a
third of the words; but what is below the floor gets no bonus, however heavy it is. Lines of L2, which hold the very
words, have a lower floor of their own: `minimum_coverage`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory import knobs
from memory.recall import lexical, passages, scoring
from memory.recall import query as asking
from memory.recall.candidates import Node, Pool
from memory.recall.lexical import Held, Weights
from memory.recall.passages import Around
from memory.recall.query import Query
from memory.recall.scoring import Parts, Profile

# Chosen by the mean of six LoCoMo conversations, 2026-11-21; around these values the mean moves by less than 0.005.
EVIDENCE = 0.3  # of the lexical score of a node's best line
TALK_MEANING = 0.7  # a session's best node against its words
TALK_IN_WINDOW = 1.0  # a session of the days that are asked about against its words
IN_WINDOW = 0.4  # how far a node of these days is raised, where the window is narrow
TALK_WORDS = 0.75  # how many of the words of talk, rather than a question, must be held
WORDS_BESIDE_MEANING = 0.1  # what words add to meaning when it is asked whether there is an answer
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
    least_words: float
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
    only_excepted: bool


@dataclass(frozen=True)
class Ranking:
    """Every node candidate with its parts; every line with its relevance (0 … 1), those below the floor left out."""

    nodes: Sequence[ScoredNode]
    lines: Mapping[int, float]
    lines_below: int


def tuning(query: Query) -> Tuning:
    """The tuning for a query: the share of the dense arm belongs to the embedding model and the script."""
    knows = asking.knows(query.script)
    share = knobs.dense_share_known_script() if knows else knobs.dense_share_unknown_script()
    return Tuning(
        share=share,
        floor=scoring.floor_of(knobs.minimum_relevance(), share),
        least_meaning=knobs.answering_relevance() if len(query.turns) == 1 else knobs.answering_relevance_of_talk(),
        least_words=knobs.answering_coverage() if knows else _least_words_unknown(query),
        least_coverage=knobs.minimum_coverage(),
        companion=knobs.companion_relevance(),
        knows_script=knows,
        half_life_days=knobs.recency_half_life_days(),
        passage_scale=knobs.passage_scale(),
        around=Around(knobs.adjacent_weight(), knobs.pair_weight(), knobs.session_weight()),
        weights=scoring.profile(),
    )


def _least_words_unknown(query: Query) -> float:
    least = knobs.answering_coverage_unknown_script()
    return least if len(query.turns) == 1 else TALK_WORDS * least


def ranked(pool: Pool, query: Query, now: datetime, tuned: Tuning) -> Ranking:
    """Score everything in `pool`."""
    own, telling = _lines_by_own_words(pool, query, tuned)
    in_window = _in_window(pool)
    telling = max([telling, *in_window.values()])
    words = _nodes_by_words(pool, query)
    base = {node.id: _base(node, words[node.id][0], tuned) for node in pool.nodes}
    talks = _talks(pool, query, base, in_window)
    around = passages.scored(pool.sessions, own, talks, tuned.around)
    plain = {node.id: _with_evidence(base[node.id], _best(node.evidence, own)) for node in pool.nodes}
    strength = max([*plain.values(), telling], default=0.0)
    highest = max(around.values(), default=0.0)
    scale = tuned.passage_scale * min(1.0, strength) / highest if highest else 0.0
    lines = {line: score * scale for line, score in around.items()} if telling else {}
    answered = answers(pool, query, tuned)
    relevance = {node.id: _raised(node, _drawn(node, plain[node.id], lines), pool) for node in pool.nodes}
    nodes = [_scored(node, relevance[node.id], *words[node.id], now, tuned, answered) for node in pool.nodes]
    kept = {line: relevance for line, relevance in lines.items() if relevance > tuned.floor}
    return Ranking(nodes, kept, len(lines) - len(kept))


def answers(pool: Pool, query: Query, tuned: Tuning) -> bool:
    """Whether some node is near enough to what is asked to be an answer.

    In a script that the model knows: near in meaning, words helping a little, or with half of the query's words. In
    another, and without a model: by words alone, where whole words count as much as all tokens together.
    """
    texts = [node.text for node in pool.nodes]
    covered = _most_covered(query.words, texts, pool.node_frequencies, pool.node_count)
    if pool.closest is None:
        return covered >= tuned.least_coverage
    if tuned.knows_script:
        lines = _most_covered(query.words, pool.lines.values(), pool.line_frequencies, pool.line_count)
        meant = scoring.dense_relevance(pool.closest) + WORDS_BESIDE_MEANING * max(covered, lines)
        return meant >= tuned.least_meaning or covered >= tuned.least_words
    whole = _most_covered(asking.whole_words(query.words), texts, pool.node_frequencies, pool.node_count)
    return (covered + whole) / 2 >= tuned.least_words


def _most_covered(
    words: Mapping[str, float], texts: Collection[Held], frequencies: Mapping[str, int], rows: int
) -> float:
    """The greatest share of `words` that one of `texts` holds."""
    weights = lexical.weighed(words, frequencies, rows, texts)
    return max([lexical.coverage(text, weights) for text in texts], default=0.0)


def _lines_by_own_words(pool: Pool, query: Query, tuned: Tuning) -> tuple[dict[int, float], float]:
    """Each line's lexical score 0 … 1, and how much of a full answer the best one is (0: below the floor)."""
    texts = pool.lines.values()
    weights = lexical.weighed(query.words, pool.line_frequencies, pool.line_count, texts)
    scores = {line: lexical.score(text, weights) for line, text in pool.lines.items()}
    covered = max((lexical.coverage(text, weights) for text in texts), default=0.0)
    if tuned.knows_script:
        enough = covered >= tuned.least_coverage
    else:
        whole = _most_covered(asking.whole_words(query.words), texts, pool.line_frequencies, pool.line_count)
        enough = (covered + whole) / 2 >= knobs.minimum_coverage_unknown_script()
    return _normal(scores, weights), min(1.0, covered / FULL_ANSWER) if enough else 0.0


def _nodes_by_words(pool: Pool, query: Query) -> dict[int, tuple[float, float]]:
    """Each node's lexical score 0 … 1 and its coverage of the query's words."""
    texts = [node.text for node in pool.nodes]
    weights = lexical.weighed(query.words, pool.node_frequencies, pool.node_count, texts)
    scores = _normal({node.id: lexical.score(node.text, weights) for node in pool.nodes}, weights)
    return {node.id: (scores[node.id], lexical.coverage(node.text, weights)) for node in pool.nodes}


def _normal(scores: dict[int, float], weights: Weights) -> dict[int, float]:
    """Scores against the best one, or against a full answer where even the best falls short of that."""
    full = max([FULL_ANSWER * weights.ideal, *scores.values()])
    return {key: score / full for key, score in scores.items()} if full else scores


def _base(node: Node, words: float, tuned: Tuning) -> float:
    dense = None if node.distance is None else scoring.dense_relevance(node.distance)
    return scoring.fused(dense, words, tuned.share)


def _with_evidence(relevance: float, words: float) -> float:
    """Relevance raised by the words of the lines it rests on; 1 stays the most there is."""
    return relevance + EVIDENCE * words * (1 - relevance)


def _best(lines: Sequence[int], scores: Mapping[int, float]) -> float:
    return max([scores.get(line, 0.0) for line in lines], default=0.0)


def _in_window(pool: Pool) -> dict[int, float]:
    """The talks of the days that are asked about, with what that is worth."""
    return dict.fromkeys(pool.talks_in_window, pool.window.weight) if pool.window else {}


def _raised(node: Node, relevance: float, pool: Pool) -> float:
    """A node's relevance, raised where it happened in the days that are asked about, the more the narrower they are."""
    if not node.in_window or pool.window is None:
        return relevance
    return relevance + IN_WINDOW * pool.window.weight * (1 - relevance)


def _talks(pool: Pool, query: Query, base: Mapping[int, float], in_window: Mapping[int, float]) -> dict[int, float]:
    """How much each talk is about the matter: by the words of its lines together, by its best node, by its day."""
    texts = {
        session: lexical.together(pool.lines[line] for line in lines if line in pool.lines)
        for session, lines in pool.sessions.items()
    }
    weights = lexical.weighed(query.words, pool.line_frequencies, pool.line_count, texts.values())
    words = _normal({session: lexical.score(text, weights) for session, text in texts.items()}, weights)
    meant: dict[int, float] = {}
    for node in pool.nodes:
        if node.session_id is not None:
            meant[node.session_id] = max(meant.get(node.session_id, 0.0), base[node.id])
    highest = max(meant.values(), default=0.0) or 1.0
    return {
        talk: words[talk] + TALK_MEANING * meant.get(talk, 0.0) / highest + TALK_IN_WINDOW * in_window.get(talk, 0.0)
        for talk in words
    }


def _drawn(node: Node, relevance: float, lines: Mapping[int, float]) -> float:
    """A node's relevance, drawn towards that of the best line it rests on."""
    near = [lines[line] for line in node.evidence if line in lines]
    return min(1.0, (1 - NEIGHBOURHOOD) * relevance + NEIGHBOURHOOD * max(near)) if near else relevance


def _comes_along(node: Node, coverage: float, tuned: Tuning) -> bool:
    """Whether a node is near enough to be shown beside an answer."""
    dense = 0.0 if node.distance is None or not tuned.knows_script else scoring.dense_relevance(node.distance)
    return dense >= tuned.companion or coverage >= tuned.least_coverage * COMPANION_WORDS


def _scored(
    node: Node, relevance: float, words: float, coverage: float, now: datetime, tuned: Tuning, answered: bool
) -> ScoredNode:
    dense = 0.0 if node.distance is None else scoring.dense_relevance(node.distance)
    passes = answered and _comes_along(node, coverage, tuned)
    excepted = node.anchored or node.in_window
    parts = scoring.bounded(
        relevance=relevance,
        recency=scoring.recency((now - node.created_at).total_seconds() / SECONDS_A_DAY, tuned.half_life_days),
        impact=scoring.impact(node.emotional_impact),
        relational=scoring.RELATIONAL if node.is_relational else 0.0,
        anchor=float(node.anchored),
        confidence=node.confidence,
        disputed=node.disputed,
        floor=tuned.floor,
        weights=tuned.weights,
        dense=dense,
        words=words,
    )
    removed = "" if passes or excepted else "below_floor"
    return ScoredNode(node, parts, removed, only_excepted=excepted and not passes)
