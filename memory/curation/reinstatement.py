"""Memories that hold again when others no longer hold: these are forgotten, withheld, or wrong according to the owner.

    superseded   active again; if yet another memory superseded the deleted one, that one supersedes it
    ended        not ended any more, and a plan is planned again
    remainder    the remaining part of a memory that had ended in part gives way to that memory

Memories that the owner withheld do not return: if all evidence of a memory is withheld, it stays superseded by none,
and the memories it had superseded hold again.
"""

import json
from collections.abc import Collection, Iterable
from typing import Any

from django.db.models.expressions import RawSQL

from memory.models import ConceptNode
from memory.models.node import L3
from memory.store.writing import days_of_fact

Status, PlanState = ConceptNode.Status, ConceptNode.PlanState


def is_ended(fact: ConceptNode) -> bool:
    """Whether a fact is told as past."""
    return fact.plan_state in (PlanState.DONE, PlanState.CANCELLED) if fact.plan_state else bool(fact.until)


def is_remainder(fact: ConceptNode) -> bool:
    """Whether the fact is the remainder of one that ended in part, which it supersedes."""
    return fact.kind == ConceptNode.Kind.FACT and fact.resolved_by_id is not None and not is_ended(fact)


def values_to_reinstate(newer: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The new column values of memories, by key, when the `newer` ones no longer hold. Reads only."""
    ended_keys = set(newer)
    columns: dict[int, dict[str, Any]] = {}
    resolved = ConceptNode.objects.filter(resolved_by__in=_among(ended_keys), kind=ConceptNode.Kind.FACT)
    for fact in resolved.exclude(pk__in=_among(ended_keys)).order_by("id"):
        if is_ended(fact):
            columns[fact.pk] = _columns_without_end(fact)
        elif fact.status in (Status.ACTIVE, Status.SUPERSEDED) and fact.supersedes.exists():
            columns[fact.pk] = {"status": Status.HIDDEN}
            ended_keys.add(fact.pk)
    ring, reinstated_keys = set(ended_keys), set[int]()
    while ring:
        superseded = ConceptNode.objects.filter(superseded_by__in=_among(ring), status=Status.SUPERSEDED)
        older = superseded.exclude(pk__in=_among(ended_keys)).select_related("superseded_by").order_by("id")
        ring = set()
        for node in sorted(older, key=lambda node: node.kind not in L3):  # conclusions after the memories they rest on
            by = node.superseded_by
            while by is not None and by.pk in ended_keys:
                by = by.superseded_by
            values = columns.setdefault(node.pk, {})
            values["superseded_by_id"] = by.pk if by else None
            if by is None and _has_ground(node, ended_keys, reinstated_keys):
                values["status"] = Status.ACTIVE
                reinstated_keys.add(node.pk)
            elif by is None:
                ended_keys.add(node.pk)
                ring.add(node.pk)
    return columns


def _columns_without_end(fact: ConceptNode) -> dict[str, Any]:
    if fact.plan_state:
        return {"plan_state": PlanState.PLANNED, "resolved_by_id": None}
    start, end = days_of_fact(fact.domain, fact.since, "") or (None, None)
    return {"until": "", "event_time_start": start, "event_time_end": end, "resolved_by_id": None}


def _has_ground(node: ConceptNode, ended_keys: Collection[int], reinstated_keys: Collection[int]) -> bool:
    """Whether a memory rests on a message that is not withheld or on a memory that holds; or on nothing, as an imported
    one may."""
    withheld = list(node.evidence.values_list("message__withheld", flat=True))
    children = [edge.child for edge in node.filling.exclude(child=None).select_related("child")]
    statuses = (Status.ACTIVE, Status.HIDDEN, Status.ARCHIVED)
    stands = [
        child.pk in reinstated_keys or (child.pk not in ended_keys and child.status in statuses)
        for child in children
        if child
    ]
    return not all(withheld) or any(stands) or not (withheld or children)


def _among(keys: Iterable[int]) -> RawSQL:
    """One parameter for any number of keys: a reverted import has thousands."""
    return RawSQL("SELECT value FROM json_each(%s)", [json.dumps([*keys])])
