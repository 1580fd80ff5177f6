"""Actions of a person on a memory that leave its words unchanged. Each can be undone.

Each is one conditional update and one event of the stream; if there is nothing to do it returns False and publishes
nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from django.db import transaction

from echovessel.outbox import events
from memory.curation.reinstatement import is_ended, values_to_reinstate
from memory.models import ConceptNode
from memory.models.node import NodeQuerySet
from memory.store.writing import days_of_fact, erase_entity_descriptions

Status, Verification, Because = ConceptNode.Status, ConceptNode.Verification, ConceptNode.ArchivedBecause


def hide(node: ConceptNode) -> bool:
    """Keep it in lists, exclude it from recall, and clear entity descriptions generated from it."""
    with transaction.atomic():
        hidden = _changed(node, "hidden", _of(node).filter(status=Status.ACTIVE), status=Status.HIDDEN)
        if hidden:
            erase_entity_descriptions(node)
    return hidden


def show(node: ConceptNode) -> bool:
    """Recall a hidden memory again."""
    return _changed(node, "shown", _of(node).filter(status=Status.HIDDEN), status=Status.ACTIVE)


def confirm(node: ConceptNode) -> bool:
    """Confirm that it is true: it weighs more in recall, and neither expires nor ages."""
    return _verified(node, "confirmed", Verification.CONFIRMED)


def dispute(node: ConceptNode) -> bool:
    """Doubt that it is true: it weighs less in recall."""
    return _verified(node, "disputed", Verification.DISPUTED)


def pin(node: ConceptNode) -> bool:
    """Keep it: it neither expires, nor settles, nor ages."""
    return _changed(node, "pinned", _of(node).filter(pinned=False), pinned=True)


def unpin(node: ConceptNode) -> bool:
    """Undo `pin`."""
    return _changed(node, "unpinned", _of(node).filter(pinned=True), pinned=False)


def archive(node: ConceptNode) -> bool:
    """Exclude it from recall although nothing is wrong with it."""
    active = _of(node).filter(status=Status.ACTIVE)
    return _changed(node, "archived", active, status=Status.ARCHIVED, archived_because=Because.PERSON)


def unarchive(node: ConceptNode) -> bool:
    """Recall an archived memory again, whoever archived it."""
    archived = _of(node).filter(status=Status.ARCHIVED)
    return _changed(node, "unarchived", archived, status=Status.ACTIVE, archived_because="")


def release_from_quarantine(node: ConceptNode) -> bool:
    """Accept a memory that was quarantined because its evidence was not found."""
    quarantined = _of(node).filter(status=Status.QUARANTINED)
    return _changed(node, "let_in", quarantined, status=Status.ACTIVE)


def reinstate(newer: ConceptNode) -> list[ConceptNode]:
    """Undo that a memory superseded others or ended them: they hold again, and it is hidden. Returns the changed ones
    as they were before."""
    with transaction.atomic():
        changes = values_to_reinstate([newer.pk])
        before = list(ConceptNode.objects.filter(pk__in=changes).select_related("persona").order_by("id"))
        for node in before:
            values = changes[node.pk]
            ConceptNode.objects.filter(pk=node.pk).update(**values)
            if values.get("status") == Status.HIDDEN:
                _publish(node, "hidden")
                erase_entity_descriptions(node)
            elif values.keys() - {"superseded_by_id"}:
                _publish(node, "reinstated")
        if before:
            hide(newer)
    return before


def unsupersede(node: ConceptNode) -> bool:
    """Recall a superseded memory again if no memory supersedes it any longer."""
    alone = _of(node).filter(status=Status.SUPERSEDED, superseded_by=None)
    return _changed(node, "reinstated", alone, status=Status.ACTIVE)


def end(fact: ConceptNode, by: ConceptNode, *, until: str, plan_state: str) -> bool:
    """End a fact again because of a memory that ended it before; False if it has ended already."""
    start, last = days_of_fact(fact.domain, fact.since, until) or (None, None)
    values = {"until": until, "plan_state": plan_state, "event_time_start": start, "event_time_end": last}
    return not is_ended(fact) and _changed(fact, "ended", _of(fact).filter(resolved_by=None), resolved_by=by, **values)


Action = Literal["hide", "show", "confirm", "dispute", "pin", "unpin", "archive", "unarchive", "let_in"]
# The actions of page, admin and API, by their name in URLs.
NODE_ACTIONS: Mapping[Action, Callable[[ConceptNode], bool]] = {
    "hide": hide,
    "show": show,
    "confirm": confirm,
    "dispute": dispute,
    "pin": pin,
    "unpin": unpin,
    "archive": archive,
    "unarchive": unarchive,
    "let_in": release_from_quarantine,
}


def _of(node: ConceptNode) -> NodeQuerySet:
    return ConceptNode.objects.filter(pk=node.pk)


def _verified(node: ConceptNode, change: str, verification: str) -> bool:
    return _changed(node, change, _of(node).exclude(verification=verification), verification=verification)


def _changed(node: ConceptNode, change: str, where: NodeQuerySet, **values: Any) -> bool:
    """Change the node if `where` still matches it, and publish the change."""
    with transaction.atomic():
        if not where.update(**values):
            return False
        _publish(node, change)
    node.refresh_from_db(fields=[*values])
    return True


def _publish(node: ConceptNode, change: str) -> None:
    events.publish(node.persona.uuid, "memory.node.updated", node_id=str(node.uuid), kind=node.kind, change=change)
