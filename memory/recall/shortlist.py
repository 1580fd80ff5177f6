"""What competes for the budget: the best of the candidates, worded, with what they cost."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

import numpy as np

from chat import search
from chat.prompt.addressees import find_addressees, format_addressees
from echovessel.llm.prompt_sections import tokens
from memory import knobs
from memory.recall import details, passages
from memory.recall.ranking import Ranking
from memory.recall.render import RenderedMessage, RenderedNode, Renderer
from memory.recall.retrievers import Pool
from memory.recall.scoring import Parts
from memory.recall.select import Candidate
from memory.store.corrections import outdated_message_ids
from persona.models import Persona

# So many nodes and as many lines compete for the budget, or as many of each as it can hold.
LEAST_OFFERED = 60
# A budget is filled by items of about this many tokens at least.
LEAST_ITEM_TOKENS = 25


@dataclass(frozen=True)
class Shortlist:
    """The best nodes and lines, by id: how they are told, the parts of a node's score, a line's relevance and score.
    `removed` says of those that are not offered why, by (is node, id)."""

    teller: Renderer
    nodes: Mapping[int, RenderedNode]
    parts: Mapping[int, Parts]
    lines: Mapping[int, RenderedMessage]
    relevance: Mapping[int, float]
    scores: Mapping[int, float]
    removed: Mapping[tuple[bool, int], str]
    offers: Sequence[Candidate]


def build_shortlist(
    persona: Persona, pool: Pool, ranks: Ranking, teller: Renderer, standing: Collection[int], budget: int
) -> Shortlist:
    """The offers for a budget. What is below the floor, and what is in `standing`, is not offered."""
    most = max(LEAST_OFFERED, budget // LEAST_ITEM_TOKENS)
    below = pool.nodes.ids[~(ranks.passes | ranks.excepted)].tolist()
    removed = dict.fromkeys(((True, key) for key in standing), "in_prompt") | dict.fromkeys(
        ((True, key) for key in below), "below_floor"
    )
    best = _best_nodes(pool, ranks, removed, most)
    ids = pool.nodes.ids[best].tolist()
    relevance = dict(zip(ranks.lines[:most].tolist(), ranks.relevance[:most].tolist(), strict=True))
    nodes = {row[0]: RenderedNode(*row) for row in details.node_rows(persona.pk, ids)}
    lines = _addressed(
        [RenderedMessage(*row) for row in search.message_rows(persona.pk, list(relevance))], teller.language
    )
    removed |= dict.fromkeys(((False, key) for key in _outdated(persona, lines, pool)), "outdated")
    parts = {key: of for key, of in zip(ids, ranks.parts.each(best), strict=True) if key in nodes}
    weight = knobs.relevance_weight()
    scores = {key: weight * relevance[key] * passages.tells(line.content) for key, line in lines.items()}
    offered = [
        place for key, place in zip(ids, best.tolist(), strict=True) if key in nodes and (True, key) not in removed
    ]
    told = {key: line for key, line in lines.items() if (False, key) not in removed}
    return Shortlist(
        teller=teller,
        nodes=nodes,
        parts=parts,
        lines=lines,
        relevance=relevance,
        scores=scores,
        removed=removed,
        offers=[*_node_offers(offered, nodes, parts, pool, ranks, teller), *_line_offers(told, scores, pool, teller)],
    )


def _addressed(lines: Sequence[RenderedMessage], language: str) -> dict[int, RenderedMessage]:
    """The lines by id, those of the owner with the people to whom they were said, where the persona took no part. Only
    imported lines cost a statement."""
    imported = [(line.session_id, line.import_hex) for line in lines if line.role == "user" and line.import_hex]
    to = find_addressees(imported) if imported else {}
    return {
        line.id: line._replace(to=format_addressees(to[line.session_id], language))
        if line.role == "user" and line.session_id in to
        else line
        for line in lines
    }


def _outdated(persona: Persona, lines: Mapping[int, RenderedMessage], pool: Pool) -> set[int]:
    """The lines that say what is not so any more."""
    keys = list(lines)
    answering = details.last_of_user(persona.pk, keys)
    return outdated_message_ids(
        {key: line.content for key, line in lines.items()},
        details.next_of_user(persona.pk, keys),
        answering,
        details.resting_nodes(persona.pk, sorted({*keys, *answering.values()})),
        pool.replaced,
        (persona.called, persona.name),
    )


def _best_nodes(pool: Pool, ranks: Ranking, removed: Collection[tuple[bool, int]], most: int) -> np.ndarray:
    """The places of the best nodes: of those that stand, and of all, which the x-ray tells of."""
    order = np.lexsort((pool.nodes.ids, -ranks.parts.total))
    standing = [place for place in order.tolist() if (True, int(pool.nodes.ids[place])) not in removed]
    return np.union1d(order[:most], np.array(standing[:most], dtype=np.int64)).astype(np.int64)


def _node_offers(
    offered: Sequence[int],
    nodes: Mapping[int, RenderedNode],
    parts: Mapping[int, Parts],
    pool: Pool,
    ranks: Ranking,
    teller: Renderer,
) -> Iterator[Candidate]:
    found, rests_on = pool.nodes, _by_node(pool.nodes.evidence)
    for place in offered:
        key = int(found.ids[place])
        text = teller.node(nodes[key])
        yield Candidate(
            key=key,
            is_node=True,
            score=parts[key].total,
            tokens=tokens(text),
            lines=frozenset(rests_on.get(place, ())),
            rank=(-abs(found.impacts[place]), -found.created[place]),
            only_excepted=bool(ranks.excepted[place] and not ranks.passes[place]),
            text=text,
        )


def _by_node(evidence: np.ndarray) -> dict[int, list[int]]:
    """The messages that each node rests on, by its place."""
    found: dict[int, list[int]] = {}
    for place, message in evidence.tolist():
        found.setdefault(place, []).append(message)
    return found


def _line_offers(
    lines: Mapping[int, RenderedMessage], scores: Mapping[int, float], pool: Pool, teller: Renderer
) -> Iterator[Candidate]:
    said = pool.talks.lines
    beside = zip(said.tolist(), pool.talks.before(said).tolist(), pool.talks.after(said).tolist(), strict=True)
    for key, before, after in beside:
        if key in lines:
            cost, joined = teller.costs(lines[key])
            yield Candidate(
                key=key,
                is_node=False,
                score=scores[key],
                tokens=cost,
                lines=frozenset([key]),
                rank=(0.0, -lines[key].created_at.replace(tzinfo=UTC).timestamp()),
                before=int(before) or None,
                after=int(after) or None,
                joined_tokens=joined,
            )
