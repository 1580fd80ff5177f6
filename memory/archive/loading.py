"""Restoring an archive: idempotent, resumable, in constant memory, each batch whole or not at all.

The file is read five times, because its order is free: once to check every line and find the persona, then for
sessions, messages, nodes, and what links them. What has an id that the persona already knows is left as it is; what
was forgotten here stays forgotten, and is looked for first (refusing.py). Nothing is embedded inside a transaction.
Core blocks are written only where the persona is new: the import is a person's act, but what people wrote since is
theirs. What came in by one import carries its uuid.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from uuid import UUID

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from chat import search
from chat.models import Message, Session
from echovessel import embedding
from echovessel.context import tokens
from memory import vectors
from memory.archive import records, refusing
from memory.archive.records import (
    ArchiveError,
    BrokenLine,
    EntityRecord,
    HeaderRecord,
    MessageRecord,
    NodeRecord,
    Numbered,
    PersonaRecord,
    RawLine,
    SessionRecord,
)
from memory.entities import names
from memory.model_in_use import expect, follow, with_one_model
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, ImportRun, Mention
from memory.sameness import content_hash
from memory.writing import emotion_tags
from persona.models import Persona
from persona.onboarding import create_persona, language_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LANGUAGE_SAMPLE = 4_000
PASSES = 5
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

R = TypeVar("R", bound=records.Record)
Identified = TypeVar("Identified", SessionRecord, MessageRecord, NodeRecord)
Progress = Callable[[int], None]
Report = Callable[[str], None]


@dataclass
class Imported:
    """What came of an import: the persona, rows added by type, what was left out because it was forgotten here, by
    type, and lines that were rejected."""

    persona: Persona
    added: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rejected: int = 0


@dataclass
class _Survey:
    """What the first reading finds."""

    persona: PersonaRecord | None = None
    sample: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    rejected: int = 0


def import_archive(
    file: BinaryIO,
    owner: "User",
    *,
    name: str = "",
    skip_bad: bool = False,
    progress: Progress = lambda size: None,
    report: Report = lambda line: None,
) -> Imported:
    """Restore the archive in `file` (seekable) for `owner`.

    `name` is given to a persona that is new. `progress` hears of bytes read, PASSES times the file's size in all;
    `report` of lines rejected and of what is unknown. Raises ArchiveError, or BrokenLine for the first broken line
    unless `skip_bad`: then it is reported and the rest is taken. Raises embedding.EmbeddingUnavailable.
    """
    header = records.header(file)
    survey = _surveyed(file, skip_bad, progress, report)
    if survey.persona is None:
        raise ArchiveError("the archive has no persona line")
    for what, count in sorted(survey.unknown.items()):
        report(f"not understood and left out: {what} ({count} times)")
    loader = _Loader(file, _persona(owner, survey, name), header, skip_bad, progress, report)
    loader.result.rejected = survey.rejected
    try:
        loader.load()
    finally:
        loader.finish()
    return loader.result


def _surveyed(file: BinaryIO, skip_bad: bool, progress: Progress, report: Report) -> _Survey:
    """Check every line, before anything is written."""
    survey = _Survey()
    for line in records.raw_lines(file):
        progress(line.size)
        try:
            _note(survey, line)
        except BrokenLine as broken:
            if not skip_bad:
                raise
            survey.rejected += 1
            report(f"rejected, {broken}")
    return survey


def _note(survey: _Survey, line: RawLine) -> None:
    found = records.record(line)
    if found is None:
        survey.unknown[f"lines of type {line.type!r}"] += 1
        return
    for extra in found.model_extra or {}:
        survey.unknown[f"field {extra!r} of {line.type}"] += 1
    if isinstance(found, PersonaRecord):
        if survey.persona is not None:
            raise BrokenLine(line.number, "an archive holds one persona; this is a second one")
        survey.persona = found
    elif len(survey.sample) < LANGUAGE_SAMPLE and isinstance(found, MessageRecord | NodeRecord):
        survey.sample += found.content if isinstance(found, MessageRecord) else found.description
    elif isinstance(found, HeaderRecord) and line.number > 1:
        raise BrokenLine(line.number, "a second header")


def _persona(owner: "User", survey: _Survey, name: str) -> Persona:
    """The owner's persona of that id; a new one where there is none."""
    given = survey.persona
    assert given is not None
    known = Persona.objects.owned_by(owner).filter(_called(given.id)).first()
    if known is not None:
        return known
    written = " ".join([given.name, *given.blocks.values(), survey.sample])
    try:
        with transaction.atomic():
            made = create_persona(
                owner,
                name or given.name,
                user_name=given.user_name,
                timezone=given.timezone,
                language=given.language or language_of(written),
                blocks={str(label): text for label, text in given.blocks.items()},
                facts=given.facts,
                external_id=given.id,
            )
            if given.mood:
                Persona.objects.filter(pk=made.pk).update(episodic_state=given.mood)
    except ValidationError as error:
        raise ArchiveError(f"the persona cannot be made: {'; '.join(error.messages)}") from error
    made.refresh_from_db()
    return made


class _Loader:
    """One import under way: the persona, and what came of it so far."""

    def __init__(
        self,
        file: BinaryIO,
        persona: Persona,
        header: HeaderRecord,
        skip_bad: bool,
        progress: Progress,
        report: Report,
    ) -> None:
        self.file = file
        self.persona = persona
        self.header = header
        self.skip_bad = skip_bad
        self.progress = progress
        self.report = report
        self.result = Imported(persona)
        self.refused = refusing.look_through(file, persona)
        self.run = ImportRun.objects.create(persona=persona, at=timezone.now())

    def load(self) -> None:
        """Sessions, messages, nodes, then what links them."""
        for sessions in self._batches(SessionRecord):
            self._load_sessions(sessions)
        for messages in self._batches(MessageRecord):
            self._load_messages(messages)
        for nodes in self._batches(NodeRecord):
            self._load_nodes(nodes)
        for linked in self._batches(NodeRecord, EntityRecord):
            self._link(linked)

    def finish(self) -> None:
        """Note what came of it; of an import that added nothing, nothing is kept."""
        self.result.added, self.result.refused = +self.result.added, +self.result.refused  # without what is none
        if self.result.added:
            self.run.counts = dict(self.result.added)
            self.run.save(update_fields=["counts"])
        else:
            self.run.delete()
        for what, count in sorted(self.result.refused.items()):
            self.report(f"forgotten here, and left out: {count} {what}")

    def _batches(self, *types: type[R]) -> Iterator[list[Numbered[R]]]:
        return records.batches(self.file, *types, progress=self.progress)

    def _reject(self, number: int, reason: str) -> None:
        """Refuse one line for what it refers to. Raises BrokenLine unless bad lines are skipped."""
        broken = BrokenLine(number, reason)
        if not self.skip_bad:
            raise broken
        self.result.rejected += 1
        self.report(f"rejected, {broken}")

    def _new(
        self, model: type[Session] | type[Message] | type[ConceptNode], batch: Sequence[Numbered[Identified]]
    ) -> list[Numbered[Identified]]:
        """Those whose external id the persona does not have yet, each once."""
        ids = [one.record.id for one in batch]
        known = set(self._rows(model, ids))
        first: dict[str, Numbered[Identified]] = {}
        for one in batch:
            if one.record.id not in known:
                first.setdefault(one.record.id, one)
        return list(first.values())

    def _rows(
        self, model: type[Session] | type[Message] | type[ConceptNode] | type[Entity], external_ids: Sequence[str]
    ) -> dict[str, int]:
        """Row ids of the persona's rows by external id, or by the uuid of those that have none."""
        rows = model._default_manager.filter(persona=self.persona)
        by_uuid = rows.filter(external_id=None, uuid__in=_uuids(external_ids))
        known = {str(uuid): pk for uuid, pk in by_uuid.values_list("uuid", "pk")}
        return known | dict(rows.filter(external_id__in=set(external_ids)).values_list("external_id", "pk"))

    # --- sessions ---------------------------------------------------------------------------------------------------
    def _load_sessions(self, batch: Sequence[Numbered[SessionRecord]]) -> None:
        with transaction.atomic():
            fresh = self._new(Session, batch)
            new = [one.record for one in fresh if one.record.id not in self.refused.sessions]
            taken = set(self.persona.sessions.open().values_list("channel", flat=True))
            Session.objects.bulk_create([self._session(given, taken) for given in new])
        self.result.added["sessions"] += len(new)
        self.result.refused["sessions"] += len(fresh) - len(new)

    def _session(self, given: SessionRecord, taken: set[str]) -> Session:
        """A session of this import; what its summary says may be among the lines that are left out."""
        made = _session(self.persona, given, taken)
        made.import_uuid = self.run.uuid
        if given.id in self.refused.cut:
            made.summary = ""
        return made

    # --- messages ---------------------------------------------------------------------------------------------------
    def _load_messages(self, batch: Sequence[Numbered[MessageRecord]]) -> None:
        with transaction.atomic():
            fresh = self._new(Message, batch)
            known = self._unrefused(fresh, self.refused.messages)
            refusing.note_messages(self.persona, [one.record for one in known], self.refused)
            new = self._unrefused(known, self.refused.messages)
            sessions = self._rows(Session, [one.record.session for one in new])
            made = []
            for one in new:
                if one.record.session in sessions:
                    made.append(_message(self.persona, one.record, sessions[one.record.session], self.run.uuid))
                else:
                    self._reject(one.number, f"there is no session {one.record.session!r}")
            Message.objects.bulk_create(made)
            search.index(made)
            _count(made)
        self.result.added["messages"] += len(made)
        self.result.refused["messages"] += len(fresh) - len(new)

    def _unrefused(self, batch: Sequence[Numbered[Identified]], refused: Collection[str]) -> list[Numbered[Identified]]:
        return [one for one in batch if one.record.id not in refused]

    # --- nodes ------------------------------------------------------------------------------------------------------
    def _load_nodes(self, batch: Sequence[Numbered[NodeRecord]]) -> None:
        fresh = self._new(ConceptNode, batch)
        left = self._unrefused(fresh, self.refused.nodes)
        new = [one for one in left if self._resolves(one)]
        added = self._add_nodes(new) if new else 0
        self.result.added["nodes"] += added
        self.result.refused["nodes"] += len(fresh) - len(left) + len(new) - added

    @with_one_model
    def _add_nodes(self, new: Sequence[Numbered[NodeRecord]]) -> int:
        """How many there are now; the others were forgotten since the archive was looked through."""
        model = follow()
        rows = self._vectors(new)  # outside the transaction: embedding takes seconds
        with transaction.atomic():
            fresh = self._new(ConceptNode, new)
            refusing.note_nodes(self.persona, [one.record for one in fresh], self.refused, self._said(fresh))
            added = self._unrefused(fresh, self.refused.nodes)
            sessions = self._rows(Session, [one.record.session for one in added if one.record.session])
            made = [_node(self.persona, one.record, model, sessions, self.run.uuid) for one in added]
            expect(model)
            ConceptNode.objects.bulk_create(made)
            if made:
                vectors.index(made, np.stack([rows[one.record.id] for one in added]))
            Evidence.objects.bulk_create(
                [row for node, one in zip(made, added, strict=True) for row in self._evidence(node, one.record)]
            )
        return len(made)

    def _said(self, batch: Sequence[Numbered[NodeRecord]]) -> dict[str, list[str]]:
        """The whole lines that nodes rest on, by node."""
        return {one.record.id: [content for _, content in self._contents(one.record).values()] for one in batch}

    def has_our_vector(self, node: NodeRecord) -> bool:
        """Whether the archive holds the vector that the model in use here would make."""
        made_by = self.header.embedding_model
        return node.embedding is not None and made_by is not None and embedding.alike(made_by, node.description)

    def _resolves(self, one: Numbered[NodeRecord]) -> bool:
        """Whether all that a node refers to is there, and its vector is one."""
        for fault in self._faults(one.record):
            self._reject(one.number, fault)
            return False
        return True

    def _faults(self, node: NodeRecord) -> Iterator[str]:
        session = node.session
        if session is not None and session not in self.refused.sessions and not self._rows(Session, [session]):
            yield f"there is no session {session!r}"
        contents = self._contents(node)
        for message in [*node.messages, *(quoted.message for quoted in node.evidence or ())]:
            if message not in contents and message not in self.refused.messages:
                yield f"there is no message {message!r}"
        for quoted in node.evidence or ():
            if quoted.message in contents and quoted.quote not in contents[quoted.message][1]:
                yield f"the quote does not occur in message {quoted.message!r}"
        if self.has_our_vector(node):
            try:
                node.vector(embedding.DIMENSION)
            except ValueError as error:
                yield str(error)

    def _contents(self, node: NodeRecord) -> dict[str, tuple[int, str]]:
        """Row id and content of the messages a node refers to, by their ids, without those that were forgotten."""
        keys = self._rows(Message, sorted(refusing.cited(node) - self.refused.messages))
        contents = dict(Message.objects.filter(pk__in=keys.values()).values_list("pk", "content"))
        return {given: (pk, contents[pk]) for given, pk in keys.items()}

    def _vectors(self, new: Sequence[Numbered[NodeRecord]]) -> dict[str, np.ndarray]:
        """The vectors of nodes by external id: those of the archive where they are this model's, else made here."""
        given = {
            one.record.id: one.record.vector(embedding.DIMENSION) for one in new if self.has_our_vector(one.record)
        }
        bare = [one.record for one in new if one.record.id not in given]
        made = embedding.embed([node.description for node in bare])
        return given | {node.id: vector for node, vector in zip(bare, made, strict=True)}

    def _evidence(self, node: ConceptNode, given: NodeRecord) -> list[Evidence]:
        """Quotes at their place; messages that are not quoted as a whole."""
        contents = self._contents(given)
        spans: dict[tuple[int, int, int], str] = {}
        for quoted in given.evidence or ():
            if quoted.message not in contents:
                continue
            message, content = contents[quoted.message]
            start = quoted.place_in(content)
            spans[message, start, start + len(quoted.quote)] = quoted.quote
        named = {quoted.message for quoted in given.evidence or ()}
        for whole in given.messages:
            message, content = contents.get(whole, (0, ""))
            if whole not in named and content:
                spans[message, 0, len(content)] = content
        return [
            Evidence(node=node, message_id=message, quote=quote, start=start, end=end)
            for (message, start, end), quote in spans.items()
        ]

    # --- links ------------------------------------------------------------------------------------------------------
    def _link(self, batch: Sequence[Numbered[records.Record]]) -> None:
        with transaction.atomic():
            for one in batch:
                if isinstance(one.record, NodeRecord):
                    self._link_node(one.number, one.record)
                elif isinstance(one.record, EntityRecord):
                    self._load_entity(one.number, one.record)

    def _link_node(self, number: int, given: NodeRecord) -> None:
        """What a node was concluded from, and what took its place."""
        wanted = [*(given.filling or ()), *([given.superseded_by] if given.superseded_by else ())]
        if not wanted:
            return
        rows = self._rows(ConceptNode, [given.id, *wanted])
        if given.id not in rows:
            return  # rejected or refused before
        if missing := [other for other in wanted if other not in {*rows, *self.refused.nodes} or other == given.id]:
            self._reject(number, f"there is no node {missing[0]!r} for it to refer to")
        known = Filling.objects.filter(parent=rows[given.id])
        before = set(known.values_list("child_id", flat=True))
        children = dict.fromkeys(rows[child] for child in given.filling or () if child in rows and child != given.id)
        edges = [Filling(parent_id=rows[given.id], child_id=child) for child in children if child not in before]
        Filling.objects.bulk_create(edges)
        self._orphan(rows[given.id], given.filling or ())
        if given.superseded_by in rows:
            open_rows = ConceptNode.objects.filter(pk=rows[given.id], superseded_by=None)
            open_rows.update(superseded_by=rows[given.superseded_by])

    def _orphan(self, parent: int, filling: Sequence[str]) -> None:
        """An edge without a child for each forgotten thing that a node was concluded from besides others."""
        gone = len(self.refused.nodes.intersection(filling))
        known = Filling.objects.filter(parent=parent, child=None).count() if gone else 0
        Filling.objects.bulk_create(Filling(parent_id=parent, child=None, orphaned=True) for _ in range(known, gone))

    def _load_entity(self, number: int, given: EntityRecord) -> None:
        """Somebody or something with a name, the names they go by, and the nodes that mention them."""
        key = self._rows(Entity, [given.id]).get(given.id)
        if key is None and refusing.is_refused(self.persona, given, self.refused):
            self.result.refused["entities"] += 1
            return
        rows = self._rows(ConceptNode, given.nodes)
        if missing := [node for node in given.nodes if node not in rows and node not in self.refused.nodes]:
            self._reject(number, f"there is no node {missing[0]!r} for it to be mentioned in")
        left = refusing.names_left(self.persona, [given.name, *given.aliases])
        nodes = self._as_told(rows.values()) if key is None else self._new_of(rows.values(), left)
        if key is not None and not nodes:
            return
        entity = self._survivor(key) if key else self._new_entity(given)
        self._name(entity, left)
        Mention.objects.bulk_create([Mention(node=node, entity=entity) for node in nodes], ignore_conflicts=True)

    def _as_told(self, nodes: Iterable[int]) -> list[ConceptNode]:
        """Those that say what they do in the archive: nobody corrected them."""
        return list(ConceptNode.objects.filter(pk__in=list(nodes), versions=None).order_by("pk"))

    def _new_of(self, nodes: Iterable[int], left: Sequence[str]) -> list[ConceptNode]:
        """Of somebody who is known those that came just now, or before an import broke off. What people have told
        apart since stays so."""
        told = self._as_told(nodes)
        linked = set(Mention.objects.filter(node__in=told).values_list("node_id", flat=True))
        return [
            node
            for node in told
            if node.import_uuid == self.run.uuid
            or (node.pk not in linked and any(names.occurs(name, node.description) for name in left))
        ]

    def _survivor(self, key: int) -> Entity:
        """The entity, or the one in whom it lives on."""
        entity = Entity.objects.get(pk=key)
        while entity.merged_into is not None:
            entity = entity.merged_into
        return entity

    def _new_entity(self, given: EntityRecord) -> Entity:
        """What was written of it may rest on what is left out; what a person wrote is kept."""
        by_person = given.described_by == Entity.DescribedBy.PERSON
        is_sound = by_person or self.refused.nodes.isdisjoint(given.nodes)
        self.result.added["entities"] += 1
        return Entity.objects.create(
            persona=self.persona,
            external_id=given.id,
            canonical_name=given.name,
            kind=given.kind,
            description=given.description or "" if is_sound else "",
            described_by=given.described_by if is_sound else "",
            status=given.status,
            import_uuid=self.run.uuid,
        )

    def _name(self, entity: Entity, aliases: Sequence[str]) -> None:
        spelled: Mapping[str, str] = {names.normalized(alias): alias for alias in reversed(aliases)}
        Alias.objects.bulk_create(
            [
                Alias(entity=entity, persona=self.persona, text=text, normalized=normal)
                for normal, text in spelled.items()
                if normal
            ],
            ignore_conflicts=True,
        )


def _called(given: str) -> Q:
    """Where a row bears this id of an archive: its own external id, or its uuid where it has none."""
    return Q(external_id=given) | Q(external_id=None, uuid__in=_uuids([given]))


def _uuids(ids: Iterable[str]) -> list[UUID]:
    """Those of `ids` that are uuids, as an export writes them."""
    return [UUID(one) for one in ids if _UUID.fullmatch(one)]


def _session(persona: Persona, given: SessionRecord, taken: set[str]) -> Session:
    """A session as it was; one that was open rests, where another is open on its channel."""
    status: str = given.status
    if status == Session.Status.OPEN and given.channel in taken:
        status = Session.Status.CLOSING
    if status == Session.Status.CONSOLIDATING:
        status = Session.Status.CLOSING  # its lease belonged to another installation
    if status == Session.Status.OPEN:
        taken.add(given.channel)
    return Session(
        persona=persona,
        external_id=given.id,
        channel=given.channel,
        status=status,
        started_at=given.started_at,
        last_message_at=given.last_message_at or given.closed_at or given.started_at,
        closed_at=given.closed_at,
        close_reason="" if status == Session.Status.OPEN else given.close_reason,
        summary=given.summary or "",
        failure=given.failure or "",
        trivial=given.trivial,
        off_the_record=given.off_the_record,
    )


def _message(persona: Persona, given: MessageRecord, session: int, run: UUID) -> Message:
    return Message(
        persona=persona,
        session_id=session,
        external_id=given.id,
        role=given.role,
        content=given.content,
        token_count=tokens(given.content),
        day=given.created_at.astimezone(persona.zone).date(),
        created_at=given.created_at,
        withheld=given.withheld,
        import_uuid=run,
    )


def _count(made: Sequence[Message]) -> None:
    """Count new messages in their sessions."""
    by_session: dict[int, list[Message]] = {}
    for message in made:
        by_session.setdefault(message.session_id, []).append(message)
    for session, said in by_session.items():
        Session.objects.filter(pk=session).update(
            message_count=F("message_count") + len(said),
            token_count=F("token_count") + sum(message.token_count for message in said),
            last_message_at=Greatest("last_message_at", max(message.created_at for message in said)),
        )


def _node(persona: Persona, given: NodeRecord, model: str, sessions: Mapping[str, int], run: UUID) -> ConceptNode:
    superseded = ConceptNode.Status.SUPERSEDED if given.superseded_by else ConceptNode.Status.ACTIVE
    time = given.event_time
    last_mentioned: datetime = given.last_mentioned_at or given.created_at
    return ConceptNode(
        persona=persona,
        external_id=given.id,
        kind=given.kind,
        subject=given.subject,
        description=given.description,
        emotional_impact=given.emotional_impact,
        emotion_tags=emotion_tags(given.emotion_tags),
        relational_tags=list(given.relational_tags),
        event_time_start=time.start if time else None,
        event_time_end=(time.end or time.start) if time else None,
        session_id=sessions.get(given.session or ""),
        source=given.source,
        confidence=given.confidence,
        status=given.status or superseded,
        verification=given.verification,
        mention_count=given.mention_count,
        last_mentioned_at=last_mentioned,
        created_at=given.created_at,
        content_hash=content_hash(given.description),
        embedding_model=model,
        outcome=given.outcome,
        resolved_at=given.resolved_at,
        access_count=given.access_count,
        last_accessed_at=given.last_accessed_at,
        pinned=given.pinned,
        archived_because=given.archived_because,
        import_uuid=run,
    )
