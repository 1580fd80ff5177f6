"""The content of the review page: two entities that may be the same, the memories of each, and what they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from echovessel.admin import excerpt
from memory.entities.proposal_reasons import REASONS
from memory.models import ConceptNode, Entity, Evidence, Mention, MergeProposal
from memory.models.entity import MergeProposalQuerySet
from memory.web.keys import read_key
from memory.web.presenters.admin_node import node_address

MAX_MEMORIES, MAX_QUOTES, LONGEST = 5, 2, 300
MAX_COMPANY = 12


@dataclass(frozen=True)
class Memory:
    """A memory, its page, and the quotes it came from."""

    text: str
    address: str
    at: Any
    quotes: Sequence[str]


@dataclass(frozen=True)
class Side:
    """One of the two entities."""

    entity: Entity
    other_names: Sequence[str]
    memories: Sequence[Memory]
    memory_count: int


@dataclass(frozen=True)
class Pair:
    """The two entities side by side."""

    proposal: MergeProposal
    sides: Sequence[Side]
    reasons: Sequence[Any]
    company: Sequence[str]
    together: int


def pair_of(proposal: MergeProposal) -> Pair:
    """The pair of a proposal, in a constant number of statements."""
    entity_keys = proposal.a_id, proposal.b_id
    newest = {
        entity: list(ConceptNode.objects.filter(mentions__entity=entity).newest_first()[:MAX_MEMORIES])
        for entity in entity_keys
    }
    quotes: dict[int, list[str]] = {}
    keys = {node.pk for nodes in newest.values() for node in nodes}
    for node, quote in Evidence.objects.filter(node__in=keys).order_by("pk").values_list("node_id", "quote"):
        quotes.setdefault(node, []).append(excerpt(quote, LONGEST))
    sides = []
    for entity in (proposal.a, proposal.b):
        memories = [
            Memory(
                excerpt(node.description, LONGEST),
                node_address(node),
                node.created_at,
                quotes.get(node.pk, [])[:MAX_QUOTES],
            )
            for node in newest[entity.pk]
        ]
        aliases = [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name]
        sides.append(Side(entity, aliases, memories, entity.mentions.count()))
    # Entities that are mentioned together with each of the two.
    company = Entity.objects.filter(mentions__node__mentions__entity=proposal.a_id)
    company = company.filter(mentions__node__mentions__entity=proposal.b_id).exclude(pk__in=entity_keys).distinct()
    return Pair(
        proposal,
        sides,
        [REASONS.get(reason, reason) for reason in proposal.reasons],
        list(company.order_by("canonical_name").values_list("canonical_name", flat=True)[:MAX_COMPANY]),
        Mention.objects.filter(entity=proposal.a_id, node__mentions__entity=proposal.b_id).count(),
    )


def proposal_to_review(proposals: MergeProposalQuerySet, params: Mapping[str, str]) -> MergeProposal | None:
    """The proposal to show: the requested one, or the next open one, newest first."""
    with_rows = proposals.select_related("a__persona", "b__persona", "decided_by")
    with_aliases = with_rows.prefetch_related("a__aliases", "b__aliases")
    if pair := read_key(params.get("pair", "")):
        return with_aliases.filter(pk=pair).first()
    waiting = with_aliases.open()
    if before := read_key(params.get("before", "")):
        return waiting.filter(pk__gt=before).order_by("pk").first()
    if after := read_key(params.get("after", "")):
        waiting = waiting.filter(pk__lt=after)
    return waiting.order_by("-pk").first()
