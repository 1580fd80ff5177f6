"""A memory with its sources, its conclusions and its versions: the newest of each."""

from typing import Any

from memory.models import ConceptNode, Entity, Filling

MAX_SHOWN = 20


def trace_node(node: ConceptNode) -> dict[str, Any]:
    """Its evidence, grounds and conclusions (at most MAX_SHOWN of each), and `lost_grounds`: how many of the grounds
    were forgotten."""
    evidence = node.evidence.select_related("message__session").order_by("message__created_at", "start")
    grounds = Filling.objects.filter(parent=node, child__isnull=False).select_related("child")
    grounds = grounds.prefetch_related("child__versions").order_by("-child__created_at", "-child")
    above = Filling.objects.filter(child=node, orphaned=False).select_related("parent")
    return {
        "evidence": evidence[:MAX_SHOWN],
        "grounds": [edge.child for edge in grounds[:MAX_SHOWN]],
        "lost_grounds": Filling.objects.filter(parent=node, child=None).count(),
        "above": [edge.parent for edge in above.order_by("-parent__created_at", "-parent")[:MAX_SHOWN]],
        "earlier": list(node.supersedes.order_by("-id")[:MAX_SHOWN]),
        "settled": list(node.resolves.order_by("-id")[:MAX_SHOWN]),
        "names": list(node.entities.exclude(status=Entity.Status.MERGED)),
        "versions": list(node.versions.all()[:MAX_SHOWN]),
    }
