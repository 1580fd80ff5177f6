"""Memories of what was forgotten before, and what the owner has told anew since: pages say so beside them."""

from collections.abc import Iterable

from django.db.models import prefetch_related_objects

from memory.models import ConceptNode
from memory.store import tombstones
from memory.store.writing import Draft, Quote, burials_of


def forgotten_before(nodes: Iterable[ConceptNode]) -> set[int]:
    """The keys of those of a persona's nodes that say, or rest on, what was forgotten before the owner told it anew."""
    wanted = [node for node in nodes if node.import_uuid is None]
    if not wanted or not wanted[0].persona.tombstones.exists():
        return set()
    prefetch_related_objects(wanted, "evidence__message")
    told = {node.pk: burials_of(_draft(node)) for node in wanted}
    buried = tombstones.find_tombstones(wanted[0].persona, {burial for burials in told.values() for burial in burials})
    return {
        pk
        for pk, burials in told.items()
        if any(at and burial in buried and buried[burial].created_at < at for burial, at in burials.items())
    }


def mark(nodes: Iterable[ConceptNode]) -> list[ConceptNode]:
    """The nodes with `forgotten_before`, found at once for all."""
    found = list(nodes)
    anew = forgotten_before(found)
    for node in found:
        node.forgotten_before = node.pk in anew  # type: ignore[attr-defined]
    return found


def _draft(node: ConceptNode) -> Draft:
    quotes = [Quote(row.message, row.quote, row.start, row.end) for row in node.evidence.all()]
    return Draft(node.kind, node.description, node.source, evidence=quotes)
