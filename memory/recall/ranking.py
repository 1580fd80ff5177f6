"""From candidates to scores: nodes and lines on one scale. Pure.

    node  fused(meaning, words), raised by the words of its evidence, drawn towards its lines' neighbourhood
    line  passages.scored, scaled so that the best line stands at `passage_scale` of the best node

The floor comes first. It asks whether memory has an answer at all (`answers`): whether some node is near enough to one
of the lines, the names left out, or holds enough of the words. Where none is, no node enters, but those of somebody who
is named or of the days that are asked about. Else what is near may come along, down to `companion_relevance`, or with a
third of the words; but what is below the floor gets no bonus, however heavy it is. Lines of L2, which hold the very
words, have a lower floor of their own: `minimum_coverage`.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory import knobs
from memory.recall import lexical, passages, scoring
from memory.recall import query as asking
from memory.recall.lexical import Texts
from memory.recall.passages import Around
from memory.recall.query import Query
from memory.recall.retrievers import Nodes, Pool
from memory.recall.scoring import Parts, Profile
from memory.store.vector_cache import index_of

# Chosen by the mean of six LoCoMo conversations, 2026-11-21; around these values the mean moves by less than 0.005.
EVIDENCE = 0.3  # of the lexical score of a node's best line
TALK_MEANING = 0.7  # a session's best node against its words
TALK_IN_WINDOW = 1.0  # a session of the days that are asked about against its words
IN_WINDOW = 0.4  # how far a node of these days is raised, where the window is narrow
TALK_WORDS = 0.75  # how many of the words of talk, rather than a question, must be held
HOP = 0.3  # how far a node is drawn towards what it is joined with
WORDS_BESIDE_MEANING = 0.2  # what words add to meaning when it is asked whether there is an answer
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


@dataclass(frozen=True, eq=False)
class Ranking:
    """Every node candidate with its parts, in the pool's order: `passes` those that are not below the floor, `excepted`
    those that may come although they are. Of the lines those above the floor, the best first, with their relevance
    (0 … 1)."""

    parts: Parts
    passes: np.ndarray
    excepted: np.ndarray
    lines: np.ndarray
    relevance: np.ndarray


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


def rank(pool: Pool, query: Query, now: datetime, tuned: Tuning) -> Ranking:
    """Score everything in `pool`."""
    nodes, talks = pool.nodes, pool.talks
    own, telling = _lines_by_own_words(pool, query, tuned)
    dense = scoring.dense_relevance(nodes.distances)
    words = _nodes_by_words(pool)
    covered = lexical.coverage(nodes.texts, pool.node_worth, pool.node_count)
    by_itself = scoring.fuse(dense, words, tuned.share)
    # The relevance of every node, drawn towards that of what it is joined with, the less the more share what joins
    # them. Who is named brings their own memories along anyway.
    one, other, many = nodes.joined[~nodes.anchored[nodes.joined[:, 1]]].T
    raised = by_itself.copy()
    np.maximum.at(raised, other, by_itself[other] + HOP / (many - 1) * (by_itself[one] - by_itself[other]))
    base = raised
    # What it is worth that a talk is of the days that are asked about; 0 for the others.
    weight = pool.window.weight if pool.window else 0.0
    in_window = weight * np.isin(pool.talks.sessions, pool.talks_in_window)
    telling = max([telling, *in_window.tolist()])
    # The scores `own` of the lines that hold words, at the places of all lines of the talks; 0 for the others.
    around = passages.score_messages(
        talks,
        np.append(own, 0.0)[index_of(pool.talks.lines, pool.lines.ids)],
        _talks(pool, base) + TALK_IN_WINDOW * in_window,
        tuned.around,
    )
    # Relevance raised by the words of the lines it rests on; 1 stays the most there is.
    plain = base + EVIDENCE * _best_evidence(nodes, pool.lines.ids, own, 0.0) * (1 - base)
    lines = around * _scale(around, plain, telling, tuned)
    relevance = _raised(_drawn(nodes, plain, talks.lines, lines, bool(telling)), pool)
    known = np.nan_to_num(dense)
    passes = answers(pool, query, tuned) & (_comes_along(known, covered, tuned) | (base > by_itself))
    parts = scoring.bounded_parts(
        relevance=relevance,
        recency=scoring.recency((now.timestamp() - nodes.created) / SECONDS_A_DAY, tuned.half_life_days),
        impact=scoring.impact(nodes.impacts),
        relational=scoring.RELATIONAL * nodes.relational,
        anchor=nodes.anchored.astype(np.float64),
        confidence=nodes.confidence,
        disputed=nodes.disputed,
        confirmed=nodes.confirmed,
        floor=tuned.floor,
        weights=tuned.weights,
        dense=known,
        words=words,
    )
    kept = np.flatnonzero(lines > tuned.floor)
    best = kept[np.lexsort((talks.lines[kept], -lines[kept]))]
    return Ranking(parts, passes, nodes.anchored | nodes.in_window, talks.lines[best], lines[best])


def best(pool: Pool, tuned: Tuning, most: int) -> np.ndarray:
    """The places of the nodes that answer best by their own meaning and words."""
    known = np.flatnonzero(~np.isnan(pool.nodes.distances))
    dense = scoring.dense_relevance(pool.nodes.distances[known])
    base = scoring.fuse(dense, _nodes_by_words(pool)[known], tuned.share)
    return known[np.lexsort((pool.nodes.ids[known], -base))[:most]]


def _nodes_by_words(pool: Pool) -> np.ndarray:
    return _normal(lexical.scores(pool.nodes.texts, pool.node_worth), pool.node_worth)


def answers(pool: Pool, query: Query, tuned: Tuning) -> bool:
    """Whether some node is near enough to what is asked to be an answer.

    In a script that the model knows: near in meaning, whole words of nodes and of lines helping, or with half of the
    query's words. In another, and without a model: by words alone, where whole words count as much as all tokens.
    """
    covered = _most_covered(pool.nodes.texts, pool.node_worth, pool.node_count)
    if pool.closest is None:
        return covered >= tuned.least_coverage
    whole = _most_covered(pool.nodes.texts, _whole(query, pool.node_worth), pool.node_count)
    if not tuned.knows_script:
        return (covered + whole) / 2 >= tuned.least_words
    lines = _most_covered(pool.lines.texts, _whole(query, pool.line_worth), pool.line_count)
    cosine = 1 - pool.closest**2 / 2
    meant = cosine + WORDS_BESIDE_MEANING * (whole + max(whole, lines))
    return meant >= tuned.least_meaning or whole >= tuned.least_words


def _whole(query: Query, worth: np.ndarray) -> np.ndarray:
    """The worth of whole words alone."""
    whole = asking.whole_words(query.words)
    return worth * np.fromiter((word in whole for word in query.words), dtype=bool, count=len(worth))


def _most_covered(texts: Texts, worth: np.ndarray, rows: int) -> float:
    """The greatest share of the words' worth that one of `texts` holds."""
    return float(lexical.coverage(texts, worth, rows).max(initial=0.0))


def _lines_by_own_words(pool: Pool, query: Query, tuned: Tuning) -> tuple[np.ndarray, float]:
    """Each line's lexical score 0 … 1, and how much of a full answer the best one is (0: below the floor)."""
    texts = pool.lines.texts
    covered = _most_covered(texts, pool.line_worth, pool.line_count)
    if query.script == "latin":
        enough = covered >= tuned.least_coverage
    else:
        whole = _most_covered(texts, _whole(query, pool.line_worth), pool.line_count)
        enough = (covered + whole) / 2 >= knobs.minimum_coverage_unknown_script()
    scores = _normal(lexical.scores(texts, pool.line_worth), pool.line_worth)
    return scores, min(1.0, covered / FULL_ANSWER) if enough else 0.0


def _normal(scores: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Scores against the best one, or against a full answer where even the best falls short of that."""
    full = max(FULL_ANSWER * float(worth.sum()), scores.max(initial=0.0))
    return scores / full if full else scores


def _scale(around: np.ndarray, plain: np.ndarray, telling: float, tuned: Tuning) -> float:
    """By what lines are multiplied, so that the best one stands where it should beside the best node."""
    highest = around.max(initial=0.0)
    if not telling or not highest:
        return 0.0
    return float(tuned.passage_scale * min(1.0, max(plain.max(initial=0.0), telling)) / highest)


def _best_evidence(nodes: Nodes, lines: np.ndarray, scores: np.ndarray, otherwise: float) -> np.ndarray:
    """Of each node the best of `scores` among the `lines` (ascending) that it rests on; `otherwise` where it rests on
    none of them."""
    found = index_of(nodes.evidence[:, 1], lines)
    best = np.full(len(nodes.ids), otherwise)
    np.maximum.at(best, nodes.evidence[found >= 0, 0], scores[found[found >= 0]])
    return best


def _raised(relevance: np.ndarray, pool: Pool) -> np.ndarray:
    """Relevance, raised where a node happened in the days that are asked about, the more the narrower they are."""
    weight = pool.window.weight if pool.window else 0.0
    return relevance + IN_WINDOW * weight * pool.nodes.in_window * (1 - relevance)


def _talks(pool: Pool, base: np.ndarray) -> np.ndarray:
    """How much each talk is about the matter: by the words of its lines together, and by its best node."""
    number = len(pool.talks.sessions)
    of = index_of(pool.lines.sessions, pool.talks.sessions)
    texts = Texts(pool.lines.texts.counts[of >= 0], pool.lines.texts.lengths[of >= 0])
    words = _normal(lexical.scores(lexical.join_texts(texts, of[of >= 0], number), pool.line_worth), pool.line_worth)
    meant, talk = np.zeros(number), index_of(pool.nodes.sessions, pool.talks.sessions)
    np.maximum.at(meant, talk[talk >= 0], base[talk >= 0])
    highest = base[pool.nodes.sessions > 0].max(initial=0.0) or 1.0
    return words + TALK_MEANING * meant / highest


def _drawn(nodes: Nodes, relevance: np.ndarray, lines: np.ndarray, scores: np.ndarray, telling: bool) -> np.ndarray:
    """Relevance, drawn towards that of the best line that a node rests on."""
    order = np.argsort(lines)
    best = _best_evidence(nodes, lines[order], scores[order], -1.0)
    drawn = np.minimum(1.0, (1 - NEIGHBOURHOOD) * relevance + NEIGHBOURHOOD * best)
    return np.where((best >= 0) & telling, drawn, relevance)


def _comes_along(dense: np.ndarray, coverage: np.ndarray, tuned: Tuning) -> np.ndarray:
    """Which nodes are near enough to be shown beside an answer."""
    near = (dense >= tuned.companion) & tuned.knows_script
    return np.asarray(near | (coverage >= tuned.least_coverage * COMPANION_WORDS))
