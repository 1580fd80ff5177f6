"""Restores an archive: idempotent, resumable, in constant memory; each batch is stored whole or not at all.

The file is read once to check every line and note where the lines of each type are, because their order is free
(survey.py); then type by type: sessions, messages with their turns, memories, the links between them, entities, and the
other parts. A record whose id the persona already has is not changed; records that were forgotten here are found first
and left out (tombstone_check.py). Nothing is embedded inside a transaction. Core blocks are written only for a new
persona, because people may have edited existing ones. Every row has the uuid of its import.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO
from uuid import UUID

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Max, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Greatest
from django.utils import timezone

from chat import search
from chat.care import speaks_by_rule
from chat.models import CrisisFlag, Message, Session, Turn
from echovessel.db.sqlite import bulk
from echovessel.embeddings import embedding
from echovessel.language import person_names
from echovessel.llm.prompts import tokens
from memory.archive import auxiliary_records, imported_files, tables, tombstone_check, write
from memory.archive import survey as archive_survey
from memory.archive.parts import IdMap, in_batches, uuids_among
from memory.archive.schema import ArchiveError, EntityRecord, MessageRecord, NodeRecord, Numbered, PersonaRecord
from memory.archive.survey import LINKED, Progress, Report, Survey, has_our_vector, linked_ids
from memory.curation.lessons import Wish, is_refused
from memory.entities.photos import save_photo
from memory.models import Alias, ConceptNode, Entity, Filling, ImportRun, Mention
from memory.store import tombstones, vectors
from memory.store.active_model import expect, follow, with_one_model
from memory.store.deduplication import content_hash
from memory.store.writing import concern_of
from persona.companion import pictures
from persona.companion.pictures import PictureRefused
from persona.models import CoreBlock, CoreBlockVersion, MoodChange, Persona
from persona.onboarding.creation import create_persona, language_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PASSES = 2
# Nodes that need embedding are stored in groups of this size: a crash loses at most one group.
EMBEDDED_AT_ONCE = 200

Contents = Mapping[str, tuple[int, str]]


@dataclass
class ImportResult:
    """The persona, added rows by type, records refused because they were forgotten here, by type, and the number of
    rejected lines."""

    persona: Persona
    added: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rejected: int = 0


def import_archive(
    file: BinaryIO,
    owner: "User",
    *,
    name: str = "",
    skip_bad: bool = False,
    into: Persona | None = None,
    run: ImportRun | None = None,
    progress: Progress = lambda size: None,
    report: Report = lambda text: None,
) -> ImportResult:
    """Restore the archive in `file` (seekable) for `owner`.

    `name` is given to a new persona. With `into`, that persona gets the memories of the archive, and the archive's core
    blocks are ignored. Rows get the uuid of `run`, or of a new one. `progress` is called with bytes read, PASSES times
    the file's size in all; `report` with rejected lines and unknown fields. Raises ArchiveError, or BrokenLine for the
    first broken line unless `skip_bad`: then it is reported and the rest is imported. Raises EmbeddingUnavailable.
    """
    follow()  # the survey compares vectors with the model in use
    survey = archive_survey.survey_archive(file, skip_bad, progress, report)
    if survey.persona is None:
        raise ArchiveError("the archive has no persona line")
    for unknown_item, count in sorted(survey.unknown.items()):
        report(f"unknown and left out: {unknown_item} ({count} times)")
    # The owner's persona with that id.
    target = (
        into
        or Persona.objects.owned_by(owner)
        .filter(Q(external_id=survey.persona.id) | Q(external_id=None, uuid__in=uuids_among([survey.persona.id])))
        .first()
    )
    archive_survey.drop_unusable(survey, IdMap(target) if target else None)
    persona = target or _create(owner, survey, survey.persona, name, report)
    loader = Loader(survey, persona, progress, run)
    try:
        loader.load()
    finally:
        loader.finish()
    return loader.result


def _create(owner: "User", survey: Survey, record: PersonaRecord, name: str, report: Report) -> Persona:
    blocks = record.blocks.texts()
    now = timezone.now()
    try:
        with transaction.atomic():
            persona = create_persona(
                owner,
                name or record.name,
                user_name=record.user_name,
                timezone=record.timezone,
                language=record.language or language_of(" ".join([record.name, *blocks.values(), survey.sample])),
                blocks=blocks,
                facts=record.facts,
                external_id=record.id,
            )
            # Keep the uuid if nobody has it: tombstones are made with it. A mood without a time gets the time of the
            # export.
            is_free = record.uuid is not None and not Persona.objects.filter(uuid=record.uuid).exists()
            mood = record.mood or {}
            saved_at = (survey.header.exported_at or now).isoformat()
            state = mood and {**mood, "updated_at": mood.get("updated_at") or saved_at}
            Persona.objects.filter(pk=persona.pk).update(
                episodic_state=state,
                colour=record.colour,
                greeting=record.greeting,
                care_until=record.care_until,
                created_at=record.created_at or persona.created_at,
                uuid=record.uuid if is_free else persona.uuid,
                external_id=None if is_free and str(record.uuid) == record.id else record.id,
            )
            # Store the current mood as a change, too, if the archive has no such change.
            if state and state["mood"] not in (
                numbered.record.mood for batch in survey.batches("mood") for numbered in batch
            ):
                values = {"mood": state["mood"], "energy": state["energy"]}
                signal, at = state.get("last_user_signal"), datetime.fromisoformat(state["updated_at"])
                MoodChange.objects.create(persona=persona, last_user_signal=signal, at=at, **values)
            _load_block_versions(persona, survey, now)
            if record.picture:
                try:
                    pictures.save_picture(persona, base64.b64decode(record.picture, validate=True))
                except (PictureRefused, binascii.Error):
                    report("the picture cannot be read and is left out")
    except ValidationError as error:
        raise ArchiveError(f"the persona cannot be made: {'; '.join(error.messages)}") from error
    persona.refresh_from_db()
    return persona


def _load_block_versions(persona: Persona, survey: Survey, now: datetime) -> None:
    """Store the versions of each core block of a new persona. The last one is the block itself, unless the persona's
    record has another text, which is newer."""
    records = [numbered.record for batch in survey.batches("block_version") for numbered in batch]
    rows = list(zip(records, tables.BLOCK_VERSION.read(IdMap(persona), records), strict=True))
    for block in CoreBlock.objects.filter(persona=persona):
        versions = {record.version: row for record, row in rows if record.label == block.label}
        last = versions.get(max(versions, default=0))
        if last is not None and last["content"] == block.content:
            CoreBlock.objects.filter(pk=block.pk).update(**versions.pop(last["version"]))
        elif last is not None:
            CoreBlock.objects.filter(pk=block.pk).update(version=last["version"] + 1, edited_at=now)
        CoreBlockVersion.objects.bulk_create(CoreBlockVersion(block=block, **row) for row in versions.values())


class Loader:
    """A running import: the persona, and the result so far."""

    def __init__(self, survey: Survey, persona: Persona, progress: Progress, run: ImportRun | None = None) -> None:
        self.survey = survey
        self.persona = persona
        self.id_map = IdMap(persona)
        self.progress = progress
        self.bytes_read = 0
        self.report = survey.report
        self.result = ImportResult(persona, rejected=survey.rejected)
        self.refused = tombstone_check.RefusedRecords()
        self.rejected: set[int] = set()
        self.files: Mapping[str | None, UUID] = {}
        self.newest_before = persona.nodes.aggregate(newest=Max("pk"))["newest"] or 0
        self.is_its_own = run is None
        self.run = run or ImportRun.objects.create(persona=persona, at=timezone.now())

    def load(self) -> None:
        """Load tombstones; sessions, messages, memories; then the links between them, entities, and the other parts."""
        archive_tombstones = self.load_tombstones()
        # Imports of files, unless this archive is an import itself: then all rows belong to that import.
        if self.is_its_own:
            imported_files.FILES.load_batches(self.id_map, self.batches("file"))
            self.files = imported_files.marks_of_files(self.id_map)
        self.refused = tombstone_check.check_archive(self.survey.batches, self.persona, archive_tombstones)
        for sessions in self.batches("session"):
            self.load_sessions(sessions)
        for messages in self.batches("message"):
            self.load_messages(messages)
        for nodes in self.batches("node"):
            self.load_nodes(nodes)
        for nodes in self.survey.batches(LINKED):
            self.link_nodes(nodes)
        # Entities that are not merged, then those merged into them, then those merged into these.
        for batch in self.batches("entity"):
            with self.writing():
                for numbered in batch:
                    if numbered.record.merged_into is None:
                        self.load_entity(numbered.number, numbered.record)
        while sum(self.load_merged(batch) for batch in self.survey.batches("entity")):
            pass
        for part in write.other_parts():
            if self.is_its_own or part not in imported_files.PARTS:  # drafts and chunks belong to the other persona
                self.result.added[part.kind] += part.load_batches(self.id_map, self.batches(part.kind))
        self.progress(self.survey.size - self.bytes_read)  # lines that are read only once

    def finish(self) -> None:
        """Store the counts on the run; a run that added nothing is deleted. A run passed in is left to its caller."""
        self.result.added, self.result.refused = +self.result.added, +self.result.refused  # without zeros
        if self.is_its_own and self.result.added:
            ImportRun.objects.filter(pk=self.run.pk).update(counts=dict(self.result.added))
        elif self.is_its_own:
            ImportRun.objects.filter(pk=self.run.pk).delete()
        for kind, count in sorted(self.result.refused.items()):
            self.report(f"left out because forgotten here: {count} {kind}")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction. Raises ArchiveError if the import itself was forgotten meanwhile."""
        with transaction.atomic():
            if not ImportRun.objects.filter(pk=self.run.pk).exists():
                raise ArchiveError("it was forgotten during the import")
            yield

    def batches(self, kind: str) -> Iterator[list[Numbered[Any]]]:
        """The records of a type, with progress; `survey.batches` reads them again without progress."""

        def on_read(size: int) -> None:
            self.bytes_read += size
            self.progress(size)

        return self.survey.batches(kind, on_read)

    def reject(self, number: int, reason: str) -> None:
        """Reject a line for a reference whose target existed at the survey. Raises BrokenLine unless bad lines are
        skipped."""
        if number not in self.rejected:  # reported once, though it may be tried again for another embedding model
            self.survey.reject(number, reason)
            self.rejected.add(number)
            self.result.rejected += 1

    def select_new(self, model: type[Any], batch: Sequence[Numbered[Any]]) -> list[Numbered[Any]]:
        """The records whose id the persona does not have yet, without duplicates."""
        existing_rows = self.rows(model, [numbered.record.id for numbered in batch])
        first: dict[str, Numbered[Any]] = {}
        for numbered in batch:
            if numbered.record.id not in existing_rows:
                first.setdefault(numbered.record.id, numbered)
        return list(first.values())

    def rows(self, model: type[Any], ids: Collection[str | None]) -> dict[str, int]:
        """Keys of the persona's rows by external id, or by the uuid of rows without one."""
        return {name: key for name, key in self.id_map.rows(model, ids).items() if name}

    def mark(self, file: str | None) -> UUID:
        """The uuid of the file's import if the record names one, else of this import."""
        return self.files.get(file, self.run.uuid)

    # --- tombstones -------------------------------------------------------------------------------------------------
    def load_tombstones(self) -> dict[str, datetime]:
        """The digests of the archive's tombstones, with their times. A digest is made with an installation's key and
        the persona's uuid: tombstones of another persona are not stored, those with another key are stored; both are
        reported."""
        record = self.survey.persona
        if record is None or record.uuid != self.persona.uuid:
            if count := len(self.survey.places["tombstone"].at) if "tombstone" in self.survey.places else 0:
                self.report(
                    f"{count} tombstones of another installation cannot be used, because they belong to another persona"
                )
            return {}
        part = auxiliary_records.TOMBSTONES
        self.result.added["tombstones"] += part.load_batches(self.id_map, self.batches(part.kind))
        if strange := self.persona.tombstones.exclude(key_id=tombstones.key_id()).count():
            self.report(
                f"forgotten elsewhere: {strange} tombstones refuse nothing here, for they were made with the key of "
                "another installation (tombstone_key in its data folder)"
            )
        return {
            numbered.record.digest: numbered.record.created_at
            for batch in self.survey.batches(part.kind)
            for numbered in batch
        }

    # --- sessions, turns and messages -------------------------------------------------------------------------------
    def load_sessions(self, batch: Sequence[Numbered[Any]]) -> None:
        """Load sessions. An open session becomes closing if its channel has an open one already, and one that was being
        consolidated becomes closing again: its lease belonged to another installation."""
        with self.writing():
            fresh = self.select_new(Session, batch)
            new = [numbered.record for numbered in fresh if numbered.record.id not in self.refused.sessions]
            open_channels = set(self.persona.sessions.open().values_list("channel", flat=True))
            rows = tables.SESSION.read(self.id_map, new)
            for session, row in zip(new, rows, strict=True):
                is_channel_open = row["status"] == Session.Status.OPEN and row["channel"] in open_channels
                if is_channel_open or row["status"] == Session.Status.CONSOLIDATING:
                    row["status"] = Session.Status.CLOSING
                if row["status"] == Session.Status.OPEN:
                    open_channels.add(row["channel"])
                    row["close_reason"] = ""
                row["last_message_at"] = session.last_message_at or session.closed_at or session.started_at
                row["import_uuid"] = self.mark(session.file)
                if session.id in self.refused.cut:
                    row["summary"] = ""  # it may describe messages that are left out
            bulk.insert([bulk.row(Session, persona_id=self.persona.pk, **row) for row in rows])
        self.result.added["sessions"] += len(new)
        self.result.refused["sessions"] += len(fresh) - len(new)

    def load_messages(self, batch: Sequence[Numbered[Any]]) -> None:
        with self.writing():
            fresh = self.select_new(Message, batch)
            accepted = [numbered for numbered in fresh if numbered.record.id not in self.refused.messages]
            tombstone_check.note_messages(self.persona, [numbered.record for numbered in accepted], self.refused)
            new = [numbered for numbered in accepted if numbered.record.id not in self.refused.messages]
            rows = tables.MESSAGE.read(self.id_map, [numbered.record for numbered in new])
            for numbered, row in zip(new, rows, strict=True):
                if row["session_id"] is None:
                    self.reject(numbered.number, f"there is no session {numbered.record.session!r}")
            sound = [
                (numbered.record, row) for numbered, row in zip(new, rows, strict=True) if row["session_id"] is not None
            ]
            turns = self.turns_of([record for record, _ in sound])
            zone = self.persona.zone
            messages = [
                bulk.row(
                    Message,
                    persona_id=self.persona.pk,
                    turn_id=turns.get((record.turn, record.id)),
                    token_count=tokens(record.content),
                    day=record.day or record.created_at.astimezone(zone).date(),
                    import_uuid=self.mark(record.file),
                    **row,
                )
                for record, row in sound
            ]
            search.store(messages)
            flagged = [(message, record.flagged) for message, (record, _) in zip(messages, sound, strict=True)]
            flagged = [(message, flag) for message, flag in flagged if flag]
            flags = tables.FLAG.read(self.id_map, [flag for _, flag in flagged])
            for (message, _), row in zip(flagged, flags, strict=True):
                if row["by_detector"] is None:  # older archives lack the field: the rules decide
                    row["by_detector"] = row["raised_by_id"] is None and speaks_by_rule(message.content)
            pairs = zip(flagged, flags, strict=True)
            bulk.insert([CrisisFlag(message_id=message.pk, **row) for (message, _), row in pairs])
            _count_messages({message.session_id for message in messages})
        self.result.added["messages"] += len(messages)
        self.result.refused["messages"] += len(fresh) - len(new)

    def turns_of(self, messages: Sequence[MessageRecord]) -> dict[tuple[str | None, str], int]:
        """The keys of turns, by turn and message. Turns that do not exist yet are stored with their first message. A
        turn has one reply: further messages of the persona get no turn."""
        ids = {message.turn for message in messages}
        new = [numbered.record for numbered in self.select_new(Turn, self.survey.numbered_by_id("turn", ids))]
        rows = [row for row in tables.TURN.read(self.id_map, new) if row["session_id"] is not None]
        bulk.insert([bulk.row(Turn, persona_id=self.persona.pk, **row) for row in rows])
        turns = self.rows(Turn, ids)
        replies = Message.objects.filter(turn__in=turns.values(), role=Message.Role.PERSONA)
        answered = set(replies.values_list("turn_id", flat=True)) if turns else set()
        keys: dict[tuple[str | None, str], int] = {}
        for message in (message for message in messages if message.turn in turns):
            key = turns[message.turn or ""]
            if message.role == Message.Role.PERSONA and key in answered:
                continue
            answered |= {key} if message.role == Message.Role.PERSONA else set()
            keys[message.turn, message.id] = key
        return keys

    # --- nodes ------------------------------------------------------------------------------------------------------
    def load_nodes(self, batch: Sequence[Numbered[Any]]) -> None:
        """Load a batch in parts, so that little has to be embedded for each."""
        part: list[Numbered[Any]] = []
        for numbered in batch:
            part.append(numbered)
            if (
                numbered is batch[-1]
                or sum(part_node.record.embedding is None for part_node in part) >= EMBEDDED_AT_ONCE
            ):
                fresh = self.select_new(ConceptNode, part)
                accepted = [part_node for part_node in fresh if part_node.record.id not in self.refused.nodes]
                sound, added = self.add_nodes(accepted) if accepted else (0, 0)
                self.result.added["nodes"] += added
                self.result.refused["nodes"] += len(fresh) - len(accepted) + sound - added
                part = []

    @with_one_model
    def add_nodes(self, new: Sequence[Numbered[Any]]) -> tuple[int, int]:
        """How many nodes are valid, and how many were added; the others were forgotten since the survey."""
        model = follow()
        embeddings = self.vectors_of(new)  # outside the transaction: embedding takes seconds
        with self.writing():
            expect(model)
            fresh = [numbered for numbered in self.select_new(ConceptNode, new) if numbered.record.id in embeddings]
            rows = tables.NODE.read(self.id_map, [numbered.record for numbered in fresh])
            cited_ids = {name for numbered in fresh for name in tombstone_check.cited_message_ids(numbered.record)}
            contents = self.id_map.contents(cited_ids - self.refused.messages)
            sound = []
            for numbered, row in zip(fresh, rows, strict=True):
                if fault := next(self.faults_of(numbered.record, row["session_id"], contents), None):
                    self.reject(numbered.number, fault)
                else:
                    sound.append((numbered.record, row))
            texts = {name: content for name, (_, content) in contents.items()}
            tombstone_check.note_nodes(self.persona, [record for record, _ in sound], self.refused, texts)
            added = [(record, row) for record, row in sound if record.id not in self.refused.nodes]
            nodes = [self.node_of(record, row, model) for record, row in added]
            if nodes:
                vectors.store(
                    nodes,
                    np.stack([embeddings[record.id] for record, _ in added]),
                    lambda: [
                        quote
                        for node, (record, _) in zip(nodes, added, strict=True)
                        for quote in _evidence(node.pk, record, contents)
                    ],
                )
        return len(sound), len(nodes)

    def node_of(self, record: NodeRecord, row: dict[str, Any], model: str) -> ConceptNode:
        status: str = record.status or (
            ConceptNode.Status.SUPERSEDED if record.superseded_by else ConceptNode.Status.ACTIVE
        )
        # A file may contain anything: a lesson that the owner cannot have asked for is listed, but never used.
        if record.kind == ConceptNode.Kind.LESSON and (
            record.source != ConceptNode.Source.PERSON
            or is_refused(Wish(record.description, record.scope or "always", record.condition))
        ):
            status = ConceptNode.Status.QUARANTINED
        values = {
            "status": status,
            "concern": concern_of(
                record.kind, record.description, record.relational_tags, record.domain, record.subject
            ),
            "last_mentioned_at": record.last_mentioned_at or record.created_at,
            "content_hash": content_hash(record.description),
            "embedding_model": model,
            "import_uuid": self.mark(record.file),
        }
        return bulk.row(ConceptNode, persona_id=self.persona.pk, **(row | values))

    def faults_of(self, node: NodeRecord, session: int | None, contents: Contents) -> Iterator[str]:
        """References of a node whose targets were deleted since the survey."""
        if node.session is not None and session is None and node.session not in self.refused.sessions:
            yield f"there is no session {node.session!r}"
        for message in tombstone_check.cited_message_ids(node):
            if message not in contents and message not in self.refused.messages:
                yield f"there is no message {message!r}"
        for quoted in node.evidence or ():
            if quoted.message in contents and quoted.quote not in contents[quoted.message][1]:
                yield f"the quote does not occur in message {quoted.message!r}"

    def vectors_of(self, new: Sequence[Numbered[Any]]) -> dict[str, np.ndarray]:
        """The vectors of nodes by id: the archive's if they are of this model, else new ones. A node with an invalid
        vector is rejected."""
        stored_vectors, bare = dict[str, np.ndarray](), list[NodeRecord]()
        for numbered in new:
            if not has_our_vector(self.survey.header, numbered.record):
                bare.append(numbered.record)
                continue
            try:
                stored_vectors[numbered.record.id] = numbered.record.vector(embedding.dimension())
            except ValueError as error:
                self.reject(numbered.number, str(error))
        embedded = embedding.embed([node.description for node in bare])
        return stored_vectors | {node.id: vector for node, vector in zip(bare, embedded, strict=True)}

    def link_nodes(self, batch: Sequence[Numbered[Any]]) -> None:
        """Store the edges of nodes, and which node superseded or settled them. A forgotten source leaves an edge
        without a child."""
        with self.writing():
            rows = self.rows(
                ConceptNode, {key for numbered in batch for key in (numbered.record.id, *linked_ids(numbered.record))}
            )
            present = [
                numbered for numbered in batch if numbered.record.id in rows
            ]  # the others were rejected or refused
            node_threads: list[tuple[int, int | None]] = []
            for keys in in_batches([rows[numbered.record.id] for numbered in present]):
                node_threads += Filling.objects.filter(parent__in=keys).values_list("parent_id", "child_id")
            edges, orphans = set(node_threads), Counter(parent for parent, child in node_threads if child is None)
            new: list[Filling] = []
            for numbered in present:
                node, key = numbered.record, rows[numbered.record.id]
                missing_ids = (
                    linked_id
                    for linked_id in linked_ids(node)
                    if linked_id == node.id or linked_id not in {*rows, *self.refused.nodes}
                )
                if (missing := next(missing_ids, None)) is not None:
                    self.reject(numbered.number, f"there is no node {missing!r} for it to refer to")
                for child in dict.fromkeys(rows[child] for child in node.filling or () if child in rows):
                    if child != key and (key, child) not in edges:
                        new.append(Filling(parent_id=key, child_id=child))
                forgotten = node.orphaned + len(self.refused.nodes.intersection(node.filling or ()))
                new += [Filling(parent_id=key, child=None, orphaned=True) for _ in range(orphans[key], forgotten)]
                for link, linked_id in (("superseded_by", node.superseded_by), ("resolved_by", node.resolved_by)):
                    if linked_id and linked_id in rows and linked_id != node.id:
                        ConceptNode.objects.filter(pk=key, **{link: None}).update(**{f"{link}_id": rows[linked_id]})
            bulk.insert(new)

    # --- entities ---------------------------------------------------------------------------------------------------
    def load_merged(self, batch: Sequence[Numbered[Any]]) -> bool:
        """Store merged entities whose survivor exists here; returns whether there were any. An entity whose survivor is
        never stored is left out."""
        with self.writing():
            merged = [numbered.record for numbered in batch if numbered.record.merged_into is not None]
            rows = self.rows(Entity, {key for record in merged for key in (record.id, record.merged_into)})
            ready = [record for record in merged if record.id not in rows and record.merged_into in rows]
            accepted = [
                record for record in ready if not tombstone_check.is_refused(self.persona, record, self.refused)
            ]
            for record in accepted:
                entity = self.new_entity(record, merged_into=rows.get(record.merged_into or ""))
                self.add_aliases(entity, tombstone_check.remaining_names(self.persona, record.aliases, self.refused))
        return bool(accepted)

    def load_entity(self, number: int, record: EntityRecord) -> None:
        """Store an entity, its aliases, and its mentions. A known entity gets only mentions in nodes that this import
        added, now or before it was interrupted: decisions that people made since stay."""
        key = self.rows(Entity, [record.id]).get(record.id)
        if key is None and tombstone_check.is_refused(self.persona, record, self.refused):
            self.result.refused["entities"] += 1
            return
        rows = self.rows(ConceptNode, record.nodes)
        if missing := [node for node in record.nodes if node not in rows and node not in self.refused.nodes]:
            self.reject(number, f"there is no node {missing[0]!r} for it to be mentioned in")
        names = tombstone_check.remaining_names(self.persona, [record.name, *record.aliases], self.refused)
        nodes: list[ConceptNode] = []
        for keys in in_batches(sorted(rows.values())):
            nodes += ConceptNode.objects.filter(pk__in=keys, versions=None).order_by("pk")  # nobody corrected them
        if key is not None:
            nodes = self.unlinked(nodes, names)
            if not nodes:
                return
        entity = self.new_entity(record) if key is None else Entity.objects.get(pk=key)
        while entity.merged_into is not None:
            entity = entity.merged_into
        self.add_aliases(entity, names)
        Mention.objects.bulk_create([Mention(node=node, entity=entity) for node in nodes], ignore_conflicts=True)

    def unlinked(self, nodes: Iterable[ConceptNode], names: Sequence[str]) -> list[ConceptNode]:
        """Nodes that this import added, or that mention nobody although one of the names occurs in them."""
        nodes = list(nodes)
        linked = set(Mention.objects.filter(node__in=nodes).values_list("node_id", flat=True))
        return [
            node
            for node in nodes
            if node.pk > self.newest_before
            or node.import_uuid == self.run.uuid
            or (node.pk not in linked and any(person_names.occurs(name, node.description) for name in names))
        ]

    def new_entity(self, record: EntityRecord, merged_into: int | None = None) -> Entity:
        """Store an entity. A generated description may rest on nodes that are left out, and is dropped then; a person's
        description is kept."""
        [row] = tables.ENTITY.read(self.id_map, [record])
        is_by_person = record.described_by == Entity.DescribedBy.PERSON
        if not is_by_person and not self.refused.nodes.isdisjoint(record.nodes):
            row |= {"description": "", "described_by": ""}
        if merged_into is not None:
            row["status"] = Entity.Status.MERGED
        elif record.status == Entity.Status.MERGED:
            row["status"] = Entity.Status.CONFIRMED
        row |= {"created_at": record.created_at or timezone.now(), "import_uuid": self.mark(record.file)}
        entity = Entity(persona=self.persona, merged_into_id=merged_into, **row)
        bulk.insert([entity])
        if record.picture:
            try:
                save_photo(entity, base64.b64decode(record.picture, validate=True))
            except (PictureRefused, binascii.Error):
                self.report("a photo cannot be read and is left out")
        self.result.added["entities"] += 1
        return entity

    def add_aliases(self, entity: Entity, texts: Sequence[str]) -> None:
        """Add aliases that the entity does not have yet; of two spellings of a name the last is stored."""
        spelled = {person_names.normalize_name(text): text for text in texts}
        known_aliases = {"", *entity.aliases.values_list("normalized", flat=True)}
        new = [(normal, text) for normal, text in spelled.items() if normal not in known_aliases]
        bulk.insert([Alias(entity=entity, persona=self.persona, text=text, normalized=normal) for normal, text in new])


def _evidence(node: int, record: NodeRecord, contents: Contents) -> Iterator[vectors.EvidenceRow]:
    """The quotes at their places; of messages without a quote, the whole message."""
    spans: dict[tuple[int, int, int], str] = {}
    for quoted in record.evidence or ():
        if quoted.message in contents:
            message, content = contents[quoted.message]
            start = quoted.place_in(content)
            spans[message, start, start + len(quoted.quote)] = quoted.quote
    message_ids = {quoted.message for quoted in record.evidence or ()}
    for message_id in record.messages:
        message, content = contents.get(message_id, (0, ""))
        if message_id not in message_ids and content:
            spans[message, 0, len(content)] = content
    yield from ((node, message, quote, start, end) for (message, start, end), quote in spans.items())


def _count_messages(sessions: Collection[int]) -> None:
    """Update the message counts of sessions, and the time of the last message."""
    messages = Message.objects.filter(session=OuterRef("pk")).order_by().values("session")
    last = Subquery(messages.annotate(newest=Max("created_at")).values("newest"))
    for keys in in_batches(sessions):
        Session.objects.filter(pk__in=keys).update(
            message_count=Subquery(messages.annotate(count=Count("pk")).values("count")),
            token_count=Subquery(messages.annotate(sum=Sum("token_count")).values("sum")),
            last_message_at=Greatest("last_message_at", last),
        )
