"""Stream events about entities. An uncertain entity is not announced."""

from typing import Literal

from echovessel.outbox import events
from memory.models import Entity

MergeStatus = Literal["new", "alias_matched", "similar", "uncertain", "merged", "kept_apart", "merge_undone"]
Change = Literal["renamed", "named", "unnamed"]


def announce(entity: Entity, change: MergeStatus) -> None:
    """Publish that the entity is confirmed, if it is, and how. Call inside the transaction that confirms it."""
    if entity.status == Entity.Status.CONFIRMED:
        events.publish(
            entity.persona.uuid,
            "memory.entity.confirmed",
            entity_id=str(entity.uuid),
            canonical_name=entity.canonical_name,
            kind=entity.kind,
            merge_status=change,
        )


def announce_described(entity: Entity) -> None:
    """Publish the entity's new description and its author."""
    events.publish(
        entity.persona.uuid,
        "memory.entity.description_updated",
        entity_id=str(entity.uuid),
        canonical_name=entity.canonical_name,
        description=entity.description,
        source=entity.described_by,
    )


def announce_deletion(entity: Entity, into: Entity) -> None:
    """Publish that the entity was merged into another one."""
    _publish_change(entity, "merged", superseded_by=str(into.uuid))


def announce_changed(entity: Entity, change: Change) -> None:
    """Publish that people changed the entity's names."""
    _publish_change(entity, change)


def announce_split(entity: Entity, split_off: Entity) -> None:
    """Publish that a new entity was split off this one."""
    events.publish(
        entity.persona.uuid, "memory.entity.split", entity_id=str(entity.uuid), made_entity_id=str(split_off.uuid)
    )


def _publish_change(entity: Entity, change: str, **more: str) -> None:
    stream, node_id = entity.persona.uuid, str(entity.uuid)
    events.publish(stream, "memory.node.updated", node_id=node_id, kind="entity", change=change, **more)
