"""Restoring an archive: idempotent, resumable, in constant memory, each batch whole or not at all.

The file is read five times, because its order is free: once to check every line and find the persona, then for
sessions, messages, nodes, and what links them. What has an external id that the persona already knows is left as it
is. Nothing is embedded inside a transaction. Core blocks are written only where the persona is new: the import is a
person's act, but what people wrote since is theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, Generic, TypeVar

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from chat import search
from chat.models import Message, Session
from echovessel import embedding
from echovessel.context import tokens
from memory import tombstones, vectors
from memory.archive import records
from memory.archive.records import (
    ArchiveError,
    BrokenLine,
    EntityRecord,
    HeaderRecord,
    MessageRecord,
    NodeRecord,
    PersonaRecord,
    RawLine,
    SessionRecord,
)
from memory.entities import names
from memory.model_in_use import expect, follow, with_one_model
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention
from memory.sameness import content_hash
from memory.writing import emotion_tags, tidied
from persona.models import Persona
from persona.onboarding import create_persona, language_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 200
LANGUAGE_SAMPLE = 4_000
PASSES = 5

R = TypeVar("R", bound=records.Record)
Identified = TypeVar("Identified", SessionRecord, MessageRecord, NodeRecord)
Progress = Callable[[int], None]
Report = Callable[[str], None]


@dataclass
class Imported:
    """What came of an import: the persona, rows added by type, lines that were rejected."""

    persona: Persona
    added: Counter[str] = field(default_factory=Counter)
    rejected: int = 0


@dataclass(frozen=True)
class Numbered(Generic[R]):
    """A record and the line it stands in."""

    number: int
    record: R


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
    loader.load()
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
    """The owner's persona of that external id; a new one where there is none."""
    given = survey.persona
    assert given is not None
    known = Persona.objects.owned_by(owner).filter(external_id=given.id).first()
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
        self.refused: set[str] = set()

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

    def _batches(self, *types: type[R]) -> Iterator[list[Numbered[R]]]:
        """The good lines of these types, at most BATCH at a time."""
        batch: list[Numbered[R]] = []
        for line in records.raw_lines(self.file):
            self.progress(line.size)
            found = _good(line)
            if isinstance(found, types):
                batch.append(Numbered(line.number, found))
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

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
        """Row ids of the persona's rows by external id."""
        rows = model._default_manager.filter(persona=self.persona, external_id__in=set(external_ids))
        return dict(rows.values_list("external_id", "pk"))

    # --- sessions ---------------------------------------------------------------------------------------------------
    def _load_sessions(self, batch: Sequence[Numbered[SessionRecord]]) -> None:
        with transaction.atomic():
            new = self._new(Session, batch)
            taken = set(self.persona.sessions.open().values_list("channel", flat=True))
            Session.objects.bulk_create([_session(self.persona, one.record, taken) for one in new])
        self.result.added["sessions"] += len(new)

    # --- messages ---------------------------------------------------------------------------------------------------
    def _load_messages(self, batch: Sequence[Numbered[MessageRecord]]) -> None:
        with transaction.atomic():
            new = self._new(Message, batch)
            sessions = self._rows(Session, [one.record.session for one in new])
            made = []
            for one in new:
                if one.record.session in sessions:
                    made.append(_message(self.persona, one.record, sessions[one.record.session]))
                else:
                    self._reject(one.number, f"there is no session {one.record.session!r}")
            Message.objects.bulk_create(made)
            search.index(made)
            _count(made)
        self.result.added["messages"] += len(made)

    # --- nodes ------------------------------------------------------------------------------------------------------
    def _load_nodes(self, batch: Sequence[Numbered[NodeRecord]]) -> None:
        new = [one for one in self._new(ConceptNode, batch) if self._resolves(one)]
        if new:
            self._add_nodes(new)

    @with_one_model
    def _add_nodes(self, new: Sequence[Numbered[NodeRecord]]) -> None:
        model = follow()
        rows = self._vectors(new)  # outside the transaction: embedding takes seconds
        with transaction.atomic():
            added = [one for one in self._new(ConceptNode, new) if not self._is_forgotten(one)]
            sessions = self._rows(Session, [one.record.session for one in added if one.record.session])
            made = [_node(self.persona, one.record, model, sessions) for one in added]
            expect(model)
            ConceptNode.objects.bulk_create(made)
            if made:
                vectors.index(made, np.stack([rows[one.record.id] for one in added]))
            Evidence.objects.bulk_create(
                [row for node, one in zip(made, added, strict=True) for row in self._evidence(node, one.record)]
            )
        self.result.added["nodes"] += len(made)

    def _is_forgotten(self, one: Numbered[NodeRecord]) -> bool:
        """Whether somebody forgot what it says, or the words it rests on: then it is left out, and counted."""
        node = one.record
        quotes = [quoted.quote for quoted in node.evidence or ()]
        contents = [content for _, content in self._contents(node).values()]
        if not tombstones.refuses(self.persona, {tidied(node.description), *quotes, *contents}):
            return False
        self.refused.add(node.id)
        self.report(f"line {one.number} was forgotten here, and is left out")
        return True

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
        if node.session is not None and not self._rows(Session, [node.session]):
            yield f"there is no session {node.session!r}"
        contents = self._contents(node)
        for message in [*node.messages, *(quoted.message for quoted in node.evidence or ())]:
            if message not in contents:
                yield f"there is no message {message!r}"
        for quoted in node.evidence or ():
            if quoted.quote not in contents.get(quoted.message, (0, ""))[1]:
                yield f"the quote does not occur in message {quoted.message!r}"
        if self.has_our_vector(node):
            try:
                node.vector(embedding.DIMENSION)
            except ValueError as error:
                yield str(error)

    def _contents(self, node: NodeRecord) -> dict[str, tuple[int, str]]:
        """Row id and content of the messages a node refers to, by external id."""
        wanted = {*node.messages, *(quoted.message for quoted in node.evidence or ())}
        if not wanted:
            return {}
        rows = Message.objects.filter(persona=self.persona, external_id__in=wanted)
        return {
            external_id: (pk, content)
            for external_id, pk, content in rows.values_list("external_id", "pk", "content")
            if external_id is not None
        }

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
            message, content = contents[quoted.message]
            start = content.index(quoted.quote)
            spans[message, start, start + len(quoted.quote)] = quoted.quote
        named = {quoted.message for quoted in given.evidence or ()}
        for whole in given.messages:
            message, content = contents[whole]
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
            return  # rejected before
        if missing := [other for other in wanted if other not in {*rows, *self.refused} or other == given.id]:
            self._reject(number, f"there is no node {missing[0]!r} for it to refer to")
        known = Filling.objects.filter(parent=rows[given.id])
        before = set(known.values_list("child_id", flat=True))
        children = dict.fromkeys(rows[child] for child in given.filling or () if child in rows and child != given.id)
        edges = [Filling(parent_id=rows[given.id], child_id=child) for child in children if child not in before]
        Filling.objects.bulk_create(edges)
        if given.superseded_by in rows:
            open_rows = ConceptNode.objects.filter(pk=rows[given.id], superseded_by=None)
            open_rows.update(superseded_by=rows[given.superseded_by])

    def _load_entity(self, number: int, given: EntityRecord) -> None:
        """Somebody or something with a name, the names they go by, and the nodes that mention them."""
        entity, is_new = Entity.objects.get_or_create(
            persona=self.persona,
            external_id=given.id,
            defaults={
                "canonical_name": given.name,
                "kind": given.kind,
                "description": given.description or "",
                "described_by": given.described_by,
                "status": given.status,
            },
        )
        self.result.added["entities"] += is_new
        rows = self._rows(ConceptNode, given.nodes)
        if missing := [node for node in given.nodes if node not in rows and node not in self.refused]:
            self._reject(number, f"there is no node {missing[0]!r} for it to be mentioned in")
        self._name(entity, [given.name, *given.aliases])
        mentions = [Mention(node_id=rows[node], entity=entity) for node in dict.fromkeys(given.nodes) if node in rows]
        Mention.objects.bulk_create(mentions, ignore_conflicts=True)

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


def _good(line: RawLine) -> records.Record | None:
    """The record of a line; None for one that the survey has rejected already."""
    try:
        return records.record(line)
    except BrokenLine:
        return None


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


def _message(persona: Persona, given: MessageRecord, session: int) -> Message:
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


def _node(persona: Persona, given: NodeRecord, model: str, sessions: Mapping[str, int]) -> ConceptNode:
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
    )
