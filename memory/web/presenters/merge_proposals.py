"""The question whether two names mean the same, with the memories of each."""

from typing import Any

from memory.entities.proposal_reasons import REASONS
from memory.models import ConceptNode, Entity, MergeProposal
from memory.web.timeline import SHOWN_STATUSES

MAX_PAIRS = 20
MAX_NODES = 5  # of each entity
MAX_COMPANY = 5  # other names
DECIDED = (MergeProposal.Status.MERGED, MergeProposal.Status.KEPT_APART)


def proposal_context(proposal: MergeProposal) -> dict[str, Any]:
    """A pair with the memories of each."""
    return {
        "proposal": proposal,
        "sides": [_side(proposal.a), _side(proposal.b)],
        "reasons": [str(REASONS.get(reason, reason)) for reason in proposal.reasons],
        "is_merged": proposal.status == MergeProposal.Status.MERGED,
    }


def decided_proposals(entity: Entity) -> list[dict[str, Any]]:
    """The decisions about an entity, newest first."""
    proposals = MergeProposal.objects.about([entity.pk]).filter(status__in=DECIDED).select_related("a", "b")
    newest = proposals.prefetch_related("a__aliases", "b__aliases").order_by("-decided_at")[:MAX_PAIRS]
    return [proposal_context(proposal) for proposal in newest]


def _side(entity: Entity) -> dict[str, Any]:
    nodes = ConceptNode.objects.filter(mentions__entity=entity, status__in=SHOWN_STATUSES).newest_first()
    names = [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name]
    company = Entity.objects.filter(mentions__node__mentions__entity=entity).exclude(pk=entity.pk)
    company = company.exclude(status=Entity.Status.MERGED).distinct().order_by("id")[:MAX_COMPANY]
    shown_nodes = list(nodes[:MAX_NODES])
    return {
        "entity": entity,
        "names": names,
        "nodes": shown_nodes,
        "company": [
            entity_beside.canonical_name
            for entity_beside in company
            if entity_beside.canonical_name != entity.canonical_name
        ],
        "last_heard": max(
            (node.last_mentioned_at or node.created_at for node in shown_nodes), default=entity.created_at
        ),
    }
