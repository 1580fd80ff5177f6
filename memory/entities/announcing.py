"""What the stream is told of entities. Of an uncertain one it is told nothing."""

from typing import Literal

from echovessel.outbox import events
from memory.models import Entity

MergeStatus = Literal["new", "alias_matched", "similar", "uncertain", "merged", "kept_apart", "merge_undone"]


def announce(entity: Entity, how: MergeStatus) -> None:
    """Say that the entity is known for sure, if it is, and by what. Call inside the transaction that makes it so."""
    if entity.status == Entity.Status.CONFIRMED:
        events.publish(
            entity.persona.uuid,
            "memory.entity.confirmed",
            entity_id=str(entity.uuid),
            canonical_name=entity.canonical_name,
            kind=entity.kind,
            merge_status=how,
        )


def announce_gone(entity: Entity, into: Entity) -> None:
    """Say that the entity lives on in another one."""
    events.publish(
        entity.persona.uuid,
        "memory.node.updated",
        node_id=str(entity.uuid),
        kind="entity",
        change="merged",
        superseded_by=str(into.uuid),
    )
