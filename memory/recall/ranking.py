"""From candidates to scores: nodes and messages on one scale. Pure.

The formula, in the order of `rank`; w = 1 in a narrow window of asked days, less in a wide one, 0 in none:

    words      = BM25 of a row / the best row's, or / a full answer's where even the best falls short
    own        = share · dense + (1 - share) · words                      of a node (scoring.fuse)
                 or PART · the same of a part of the question, against the best of that, if that is more
    base       = max(own, own + HOP / (shared_counts - 1) · (own of a joined node - own))
    session    = its words + TALK_MEANING · its best node's base / the best base + TALK_IN_WINDOW · w, if of these days
    around     = own words of a message and of its neighbourhood (passages.score_messages)
    plain      = base + EVIDENCE · (best message's words) · (1 - base)
    message    = around · passage_scale · min(1, max(best plain, answer_score)) / best around
    blend      = plain moved by NEIGHBOURHOOD towards its best message, at most 1; plain, where it rests on none here
    relevance  = blend + IN_WINDOW · w · (1 - blend), if the node is of these days
    total      = 3.0·relevance + lift·(0.5·recency + 2.0·|impact| + …) - penalty     (scoring.bounded_parts)

The floor comes first. It asks whether memory has an answer at all (`answers`): whether some node is near enough to one
of the messages, the names left out, or contains enough of the words. Where none is, no node enters, except those of an
entity that is named or of the days that are asked about. Else what is near may come along, down to
`companion_relevance`, or with a third of the words; but what is below the floor gets no bonus, however heavy it is.
Messages of L2, which hold the very words, have a lower floor of their own: `minimum_coverage`.
"""

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from echovessel.language import tokenizer
from echovessel.language.sentences import is_question
from memory import knobs
from memory.recall import lexical, passages, scoring
from memory.recall import query as queries
from memory.recall.lexical import Texts
from memory.recall.passages import Around
from memory.recall.query import Query
from memory.recall.retrievers import Nodes, Pool
from memory.recall.scoring import Parts, Profile
from memory.store.vector_cache import index_of

# Chosen by the mean of six LoCoMo conversations, 2026-11-21; near these values the mean changes by less than 0.005.
EVIDENCE = 0.3  # of the lexical score of a node's best message
TALK_MEANING = 0.7  # weight of a session's best node, relative to its words
TALK_IN_WINDOW = 1.0  # weight of being in the requested days, relative to a session's words
IN_WINDOW = 0.4  # how far a node of the requested days is raised, if the window is narrow
TALK_WORDS = 0.75  # the share of words that must match several messages, relative to one question
PART = 0.95  # weight of an answer to a part of the question, relative to the whole
HOP = 0.3  # how far a node is drawn towards the nodes it is joined with
# Weight of words beside meaning in `answers`. For several messages, which are always similar to some memory, either of
# the two sums is enough.
WORDS_BESIDE_MEANING, WORDS_BESIDE_MEANING_OF_TALK = 0.2, 0.8
# Least meaning with most of the words. Several messages this near to a memory need hardly any of its words. In a short
# talk one shared word is a large share, and messages that ask about the world or for a service concern nobody's life;
# both need more.
MEANING_OF_TALK, MEANING_OF_SHORT_TALK, MEANING_OF_GENERAL_TALK = 0.38, 0.45, 0.6
MORE_WORDS_OF_SHORT_TALK, MORE_WORDS_OF_GENERAL_TALK = 0.12, 0.37
NEIGHBOURHOOD = 0.3  # how far a node is drawn towards the score of its best message
# The best row contains at least this share of the query's worth; otherwise even it is not a full answer.
FULL_ANSWER = 0.35
COMPANION_WORDS = 1 / 3
SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Tuning:
    """The numbers that ranking depends on, read from the knobs once per recall."""

    share: float
    floor: float
    min_meaning: float
    min_meaning_of_talk: float
    min_words: float
    min_coverage: float
    companion: float
    knows_script: bool
    half_life_days: float
    passage_scale: float
    around: Around
    weights: Profile


@dataclass(frozen=True, eq=False)
class Ranking:
    """The scores of every node candidate, in the pool's order: `passes` marks nodes above the floor, `excepted` nodes
    that are allowed below it. `messages` are the places in the pool's sessions of those above the floor, best first,
    with their `relevance` (0 … 1)."""

    parts: Parts
    passes: np.ndarray
    excepted: np.ndarray
    messages: np.ndarray
    relevance: np.ndarray


def tuning(query: Query) -> Tuning:
    """The tuning for a query; the share of dense relevance depends on the embedding model and the script."""
    knows, single = queries.knows(query.script), len(query.turns) == 1
    share = knobs.dense_share_known_script() if knows else knobs.dense_share_unknown_script()
    if knows:
        min_words = knobs.answering_coverage()
    else:
        min_words = knobs.answering_coverage_unknown_script() * (1 if single else TALK_WORDS)
    min_meaning, min_meaning_of_talk = answer_bounds(query)
    return Tuning(
        share=share,
        floor=scoring.floor_of(knobs.minimum_relevance(), share),
        min_meaning=min_meaning,
        min_meaning_of_talk=min_meaning_of_talk,
        min_words=math.inf if knows and query.is_general else min_words,
        min_coverage=knobs.minimum_coverage(),
        companion=knobs.companion_relevance(),
        knows_script=knows,
        half_life_days=knobs.recency_half_life_days(),
        passage_scale=knobs.passage_scale(),
        around=Around(knobs.adjacent_weight(), knobs.pair_weight(), knobs.session_weight()),
        weights=scoring.profile(),
    )


def answer_bounds(query: Query) -> tuple[float, float]:
    """The least sums of `answers` at which memory has an answer: with the small weight of words and with the large
    one."""
    if query.is_general:
        return knobs.answering_relevance_of_general(), math.inf
    if len(query.turns) == 1:
        return knobs.answering_relevance(), math.inf
    of_talk = knobs.answering_relevance_of_talk()
    if query.follows_general:
        return MEANING_OF_GENERAL_TALK, of_talk + MORE_WORDS_OF_GENERAL_TALK
    if len(queries.whole_words(query.words)) <= lexical.ENOUGH_WORDS and not is_question(query.turns[-1]):
        return MEANING_OF_SHORT_TALK, of_talk + MORE_WORDS_OF_SHORT_TALK
    return MEANING_OF_TALK, of_talk


def rank(pool: Pool, query: Query, now: datetime, tuning: Tuning) -> Ranking:
    """Score everything in `pool`, by the formula above."""
    nodes, sessions = pool.nodes, pool.sessions
    weight = pool.window.weight if pool.window else 0.0
    dense, words = scoring.dense_relevance(nodes.distances), _node_words(pool)
    own = scoring.fuse(dense, words, tuning.share)
    best_own = own.max(initial=0.0)
    for place, worth in enumerate(_worth_of_parts(query, pool.node_worth)):
        near = nodes.part_distances[:, place] if nodes.part_distances.size else np.full(len(own), np.nan)
        of_part = _normalize(lexical.scores(nodes.texts, worth), worth)
        answers_part = scoring.fuse(scoring.dense_relevance(near), of_part, tuning.share)
        best_of_part = answers_part.max(initial=0.0)
        if best_of_part > tuning.floor:
            own = np.maximum(own, PART * best_own / best_of_part * answers_part)
    # Named entities bring their own memories anyway: no edge draws those.
    sources, targets, shared_counts = nodes.edges[~nodes.is_anchored[nodes.edges[:, 1]]].T
    base = own.copy()
    np.maximum.at(base, targets, own[targets] + HOP / (shared_counts - 1) * (own[sources] - own[targets]))
    in_window = weight * np.isin(sessions.sessions, pool.sessions_in_window)
    message_words = _normalize(lexical.scores(pool.messages.texts, pool.message_worth), pool.message_worth)
    for worth in _worth_of_parts(query, pool.message_worth):
        message_words = np.maximum(message_words, PART * _normalize(lexical.scores(pool.messages.texts, worth), worth))
    answer_score = max(_message_answer(pool, query, tuning), in_window.max(initial=0.0))
    around = passages.score_messages(
        sessions,
        # All messages of the sessions; those that contain no word have index -1, which reads the appended 0.
        np.append(message_words, 0.0)[index_of(sessions.messages, pool.messages.ids)],
        _score_sessions(pool, base) + TALK_IN_WINDOW * in_window,
        tuning.around,
    )
    plain = base + EVIDENCE * _best_evidence(nodes, pool.messages.ids, message_words, 0.0) * (1 - base)
    best_around = around.max(initial=0.0)
    target = tuning.passage_scale * min(1.0, max(plain.max(initial=0.0), answer_score))
    messages = around * (float(target / best_around) if answer_score and best_around else 0.0)
    blend = _blend_with_messages(nodes, plain, sessions.messages, messages) if answer_score else plain
    relevance = blend + IN_WINDOW * weight * nodes.in_window * (1 - blend)
    dense_scores = np.nan_to_num(dense)
    near = (dense_scores >= tuning.companion) & tuning.knows_script
    coverage = lexical.coverage(nodes.texts, pool.node_worth, pool.node_count)
    companions = near | (coverage >= tuning.min_coverage * COMPANION_WORDS) | (base > own)
    parts = scoring.bounded_parts(
        relevance=relevance,
        recency=scoring.recency((now.timestamp() - nodes.created) / SECONDS_A_DAY, tuning.half_life_days),
        impact=scoring.impact(nodes.impacts),
        relational=scoring.RELATIONAL * nodes.relational,
        anchor=nodes.is_anchored.astype(np.float64),
        confidence=nodes.confidence,
        disputed=nodes.disputed,
        confirmed=nodes.confirmed,
        floor=tuning.floor,
        weights=tuning.weights,
        dense=dense_scores,
        words=words,
    )
    places = np.flatnonzero(messages > tuning.floor)
    order = places[np.lexsort((sessions.messages[places], -messages[places]))]
    passes = np.asarray(answers(pool, query, tuning) & companions)
    return Ranking(parts, passes, nodes.is_anchored | nodes.in_window, order, messages[order])


def best(pool: Pool, tuning: Tuning, limit: int) -> np.ndarray:
    """The positions of the nodes that answer best by their own meaning and words."""
    known_places = np.flatnonzero(~np.isnan(pool.nodes.distances))
    dense = scoring.dense_relevance(pool.nodes.distances[known_places])
    own = scoring.fuse(dense, _node_words(pool)[known_places], tuning.share)
    return known_places[np.lexsort((pool.nodes.ids[known_places], -own))[:limit]]


def answers(pool: Pool, query: Query, tuning: Tuning) -> bool:
    """Whether some node is near enough to the query to be an answer.

    In a script that the model knows: by meaning, to which whole words of nodes and messages add, or by a sufficient
    share of the query's words. In another script, or without a model: by words alone, where whole words count as much
    as all tokens.
    """
    coverage = _best_coverage(pool.nodes.texts, pool.node_worth, pool.node_count)
    if pool.closest is None:
        return coverage >= tuning.min_coverage
    whole_coverage = _best_coverage(pool.nodes.texts, _whole_words(query, pool.node_worth), pool.node_count)
    if not tuning.knows_script:
        return (coverage + whole_coverage) / 2 >= tuning.min_words
    in_messages = _best_coverage(pool.messages.texts, _whole_words(query, pool.message_worth), pool.message_count)
    cosine = 1 - pool.closest**2 / 2  # of unit vectors with this Euclidean distance
    of_words = whole_coverage + max(whole_coverage, in_messages)
    return (
        cosine + WORDS_BESIDE_MEANING * of_words >= tuning.min_meaning
        or cosine + WORDS_BESIDE_MEANING_OF_TALK * of_words >= tuning.min_meaning_of_talk
        or whole_coverage >= tuning.min_words
    )


def _message_answer(pool: Pool, query: Query, tuning: Tuning) -> float:
    """How near the best message comes to a full answer, by its own words; 0 below the floor."""
    texts = pool.messages.texts
    coverage = _best_coverage(texts, pool.message_worth, pool.message_count)
    if query.script == "latin":
        is_sufficient = coverage >= tuning.min_coverage
    else:
        whole_coverage = _best_coverage(texts, _whole_words(query, pool.message_worth), pool.message_count)
        is_sufficient = (coverage + whole_coverage) / 2 >= knobs.minimum_coverage_unknown_script()
    return min(1.0, coverage / FULL_ANSWER) if is_sufficient else 0.0


def _whole_words(query: Query, worth: np.ndarray) -> np.ndarray:
    """The worth of the whole words; 0 for other tokens."""
    whole = queries.whole_words(query.words)
    return worth * np.fromiter((word in whole for word in query.words), dtype=bool, count=len(worth))


def _worth_of_parts(query: Query, worth: np.ndarray) -> list[np.ndarray]:
    """For each part of the query, the worth of its words."""
    parts = [frozenset(tokenizer.content_words(part)) for part in query.parts]
    return [worth * np.fromiter((word in part for word in query.words), dtype=bool, count=len(worth)) for part in parts]


def _best_coverage(texts: Texts, worth: np.ndarray, rows: int) -> float:
    """The greatest coverage of any of `texts`."""
    return float(lexical.coverage(texts, worth, rows).max(initial=0.0))


def _node_words(pool: Pool) -> np.ndarray:
    return _normalize(lexical.scores(pool.nodes.texts, pool.node_worth), pool.node_worth)


def _normalize(scores: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Scores divided by the best one, or by a full answer if even the best is less than that."""
    full = max(FULL_ANSWER * float(worth.sum()), scores.max(initial=0.0))
    return scores / full if full else scores


def _score_sessions(pool: Pool, base: np.ndarray) -> np.ndarray:
    """How much each session is about the matter: by the words of all its messages, and by its best node."""
    number = len(pool.sessions.sessions)
    session = index_of(pool.messages.sessions, pool.sessions.sessions)
    has_session = session >= 0
    texts = Texts(pool.messages.texts.counts[has_session], pool.messages.texts.lengths[has_session])
    session_texts = lexical.join_texts(texts, session[has_session], number)
    words = _normalize(lexical.scores(session_texts, pool.message_worth), pool.message_worth)
    session_scores, session = np.zeros(number), index_of(pool.nodes.sessions, pool.sessions.sessions)
    np.maximum.at(session_scores, session[session >= 0], base[session >= 0])
    best_base = base[pool.nodes.sessions > 0].max(initial=0.0) or 1.0
    return words + TALK_MEANING * session_scores / best_base


def _best_evidence(nodes: Nodes, messages: np.ndarray, scores: np.ndarray, otherwise: float) -> np.ndarray:
    """For each node the best of `scores` among the `messages` (ascending) that it rests on; `otherwise` if it rests on
    none."""
    message = index_of(nodes.evidence[:, 1], messages)
    best = np.full(len(nodes.ids), otherwise)
    np.maximum.at(best, nodes.evidence[message >= 0, 0], scores[message[message >= 0]])
    return best


def _blend_with_messages(nodes: Nodes, relevance: np.ndarray, messages: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Relevance, moved towards the score of the best message that a node rests on."""
    order = np.argsort(messages)
    best = _best_evidence(nodes, messages[order], scores[order], -1.0)
    blend = np.minimum(1.0, (1 - NEIGHBOURHOOD) * relevance + NEIGHBOURHOOD * best)
    return np.where(best >= 0, blend, relevance)
