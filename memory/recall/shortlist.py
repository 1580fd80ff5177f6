"""The shortlist: the best candidates, rendered, with their cost in tokens; they compete for the budget."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from typing import Final

import numpy as np

from chat import search
from chat.prompt.assemble import find_addressees, format_addressees
from echovessel.language.fact_domains import person_asked_about
from echovessel.language.requests import asks_to_forget
from echovessel.language.small_talk import gist_of
from echovessel.llm.prompts import one_line, tokens
from memory import knobs
from memory.recall import details, passages
from memory.recall.near_duplicates import choose_complete_text
from memory.recall.query import Query
from memory.recall.ranking import Ranking
from memory.recall.render import RenderedMessage, RenderedNode, Renderer
from memory.recall.retrievers import Pool
from memory.recall.scoring import DISPUTED_PENALTY, OTHER_PERSON_PENALTY, Parts
from memory.recall.select import Candidate
from memory.store.corrections import outdated_message_ids, unsure_message_ids
from memory.store.deduplication import dates_conflict
from memory.store.vector_cache import index_of
from persona.models import Persona

# At least this many nodes and as many messages are offered, or as many of each as the budget can hold; of both together
# the best OFFERED_SHARE times as many. (With 4 / 3 the recall of LoCoMo-30 falls by 0.002, with 5 / 3 no recall
# falls by more than 0.0005.)
MIN_OFFERED = 60
OFFERED_SHARE = 5 / 3
CONTENT: Final = 4  # its place in a row of a message
# Items have at least about this many tokens.
MIN_ITEM_TOKENS = 25


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The offered nodes and messages, rendered, by id; the relevance and score of each message. `best` are the
    positions of the best nodes and of the offered ones, some of them twice. `removed` gives the rule for each candidate
    that is not offered, by (is node, id)."""

    pool: Pool
    ranks: Ranking
    renderer: Renderer
    best: np.ndarray
    nodes: Mapping[int, RenderedNode]
    messages: Mapping[int, RenderedMessage]
    relevance: Mapping[int, float]
    scores: Mapping[int, float]
    removed: Mapping[tuple[bool, int], str]
    candidates: Sequence[Candidate]

    @cached_property
    def parts(self) -> dict[int, Parts]:
        """The parts of the scores of the best nodes and of the offered ones, by id. For the x-ray: no reply waits for
        them."""
        return dict(zip(self.pool.nodes.ids[self.best].tolist(), self.ranks.parts.each(self.best), strict=True))


def build_shortlist(
    persona: Persona,
    question: Query,
    pool: Pool,
    ranks: Ranking,
    renderer: Renderer,
    in_prompt: Collection[int],
    budget: int,
) -> Shortlist:
    """The candidates for a budget. Nodes below the floor, and the nodes `in_prompt`, are not offered. If the question
    is about the owner, memories about the persona get a penalty, and the reverse."""
    limit = max(MIN_OFFERED, budget // MIN_ITEM_TOKENS)
    may_be_offered = ranks.passes | ranks.excepted
    removed = dict.fromkeys(((True, key) for key in in_prompt), "in_prompt")
    removed |= dict.fromkeys(((True, key) for key in pool.nodes.ids[~may_be_offered].tolist()), "below_floor")
    places_in_prompt = index_of(np.array(list(in_prompt), dtype=np.int64), pool.nodes.ids)
    may_be_offered[places_in_prompt[places_in_prompt >= 0]] = False
    # The best nodes, which the x-ray shows, and the best of those that are offered.
    total = ranks.parts.total
    order = np.lexsort((pool.nodes.ids, -total))
    offered_places = order[may_be_offered[order]][:limit]
    # Only candidates that can be selected are read and rendered.
    weight, max_offered = knobs.relevance_weight(), int(OFFERED_SHARE * limit)
    best_messages = pool.sessions.messages[ranks.messages[:limit]]
    relevance = dict(zip(best_messages.tolist(), ranks.relevance[:limit].tolist(), strict=True))
    all_scores = np.sort(np.concatenate([total[offered_places], weight * ranks.relevance[:limit]]))
    min_score = all_scores[-max_offered] if len(all_scores) > max_offered else -np.inf
    offered_places = offered_places[total[offered_places] >= min_score]
    positions = dict(zip(pool.nodes.ids[offered_places].tolist(), offered_places.tolist(), strict=True))
    nodes = {row[0]: RenderedNode(*row) for row in details.node_rows(persona.pk, list(positions))}
    places = np.array([positions[key] for key in nodes], dtype=np.int64)
    person = person_asked_about(question.turns[-1], persona.user_display_name, persona.name)
    if other_person := {"user": "persona", "persona": "user"}.get(person):
        other_places = places[np.array([node.subject == other_person for node in nodes.values()], dtype=bool)]
        penalty = np.broadcast_to(ranks.parts.penalty, total.shape).copy()
        penalty[other_places] -= OTHER_PERSON_PENALTY * total[other_places]
        ranks = replace(ranks, parts=replace(ranks.parts, penalty=penalty))
    message_keys = [key for key, relevant in relevance.items() if weight * relevant >= min_score]
    messages, no_answers = read_checked_messages(persona, message_keys, renderer, pool)
    removed |= {(False, key): rule for key, rule in no_answers.items()}
    removed |= dict.fromkeys(
        ((False, key) for key, message in messages.items() if message.gist and not message.gist.whole), "small_talk"
    )
    node_candidates = _node_candidates(list(nodes.values()), places, renderer, pool, ranks)
    vectors = pool.nodes.vectors[places]
    node_candidates, duplicate_keys = fold_alike(node_candidates, nodes, renderer, vectors, knobs.alike_cosine())
    removed |= dict.fromkeys(((True, key) for key in duplicate_keys), "near_duplicate")
    shortlist = Shortlist(
        pool=pool,
        ranks=ranks,
        renderer=renderer,
        best=np.concatenate([order[:limit], offered_places]),
        nodes=nodes,
        messages=messages,
        relevance=relevance,
        scores={key: weight * relevant for key, relevant in relevance.items()}
        | {
            key: weight
            * relevance[key]
            * passages.statement_weight(message.content)
            * (1 - DISPUTED_PENALTY * message.is_unsure)
            * (1 - OTHER_PERSON_PENALTY * (message.role == other_person))
            for key, message in messages.items()
        },
        removed=removed,
        candidates=(),
    )
    return replace(shortlist, candidates=[*node_candidates, *_message_candidates(shortlist, ranks.messages[:limit])])


def read_checked_messages(
    persona: Persona, message_ids: Sequence[int], renderer: Renderer, pool: Pool
) -> tuple[dict[int, RenderedMessage], dict[int, str]]:
    """The messages by id, marked if they are unsure, and the rule against messages that are no answer: those that were
    corrected since, and requests to forget something."""
    messages = read_messages(persona, message_ids, renderer)
    contents = {key: message.content for key, message in messages.items()}
    answered_ids = {key: message.answers for key, message in messages.items() if message.answers is not None}
    next_messages = {
        key: message.next_of_owner for key, message in messages.items() if message.next_of_owner is not None
    }
    in_doubt = pool.memory.messages_in_doubt(sorted({*messages, *answered_ids.values()}))
    resting = details.resting_nodes(persona.pk, in_doubt) if in_doubt else []
    for key in unsure_message_ids(contents, answered_ids, resting):
        messages[key] = messages[key]._replace(is_unsure=True)
    names = (persona.user_display_name, persona.name)
    outdated = outdated_message_ids(contents, next_messages, answered_ids, resting, pool.replaced_texts, names)
    requests = (key for key, message in messages.items() if message.role == "user" and asks_to_forget(message.content))
    return messages, dict.fromkeys(outdated, "outdated") | dict.fromkeys(requests, "request")


def read_messages(persona: Persona, message_ids: Sequence[int], renderer: Renderer) -> dict[int, RenderedMessage]:
    """The messages by id; those that the owner wrote to others than the persona, with the names of these. Only imported
    messages cost further statements."""
    rows, speakers = search.message_rows(persona.pk, message_ids), renderer.names.values()
    messages = {row[0]: RenderedMessage(*row, gist_of(one_line(row[CONTENT]), speakers)) for row in rows}
    imported_messages = [message for message in messages.values() if message.import_hex]
    if imported_messages:
        by_owner = [
            (message.session_id, message.import_hex or "") for message in imported_messages if message.role == "user"
        ]
        addressees = find_addressees(by_owner)
        undated_sessions = details.undated_sessions(sorted({message.session_id for message in imported_messages}))
        for message in imported_messages:
            names = addressees.get(message.session_id) if message.role == "user" else None
            to = "" if names is None else format_addressees(names, renderer.language)
            messages[message.id] = messages[message.id]._replace(
                to=to, is_undated=message.session_id in undated_sessions
            )
    return messages


def _node_candidates(
    nodes: Sequence[RenderedNode], positions: np.ndarray, renderer: Renderer, pool: Pool, ranks: Ranking
) -> list[Candidate]:
    """The nodes, at their `positions` in the pool."""
    of, messages = pool.nodes.evidence.T
    columns = (
        *(np.searchsorted(of, positions, side) for side in ("left", "right")),
        ranks.parts.total[positions],
        -np.abs(pool.nodes.impacts[positions]),
        -pool.nodes.created[positions],
        (ranks.excepted & ~ranks.passes)[positions],
    )
    messages = messages.tolist()
    candidates = []
    for node, first, last, score, impact, age, only_excepted in zip(
        nodes, *(column.tolist() for column in columns), strict=True
    ):
        text = renderer.node(node)
        candidates.append(
            Candidate(
                key=node.id,
                is_node=True,
                score=score,
                tokens=tokens(text),
                messages=frozenset(messages[first:last]),
                rank=(impact, age),
                only_excepted=only_excepted,
                text=text,
            )
        )
    return candidates


def _message_candidates(shortlist: Shortlist, places: np.ndarray) -> Iterator[Candidate]:
    """The read messages among those at `places` in the sessions."""
    sessions = shortlist.pool.sessions
    ids = sessions.messages
    neighbours = (part[places].tolist() for part in (ids, sessions.before(ids), sessions.after(ids)))
    for key, before, after in zip(*neighbours, strict=True):
        if key in shortlist.messages and (False, key) not in shortlist.removed:
            message = shortlist.messages[key]
            neighbour_messages = [shortlist.messages[key] for key in (before, after) if key in shortlist.messages]
            line, cost, joined_tokens, question = shortlist.renderer.costs(message, neighbour_messages)
            yield Candidate(
                key=key,
                is_node=False,
                score=shortlist.scores[key],
                tokens=cost,
                messages=frozenset([key]),
                rank=(0.0, -message.created_at.replace(tzinfo=UTC).timestamp()),
                before=before or None,
                after=after or None,
                joined_tokens=joined_tokens,
                question_tokens=question,
                text=message.gist.whole if message.gist else message.content,
                line=line,
            )


def fold_alike(
    candidates: Sequence[Candidate],
    nodes: Mapping[int, RenderedNode],
    renderer: Renderer,
    vectors: np.ndarray,
    alike_cosine: float,
) -> tuple[list[Candidate], set[int]]:
    """The candidates with near-duplicates merged, and the keys of those removed. Of two duplicates the one with all the
    content is kept, with the better score, the evidence and the dates of both. `vectors` (n, d) are those of the
    candidates, of unit length or NaN."""
    are_alike = vectors @ vectors.T >= alike_cosine  # NaN is not
    np.fill_diagonal(are_alike, False)
    if not are_alike.any():
        return list(candidates), set()
    order = sorted(range(len(candidates)), key=lambda place: candidates[place].order)
    candidates_by_place = {place: candidates[place] for place in order}
    duplicates_by_place: dict[int, list[int]] = defaultdict(list)
    for first, second in np.argwhere(np.triu(are_alike[np.ix_(order, order)])).tolist():
        better, worse = order[first], order[second]
        if better in candidates_by_place and worse in candidates_by_place:
            first_node, second_node = nodes[candidates[better].key], nodes[candidates[worse].key]
            complete_text = (
                choose_complete_text(first_node.description, second_node.description)
                if _is_same_matter(first_node, second_node)
                else ""
            )
            if complete_text:
                kept_place, removed_place = (
                    (better, worse) if complete_text == first_node.description else (worse, better)
                )
                duplicate = candidates_by_place.pop(removed_place)
                messages = candidates_by_place[kept_place].messages | duplicate.messages
                candidates_by_place[kept_place] = candidates_by_place[kept_place]._replace(
                    score=max(candidates_by_place[kept_place].score, duplicate.score), messages=messages
                )
                duplicates_by_place[kept_place] += [removed_place, *duplicates_by_place.pop(removed_place, [])]
    for place, others in duplicates_by_place.items():
        node, *rest = (nodes[candidates[place_of_one].key] for place_of_one in (place, *others))
        text = renderer.node(node, rest)
        candidates_by_place[place] = candidates_by_place[place]._replace(text=text, tokens=tokens(text))
    return list(candidates_by_place.values()), {
        candidate.key for place, candidate in enumerate(candidates) if place not in candidates_by_place
    }


def _is_same_matter(first: RenderedNode, other: RenderedNode) -> bool:
    """Whether two memories can be duplicates: of the same kind and state, and not of different days."""
    states = [
        (node.kind, node.outcome, node.is_unsure, node.plan_state, node.since, node.until) for node in (first, other)
    ]
    days = [(node.event_start, node.event_end or node.event_start) for node in (first, other) if node.event_start]
    return states[0] == states[1] and (len(days) < 2 or not dates_conflict(*days))
