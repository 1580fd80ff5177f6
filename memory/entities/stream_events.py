"""What the stream is told of entities. Of an uncertain one it is told nothing."""

from typing import Literal

from echovessel.outbox import events
from memory.models import Entity

MergeStatus = Literal["new", "alias_matched", "similar", "uncertain", "merged", "kept_apart", "merge_undone"]
Change = Literal["renamed", "named", "unnamed"]


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


def announce_described(entity: Entity) -> None:
    """Say what is written of it now, and by whom."""
    events.publish(
        entity.persona.uuid,
        "memory.entity.description_updated",
        entity_id=str(entity.uuid),
        canonical_name=entity.canonical_name,
        description=entity.description,
        source=entity.described_by,
    )


def announce_gone(entity: Entity, into: Entity) -> None:
    """Say that the entity lives on in another one."""
    _tell_change(entity, "merged", superseded_by=str(into.uuid))


def announce_changed(entity: Entity, change: Change) -> None:
    """Say that people changed its names."""
    _tell_change(entity, change)


def announce_split(entity: Entity, split_off: Entity) -> None:
    """Say that another one was made of a part of what was known of the entity."""
    events.publish(
        entity.persona.uuid, "memory.entity.split", entity_id=str(entity.uuid), made_entity_id=str(split_off.uuid)
    )


def _tell_change(entity: Entity, change: str, **more: str) -> None:
    stream, node_id = entity.persona.uuid, str(entity.uuid)
    events.publish(stream, "memory.node.updated", node_id=node_id, kind="entity", change=change, **more)
