"""Saving a persona as an archive: what she remembers, a line each, as `loading` restores it.

The same memory gives the same bytes, but for the header's time; restored in an empty installation, it gives them again.
An id is the one that a row came with, else its uuid. What is saved is settled by its keys when the first line is asked
for; then rows are read a batch at a time, and no reader stays open meanwhile, which would hold up a checkpoint.

Left out: talks off the record; entities that live on in another one (what is known of them is known of that one), and
who was asked to be one with whom; edges to what was forgotten; earlier versions. Lines that were put away are marked.
"""

import base64
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Model, QuerySet
from django.db.models.functions import StrIndex

from chat.models import Message, Session
from memory import vectors
from memory.archive.records import (
    FORMAT,
    VERSION,
    EntityRecord,
    MessageRecord,
    NodeRecord,
    PersonaRecord,
    Record,
    SessionRecord,
)
from memory.entities.names import normalized
from memory.models import ConceptNode, Entity, Evidence, Filling, Mention, NodeVector
from persona.models import Persona

AT_ONCE = 500

Keys = Mapping[int, None]  # in the order in which they are saved


@dataclass(frozen=True)
class _Saved:
    """The keys of what is saved."""

    sessions: Keys
    messages: Keys
    nodes: Keys
    entities: Keys

    @classmethod
    def of(cls, persona: Persona) -> "_Saved":
        with transaction.atomic():
            return cls(
                sessions=_keys(persona.sessions.filter(off_the_record=False), "started_at"),
                messages=_keys(persona.messages.on_record(), "created_at"),
                nodes=_keys(persona.nodes.all(), "created_at"),
                entities=_keys(persona.entities.exclude(status=Entity.Status.MERGED), "created_at"),
            )


def lines(persona: Persona, now: datetime) -> Iterator[bytes]:
    """The archive of the persona, each line with its break."""
    saved = _Saved.of(persona)
    model = vectors.model_in_use()
    yield _line("header", format=FORMAT, version=VERSION, exported_at=_iso(now), embedding_model=model or None)
    yield _line("persona", **_persona(persona))
    for session in _rows(Session.objects.all(), saved.sessions):
        yield _line("session", **_session(session))
    for keys in _batches(saved.messages):
        yield from _messages(keys)
    for keys in _batches(saved.nodes):
        yield from _nodes(keys, saved, model)
    for keys in _batches(saved.entities):
        yield from _entities(keys)


def _persona(persona: Persona) -> dict[str, Any]:
    blocks = dict(persona.core_blocks.values_list("label", "content"))
    return {
        "id": _id(persona.external_id, persona.uuid),
        "name": persona.name,
        "user_name": persona.user_name,
        "timezone": persona.timezone,
        "language": persona.language,
        "blocks": {label: blocks[label] for label in sorted(blocks)},
        **_beside_defaults(PersonaRecord, facts=persona.facts or None, mood=persona.episodic_state or None),
    }


def _session(session: Session) -> dict[str, Any]:
    # Who consolidates it holds it here alone: elsewhere it waits to be.
    is_held = session.status == Session.Status.CONSOLIDATING
    return {
        "id": _id(session.external_id, session.uuid),
        "channel": session.channel,
        "status": Session.Status.CLOSING if is_held else session.status,
        "started_at": _iso(session.started_at),
        "last_message_at": _iso(session.last_message_at),
        "closed_at": _iso(session.closed_at) if session.closed_at else None,
        **_beside_defaults(
            SessionRecord,
            close_reason=session.close_reason,
            summary=session.summary or None,
            failure=session.failure or None,
            trivial=session.trivial,
        ),
    }


def _messages(keys: Collection[int]) -> Iterator[bytes]:
    messages = list(_rows(Message.objects.all(), keys))
    sessions = _called(Session, {message.session_id for message in messages})
    for message in messages:
        yield _line(
            "message",
            id=_id(message.external_id, message.uuid),
            session=sessions[message.session_id],
            role=message.role,
            content=message.content,
            created_at=_iso(message.created_at),
            **_beside_defaults(MessageRecord, withheld=message.withheld),
        )


def _nodes(keys: Collection[int], saved: _Saved, model: str) -> Iterator[bytes]:
    nodes = list(_rows(ConceptNode.objects.all(), keys))
    sessions = _called(Session, {node.session_id for node in nodes} & saved.sessions.keys())
    newer = _called(ConceptNode, {node.superseded_by_id for node in nodes} & saved.nodes.keys())
    evidence, filling = _evidence(keys, saved), _filling(keys, saved)
    embedded = NodeVector.objects.filter(node__in=list(keys), model=model).values_list("node_id", "embedding")
    embeddings = {node: base64.b64encode(vector).decode() for node, vector in embedded}
    for node in nodes:
        quoted = evidence[node.pk]
        yield _line(
            "node",
            **_told(node),
            messages=list(dict.fromkeys(quote["message"] for quote in quoted)),
            **_beside_defaults(
                NodeRecord,
                evidence=quoted or None,
                filling=filling[node.pk] or None,
                session=sessions.get(node.session_id),
                superseded_by=newer.get(node.superseded_by_id),
                embedding=embeddings.get(node.pk),
            ),
        )


def _told(node: ConceptNode) -> dict[str, Any]:
    """What the row of a node says by itself."""
    start, end = node.event_time_start, node.event_time_end
    return {
        "id": _id(node.external_id, node.uuid),
        "kind": node.kind,
        "subject": node.subject,
        "description": node.description,
        "emotional_impact": node.emotional_impact,
        "emotion_tags": node.emotion_tags,
        "relational_tags": node.relational_tags,
        "event_time": {"start": start.isoformat(), "end": (end or start).isoformat()} if start else None,
        "created_at": _iso(node.created_at),
        "last_mentioned_at": _iso(node.last_mentioned_at),
        "status": node.status,
        "source": node.source,
        **_beside_defaults(
            NodeRecord,
            confidence=node.confidence,
            verification=node.verification,
            mention_count=node.mention_count,
            access_count=node.access_count,
            last_accessed_at=_iso(node.last_accessed_at) if node.last_accessed_at else None,
            outcome=node.outcome,
            resolved_at=_iso(node.resolved_at) if node.resolved_at else None,
            pinned=node.pinned,
            archived_because=node.archived_because,
        ),
    }


def _evidence(nodes: Iterable[int], saved: _Saved) -> Mapping[int, list[dict[str, Any]]]:
    """By node, the quotes as they were said; with their place where it is not the first one at which they stand."""
    rows = Evidence.objects.filter(node__in=list(nodes)).annotate(first=StrIndex("message__content", "quote") - 1)
    ordered = rows.order_by("message__created_at", "message_id", "start", "end")
    said = [row for row in ordered if row.message_id in saved.messages]
    messages = _called(Message, {row.message_id for row in said})
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in said:
        place = {"start": row.start} if row.start != row.first else {}
        found[row.node_id].append({"message": messages[row.message_id], "quote": row.quote, **place})
    return found


def _filling(nodes: Iterable[int], saved: _Saved) -> Mapping[int, list[str]]:
    edges = Filling.objects.filter(parent__in=list(nodes), orphaned=False).order_by("pk")
    live = [(parent, child) for parent, child in edges.values_list("parent_id", "child_id") if child in saved.nodes]
    children = _called(ConceptNode, {child for _, child in live})
    found: dict[int, list[str]] = defaultdict(list)
    for parent, child in live:
        found[parent].append(children[child])
    return found


def _entities(keys: Collection[int]) -> Iterator[bytes]:
    entities = list(_rows(Entity.objects.prefetch_related("aliases"), keys))
    mentions = Mention.objects.filter(entity__in=list(keys)).order_by("node__created_at", "node_id")
    mentioned = list(mentions.values_list("entity_id", "node_id"))
    nodes = _called(ConceptNode, {node for _, node in mentioned})
    standing: dict[int, list[str]] = defaultdict(list)
    for entity, node in mentioned:
        standing[entity].append(nodes[node])
    for entity in entities:
        yield _line(
            "entity",
            id=_id(entity.external_id, entity.uuid),
            name=entity.canonical_name,
            kind=entity.kind,
            aliases=_other_names(entity),
            nodes=standing[entity.pk],
            **_beside_defaults(
                EntityRecord,
                description=entity.description or None,
                described_by=entity.described_by,
                status=entity.status,
            ),
        )


def _other_names(entity: Entity) -> list[str]:
    others = [alias for alias in entity.aliases.all() if alias.normalized != normalized(entity.canonical_name)]
    return [alias.text for alias in sorted(others, key=lambda alias: alias.normalized)]


# --- rows ---------------------------------------------------------------------------------------------------------
def _keys(rows: QuerySet[Any], moment: str) -> Keys:
    return dict.fromkeys(rows.order_by(moment, "pk").values_list("pk", flat=True))


def _batches(keys: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(keys)
    while batch := list(islice(rest, AT_ONCE)):
        yield batch


def _rows(rows: QuerySet[Any], keys: Iterable[int]) -> Iterator[Any]:
    """The rows of these keys in their order; one that was forgotten meanwhile is left out."""
    for batch in _batches(keys):
        found = rows.in_bulk(batch)
        yield from (found[key] for key in batch if key in found)


def _called(model: type[Model], keys: Collection[int]) -> dict[int, str]:
    """The ids in the archive of rows, by key."""
    found = (
        row
        for batch in _batches(keys)
        for row in model._default_manager.filter(pk__in=batch).values_list("pk", "external_id", "uuid")
    )
    return {key: _id(external_id, uuid) for key, external_id, uuid in found}


# --- lines --------------------------------------------------------------------------------------------------------
def _id(external_id: str | None, uuid: UUID) -> str:
    return external_id or str(uuid)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _beside_defaults(record: type[Record], **values: Any) -> dict[str, Any]:
    """Those of the values that the reader would not suppose by itself."""
    return {name: value for name, value in values.items() if value != record.model_fields[name].default}


def _line(kind: str, /, **values: Any) -> bytes:
    return json.dumps({"type": kind} | values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
