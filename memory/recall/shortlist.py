"""The shortlist: the best candidates, rendered, with their cost in tokens; they compete for the budget."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

import numpy as np

from chat import search
from chat.prompt.assemble import find_addressees, format_addressees
from echovessel.language.fact_domains import person_asked_about
from echovessel.language.small_talk import gist_of
from echovessel.llm.prompts import one_line, tokens
from memory import knobs
from memory.recall import details, passages
from memory.recall.near_duplicates import which_is_enough
from memory.recall.query import Query
from memory.recall.ranking import Ranking
from memory.recall.render import RenderedMessage, RenderedNode, Renderer
from memory.recall.retrievers import Pool
from memory.recall.scoring import DISPUTED_PENALTY, OTHER_PERSON_PENALTY, Parts
from memory.recall.select import Candidate
from memory.store.corrections import outdated_message_ids, unsure_message_ids
from memory.store.deduplication import dates_conflict
from persona.models import Persona

# This many nodes and as many messages compete for the budget, or as many of each as it can hold.
MIN_OFFERED = 60
# A budget is filled by items of about this many tokens at least.
MIN_ITEM_TOKENS = 25


@dataclass(frozen=True)
class Shortlist:
    """The best nodes and messages, by id: as they are rendered, the parts of a node's score, a message's relevance and
    score. `removed` gives of those that are not offered the rule, by (is node, id)."""

    renderer: Renderer
    nodes: Mapping[int, RenderedNode]
    parts: Mapping[int, Parts]
    messages: Mapping[int, RenderedMessage]
    relevance: Mapping[int, float]
    scores: Mapping[int, float]
    removed: Mapping[tuple[bool, int], str]
    candidates: Sequence[Candidate]


def build_shortlist(
    persona: Persona,
    question: Query,
    pool: Pool,
    ranks: Ranking,
    renderer: Renderer,
    in_prompt: Collection[int],
    budget: int,
) -> Shortlist:
    """The candidates for a budget. What is below the floor, and the nodes `in_prompt`, are not offered. Where the
    question is about the owner, what is the persona's own stands back, and the reverse."""
    limit = max(MIN_OFFERED, budget // MIN_ITEM_TOKENS)
    below = pool.nodes.ids[~(ranks.passes | ranks.excepted)].tolist()
    removed = dict.fromkeys(((True, key) for key in in_prompt), "in_prompt")
    removed |= dict.fromkeys(((True, key) for key in below), "below_floor")
    # The best nodes of all, which the x-ray shows, and the best of those that are offered.
    order = np.lexsort((pool.nodes.ids, -ranks.parts.total))
    left = [position for position in order.tolist() if (True, int(pool.nodes.ids[position])) not in removed]
    best = np.union1d(order[:limit], np.array(left[:limit], dtype=np.int64)).astype(np.int64)
    ids = pool.nodes.ids[best].tolist()
    nodes = {row[0]: RenderedNode(*row) for row in details.node_rows(persona.pk, ids)}
    parts = {key: of for key, of in zip(ids, ranks.parts.each(best), strict=True) if key in nodes}
    asked_about = person_asked_about(question.turns[-1], persona.called, persona.name)
    other_person = {"user": "persona", "persona": "user"}.get(asked_about)
    parts |= {
        key: replace(of, penalty=of.penalty - OTHER_PERSON_PENALTY * of.total)
        for key, of in parts.items()
        if nodes[key].subject == other_person
    }
    relevance = dict(zip(ranks.messages[:limit].tolist(), ranks.relevance[:limit].tolist(), strict=True))
    messages = read_messages(persona, list(relevance), renderer)
    answering = details.last_of_user(persona.pk, list(messages))
    resting = details.resting_nodes(persona.pk, sorted({*messages, *answering.values()}))
    unsure = unsure_message_ids(_contents(messages), answering, resting)
    messages |= {key: messages[key]._replace(is_unsure=True) for key in unsure}
    outdated = _outdated(persona, messages, answering, resting, pool)
    removed |= dict.fromkeys(((False, key) for key in outdated), "outdated")
    removed |= dict.fromkeys(
        ((False, key) for key, message in messages.items() if message.gist and not message.gist.whole), "small_talk"
    )
    weight = knobs.relevance_weight()
    shortlist = Shortlist(
        renderer=renderer,
        nodes=nodes,
        parts=parts,
        messages=messages,
        relevance=relevance,
        scores={
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
    of_nodes = list(_node_candidates(best.tolist(), shortlist, pool, ranks))
    vectors = pool.nodes.vectors[np.searchsorted(pool.nodes.ids, [candidate.key for candidate in of_nodes])]
    of_nodes, folded = fold_alike(of_nodes, nodes, renderer, vectors, knobs.alike_cosine())
    removed |= dict.fromkeys(((True, key) for key in folded), "near_duplicate")
    return replace(shortlist, candidates=[*of_nodes, *_message_candidates(shortlist, pool)])


def read_current_messages(
    persona: Persona, message_ids: Sequence[int], renderer: Renderer, pool: Pool
) -> dict[int, RenderedMessage]:
    """The messages by id, without those that say what was put right since."""
    messages = read_messages(persona, message_ids, renderer)
    answering = details.last_of_user(persona.pk, list(messages))
    resting = details.resting_nodes(persona.pk, sorted({*messages, *answering.values()}))
    outdated = _outdated(persona, messages, answering, resting, pool)
    return {key: message for key, message in messages.items() if key not in outdated}


def _contents(messages: Mapping[int, RenderedMessage]) -> dict[int, str]:
    return {key: message.content for key, message in messages.items()}


def _outdated(
    persona: Persona,
    messages: Mapping[int, RenderedMessage],
    answering: Mapping[int, int],
    resting: Sequence[details.Resting],
    pool: Pool,
) -> Collection[int]:
    next_of_user = details.next_of_user(persona.pk, list(messages))
    names = (persona.called, persona.name)
    return outdated_message_ids(_contents(messages), next_of_user, answering, resting, pool.replaced, names)


def read_messages(persona: Persona, message_ids: Sequence[int], renderer: Renderer) -> dict[int, RenderedMessage]:
    """The messages by id; where the owner wrote to others than the persona, with their names. Only imported messages
    cost further statements."""
    rows = [RenderedMessage(*row) for row in search.message_rows(persona.pk, message_ids)]
    messages = {row.id: row._replace(gist=gist_of(one_line(row.content), renderer.names.values())) for row in rows}
    imported = [message for message in rows if message.import_hex]
    if imported:
        by_owner = [(message.session_id, message.import_hex or "") for message in imported if message.role == "user"]
        addressees = find_addressees(by_owner)
        undated = details.undated_sessions(sorted({message.session_id for message in imported}))
        for message in imported:
            names = addressees.get(message.session_id) if message.role == "user" else None
            to = "" if names is None else format_addressees(names, renderer.language)
            messages[message.id] = messages[message.id]._replace(to=to, is_undated=message.session_id in undated)
    return messages


def _node_candidates(positions: Sequence[int], shortlist: Shortlist, pool: Pool, ranks: Ranking) -> Iterator[Candidate]:
    evidence: dict[int, list[int]] = defaultdict(list)
    for position, message in pool.nodes.evidence.tolist():
        evidence[position].append(message)
    for position in positions:
        key = int(pool.nodes.ids[position])
        if key in shortlist.nodes and (True, key) not in shortlist.removed:
            text = shortlist.renderer.node(shortlist.nodes[key])
            yield Candidate(
                key=key,
                is_node=True,
                score=shortlist.parts[key].total,
                tokens=tokens(text),
                messages=frozenset(evidence[position]),
                rank=(-abs(pool.nodes.impacts[position]), -pool.nodes.created[position]),
                only_excepted=bool(ranks.excepted[position] and not ranks.passes[position]),
                text=text,
            )


def _message_candidates(shortlist: Shortlist, pool: Pool) -> Iterator[Candidate]:
    ids = pool.sessions.messages
    neighbours = zip(ids.tolist(), pool.sessions.before(ids).tolist(), pool.sessions.after(ids).tolist(), strict=True)
    for key, before, after in neighbours:
        if key in shortlist.messages and (False, key) not in shortlist.removed:
            message = shortlist.messages[key]
            beside = [shortlist.messages[one] for one in (before, after) if one in shortlist.messages]
            cost, joined, question = shortlist.renderer.costs(message, beside)
            yield Candidate(
                key=key,
                is_node=False,
                score=shortlist.scores[key],
                tokens=cost,
                messages=frozenset([key]),
                rank=(0.0, -message.created_at.replace(tzinfo=UTC).timestamp()),
                before=int(before) or None,
                after=int(after) or None,
                joined_tokens=joined,
                question_tokens=question,
                text=message.gist.whole if message.gist else message.content,
            )


def fold_alike(
    candidates: Sequence[Candidate],
    nodes: Mapping[int, RenderedNode],
    renderer: Renderer,
    vectors: np.ndarray,
    alike_cosine: float,
) -> tuple[list[Candidate], set[int]]:
    """The candidates with those that tell the same folded into one, and the keys of those that are gone. Of two the one
    stays that tells all of it, at the place of the better, with the evidence and the days of both. `vectors` (n, d) are
    those of the candidates, of unit length or NaN."""
    order = sorted(range(len(candidates)), key=lambda place: candidates[place].order)
    kept = {place: candidates[place] for place in order}
    alike: dict[int, list[int]] = defaultdict(list)
    known = np.nan_to_num(vectors[order])
    for first, second in np.argwhere(np.triu(known @ known.T, 1) >= alike_cosine).tolist():
        better, worse = order[first], order[second]
        if better in kept and worse in kept:
            one, other = nodes[candidates[better].key], nodes[candidates[worse].key]
            enough = which_is_enough(one.description, other.description) if _is_same_matter(one, other) else ""
            if enough:
                stays, goes = (better, worse) if enough == one.description else (worse, better)
                gone = kept.pop(goes)
                messages = kept[stays].messages | gone.messages
                kept[stays] = kept[stays]._replace(score=max(kept[stays].score, gone.score), messages=messages)
                alike[stays] += [goes, *alike.pop(goes, [])]
    for place, others in alike.items():
        node, *rest = (nodes[candidates[one].key] for one in (place, *others))
        text = renderer.node(node, rest)
        kept[place] = kept[place]._replace(text=text, tokens=tokens(text))
    return list(kept.values()), {candidate.key for place, candidate in enumerate(candidates) if place not in kept}


def _is_same_matter(one: RenderedNode, other: RenderedNode) -> bool:
    """Whether two memories can be of one thing: of one kind and state, and not of different days."""
    states = [
        (node.kind, node.outcome, node.is_unsure, node.plan_state, node.since, node.until) for node in (one, other)
    ]
    days = [(node.event_start, node.event_end or node.event_start) for node in (one, other) if node.event_start]
    return states[0] == states[1] and (len(days) < 2 or not dates_conflict(*days))
