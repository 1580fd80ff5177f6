"""Saving a persona as an archive: all that she is and remembers, a line each, as `loading` restores it.

The same memory gives the same bytes, but for the header's time; restored in an empty installation, it gives them again.
An id is the one that a row came with, else its uuid. What is saved is settled by its keys when the first line is asked
for; then rows are read a batch at a time, and no reader stays open meanwhile, which would hold up a checkpoint.

Left out: talks off the record; what replies were made from (x-rays) and what consolidation keeps of its work; who it
was that is not the owner. A turn that is being answered is saved as one that was broken off.
"""

import base64
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import StrIndex

from chat.models import CrisisFlag, Message, Session, Turn
from memory.archive import auxiliary_records, imported_files, merges, parts
from memory.archive.auxiliary_records import event_time, iso_format
from memory.archive.parts import Names, Part, Values, archive_id, beside_defaults, in_batches
from memory.archive.schema import (
    FORMAT,
    VERSION,
    BlockVersionRecord,
    EntityRecord,
    FlagRecord,
    MessageRecord,
    NodeRecord,
    PersonaRecord,
    SessionRecord,
    TurnRecord,
)
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeVector
from memory.store import vectors
from persona.models import CoreBlock, CoreBlockVersion, Persona

Said = tuple[str, Values]
Files = Mapping[UUID | None, str]  # imports by the uuid that is the mark of what came in by them


def archive_lines(persona: Persona, now: datetime) -> Iterator[bytes]:
    """The archive of the persona, each line with its break. Where several lines have one type each says its place."""
    count = Counter[str]()
    for kind, values in _told_of(persona, now):
        count[kind] += 1
        place = {} if kind in ("header", "persona") else {"place": count[kind]}
        said = {"type": kind, **values, **place}
        yield json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _told_of(persona: Persona, now: datetime) -> Iterator[Said]:
    with transaction.atomic():
        names = Names(persona, parts.saved_keys(persona))
    model = vectors.model_in_use()
    yield _line("header", format=FORMAT, version=VERSION, exported_at=iso_format(now), embedding_model=model or None)
    yield _line("persona", **_persona(persona))
    yield from (_line("block_version", **block) for block in _blocks(names))
    yield from (_line("tombstone", **stone) for stone in auxiliary_records.tombstone_lines(names))
    yield from (_line("file", **file) for file in imported_files.file_lines(names))
    files = imported_files.import_marks(names)
    for session in _rows(Session, names.saved[Session]):
        yield _line("session", **_session(session, files))
    for keys in in_batches(names.saved[Turn]):
        turns = list(_rows(Turn, keys))
        sessions = names.of(Session, {turn.session_id for turn in turns})
        for turn in turns:
            in_flight = turn.status in (Turn.Status.COLLECTING, Turn.Status.RUNNING)
            broken_off = {"status": Turn.Status.FAILED, "error": "interrupted"}
            yield _line(
                "turn",
                id=archive_id(turn.external_id, turn.uuid),
                session=sessions[turn.session_id],
                created_at=iso_format(turn.created_at),
                **beside_defaults(
                    TurnRecord,
                    **(broken_off if in_flight else {"status": turn.status, "error": turn.error}),
                    spoke_first=turn.spoke_first,
                    is_cut=turn.is_cut,
                    partial=turn.partial,
                    started_at=iso_format(turn.started_at),
                    first_token_at=iso_format(turn.first_token_at),
                    finished_at=iso_format(turn.finished_at),
                    usage=turn.usage or None,
                ),
            )
    for keys in in_batches(names.saved[Message]):
        yield from _messages(keys, names, files)
    for keys in in_batches(names.saved[ConceptNode]):
        yield from _nodes(keys, names, model, files)
    for keys in in_batches(names.saved[Entity]):
        yield from _entities(keys, names, files)
    for part in parts_beside():
        yield from (_line(part.kind, **values) for values in part.lines(names))


def parts_beside() -> tuple[Part, ...]:
    """What stands beside talks, memories and people, in the order in which it can be loaded."""
    return (merges.PROPOSALS, *auxiliary_records.PARTS, *imported_files.PARTS, *parts.part_of_app())


def _persona(persona: Persona) -> dict[str, Any]:
    blocks = dict(persona.core_blocks.values_list("label", "content"))
    return {
        "id": archive_id(persona.external_id, persona.uuid),
        "name": persona.name,
        "user_name": persona.user_name,
        "timezone": persona.timezone,
        "language": persona.language,
        "blocks": {label: blocks[label] for label in sorted(blocks)},
        "uuid": str(persona.uuid),
        "created_at": iso_format(persona.created_at),
        **beside_defaults(
            PersonaRecord,
            facts=persona.facts or None,
            mood=persona.episodic_state or None,
            care_until=iso_format(persona.care_until),
        ),
    }


def _blocks(names: Names) -> Iterator[Values]:
    """Each core block as it was from the first on; the last one is as it is."""
    for block in CoreBlock.objects.filter(persona=names.persona).order_by("label"):
        states: list[CoreBlock | CoreBlockVersion] = [*block.versions.order_by("version"), block]
        for state in states:
            yield {
                "label": block.label,
                "version": state.version,
                "content": state.content,
                "edited_at": iso_format(state.edited_at),
                **beside_defaults(BlockVersionRecord, by=names.by(state.edited_by_id)),
            }


def _session(session: Session, files: Files) -> dict[str, Any]:
    # Who consolidates it holds it here alone: elsewhere it waits to be.
    is_held = session.status == Session.Status.CONSOLIDATING
    return {
        "id": archive_id(session.external_id, session.uuid),
        "channel": session.channel,
        "status": Session.Status.CLOSING if is_held else session.status,
        "started_at": iso_format(session.started_at),
        "last_message_at": iso_format(session.last_message_at),
        "closed_at": iso_format(session.closed_at) if session.closed_at else None,
        **beside_defaults(
            SessionRecord,
            close_reason=session.close_reason,
            summary=session.summary or None,
            failure=session.failure or None,
            trivial=session.trivial,
            file=files.get(session.import_uuid),
        ),
    }


def _messages(keys: Collection[int], names: Names, files: Files) -> Iterator[Said]:
    messages = list(_rows(Message, keys))
    sessions = names.of(Session, {message.session_id for message in messages})
    turns = names.of(Turn, {message.turn_id for message in messages})
    flags = {flag.message_id: flag for flag in CrisisFlag.objects.filter(message__in=list(keys))}
    zone = names.persona.zone
    for message in messages:
        is_usual_day = message.day == message.created_at.astimezone(zone).date()
        yield _line(
            "message",
            id=archive_id(message.external_id, message.uuid),
            session=sessions[message.session_id],
            role=message.role,
            content=message.content,
            created_at=iso_format(message.created_at),
            **beside_defaults(
                MessageRecord,
                withheld=message.withheld,
                speaker=message.speaker,
                file=files.get(message.import_uuid),
                turn=turns.get(message.turn_id),
                day=None if is_usual_day else message.day.isoformat(),
                flagged=_flag(flags[message.pk], names) if message.pk in flags else None,
            ),
        )


def _flag(flag: CrisisFlag, names: Names) -> Values:
    seen = {"seen_at": iso_format(flag.seen_at), "seen_by": names.by(flag.seen_by_id)}
    raised = {"by": names.by(flag.raised_by_id), "by_detector": flag.by_detector, "by_model": flag.by_model}
    return {"raised_at": iso_format(flag.raised_at), **beside_defaults(FlagRecord, **raised, **seen)}


def _nodes(keys: Collection[int], names: Names, model: str, files: Files) -> Iterator[Said]:
    nodes = list(_rows(ConceptNode, keys))
    sessions = names.of(Session, {node.session_id for node in nodes})
    others = names.of(ConceptNode, {other for node in nodes for other in (node.superseded_by_id, node.resolved_by_id)})
    # By node, the quotes as they were said; with their place where it is not the first one at which they stand.
    rows = Evidence.objects.filter(node__in=list(keys)).annotate(first=StrIndex("message__content", "quote") - 1)
    ordered = rows.order_by("message__created_at", "message_id", "start", "end")
    rows_found = list(ordered)
    messages = names.of(Message, {row.message_id for row in rows_found})
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_found:
        if row.message_id not in messages:
            continue
        place = {"start": row.start} if row.start != row.first else {}
        found[row.node_id].append({"message": messages[row.message_id], "quote": row.quote, **place})
    evidence, filling, orphaned = found, _filling(keys, names), _orphaned(keys)
    embedded = NodeVector.objects.filter(node__in=list(keys), model=model).values_list("node_id", "embedding")
    embeddings = {node: base64.b64encode(vector).decode() for node, vector in embedded}
    for node in nodes:
        quoted = evidence[node.pk]
        yield _line(
            "node",
            **_told(node),
            messages=list(dict.fromkeys(quote["message"] for quote in quoted)),
            **beside_defaults(
                NodeRecord,
                evidence=quoted or None,
                filling=filling[node.pk] or None,
                orphaned=orphaned[node.pk],
                session=sessions.get(node.session_id),
                file=files.get(node.import_uuid),
                superseded_by=others.get(node.superseded_by_id),
                resolved_by=others.get(node.resolved_by_id),
                embedding=embeddings.get(node.pk),
            ),
        )


def _told(node: ConceptNode) -> dict[str, Any]:
    """What the row of a node says by itself."""
    return {
        "id": archive_id(node.external_id, node.uuid),
        "kind": node.kind,
        "subject": node.subject,
        "description": node.description,
        "emotional_impact": node.emotional_impact,
        "emotion_tags": node.emotion_tags,
        "relational_tags": node.relational_tags,
        "event_time": event_time(node),
        "created_at": iso_format(node.created_at),
        "last_mentioned_at": iso_format(node.last_mentioned_at),
        "status": node.status,
        "source": node.source,
        **beside_defaults(
            NodeRecord,
            confidence=node.confidence,
            verification=node.verification,
            mention_count=node.mention_count,
            access_count=node.access_count,
            last_accessed_at=iso_format(node.last_accessed_at) if node.last_accessed_at else None,
            outcome=node.outcome,
            resolved_at=iso_format(node.resolved_at) if node.resolved_at else None,
            pinned=node.pinned,
            archived_because=node.archived_because,
            scope=node.scope,
            condition=node.condition,
            boundary=node.is_boundary,
        ),
    }


def _filling(nodes: Iterable[int], names: Names) -> Mapping[int, list[str]]:
    edges = Filling.objects.filter(parent__in=list(nodes), orphaned=False).order_by("pk")
    live = list(edges.values_list("parent_id", "child_id"))
    children = names.of(ConceptNode, {child for _, child in live})
    found: dict[int, list[str]] = defaultdict(list)
    for parent, child in live:
        if child in children:
            found[parent].append(children[child])
    return found


def _orphaned(nodes: Iterable[int]) -> Mapping[int, int]:
    """How much of what they were concluded from was forgotten, by node."""
    edges = Filling.objects.filter(parent__in=list(nodes), orphaned=True)
    return Counter(edges.values_list("parent_id", flat=True))


def _entities(keys: Collection[int], names: Names, files: Files) -> Iterator[Said]:
    entities = list(_rows(Entity, keys))
    aliases = defaultdict(list)
    for alias in Alias.objects.filter(entity__in=list(keys)).order_by("pk"):
        aliases[alias.entity_id].append(alias)
    mentions = Mention.objects.filter(entity__in=list(keys)).order_by("node__created_at", "node_id")
    mentioned = list(mentions.values_list("entity_id", "node_id"))
    nodes = names.of(ConceptNode, {node for _, node in mentioned})
    standing: dict[int, list[str]] = defaultdict(list)
    for entity, node in mentioned:
        standing[entity].extend([nodes[node]] if node in nodes else [])
    survivors = names.of(Entity, {entity.merged_into_id for entity in entities})
    for entity in entities:
        yield _line(
            "entity",
            id=archive_id(entity.external_id, entity.uuid),
            name=entity.canonical_name,
            kind=entity.kind,
            aliases=_other_names(entity, aliases[entity.pk]),
            nodes=standing[entity.pk],
            created_at=iso_format(entity.created_at),
            **beside_defaults(
                EntityRecord,
                description=entity.description or None,
                described_by=entity.described_by,
                described_through=names.last_memory_through(entity.described_through),
                status=entity.status,
                file=files.get(entity.import_uuid),
                merged_into=survivors.get(entity.merged_into_id),
            ),
        )


def _other_names(entity: Entity, aliases: Collection[Alias]) -> list[str]:
    """Whoever lives on in another has no name but those that are told; all others bear the one that they go by."""
    if entity.status == Entity.Status.MERGED:
        return [alias.text for alias in aliases]
    return [alias.text for alias in aliases if alias.text != entity.canonical_name]


# --- rows ---------------------------------------------------------------------------------------------------------
def _rows(model: type[Any], keys: Iterable[int]) -> Iterator[Any]:
    """The rows of these keys in their order; one that was forgotten meanwhile is left out."""
    for some in in_batches(keys):
        found = model._default_manager.in_bulk(some)
        yield from (found[key] for key in some if key in found)


def _line(kind: str, /, **values: Any) -> Said:
    return kind, values
