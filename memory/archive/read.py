"""Restoring an archive: idempotent, resumable, in constant memory, each batch whole or not at all.

The file is read once to check every line and note where the lines of each type are, for its order is free
(survey.py); then type by type: talks, lines with the turns that they belong to, memories, what links them, people,
and the parts that stand beside them (parts.py). What has an id that the persona already knows is left as it is; what
was forgotten here stays forgotten, and is looked for first (tombstone_check.py). Nothing is embedded inside a
transaction. Core blocks are written only where the persona is new: the import is a person's act, but what people wrote
since is theirs. What came in by one import carries its uuid.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
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
from echovessel.llm.prompt_sections import tokens
from memory.archive import auxiliary_records, imported_files, parts, schema, tombstone_check, write
from memory.archive import survey as archive_survey
from memory.archive.parts import Known, uuids_among
from memory.archive.schema import (
    ArchiveError,
    EntityRecord,
    MessageRecord,
    NodeRecord,
    Numbered,
    PersonaRecord,
    SessionRecord,
    TurnRecord,
)
from memory.archive.survey import LINKED, Progress, Report, Survey, has_our_vector, links
from memory.curation.lessons import Wish, is_refused
from memory.models import Alias, ConceptNode, Entity, Filling, ImportRun, Mention
from memory.store import tombstones, vectors
from memory.store.active_model import expect, follow, with_one_model
from memory.store.deduplication import content_hash
from memory.store.writing import concern_of, emotion_tags
from persona.models import CoreBlock, CoreBlockVersion, MoodChange, Persona
from persona.onboarding.creation import create_persona, language_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PASSES = 2
# What has to be embedded is stored so many at a time: a death loses no more than that.
EMBEDDED_AT_ONCE = 200

Identified = TypeVar("Identified", SessionRecord, TurnRecord, MessageRecord, NodeRecord)
Contents = Mapping[str, tuple[int, str]]


@dataclass
class ImportResult:
    """What came of an import: the persona, rows added by type, what was left out because it was forgotten here, by
    type, and lines that were rejected."""

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
    report: Report = lambda line: None,
) -> ImportResult:
    """Restore the archive in `file` (seekable) for `owner`.

    `name` is given to a persona that is new. `into` takes in what another one remembers: of herself nothing changes,
    and the archive's core blocks are left aside. What comes in bears the uuid of `run`, where there is one already.
    `progress` hears of bytes read, PASSES times the file's size in all; `report` of lines rejected and of what is
    unknown. Raises ArchiveError, or BrokenLine for the first broken line unless `skip_bad`: then it is reported and the
    rest is taken. Raises embedding.EmbeddingUnavailable.
    """
    follow()  # the vectors of the model in use are looked at, too
    survey = archive_survey.survey_archive(file, skip_bad, progress, report)
    if survey.persona is None:
        raise ArchiveError("the archive has no persona line")
    for what, count in sorted(survey.unknown.items()):
        report(f"not understood and left out: {what} ({count} times)")
    # The owner's persona of that id.
    here = (
        into
        or Persona.objects.owned_by(owner)
        .filter(Q(external_id=survey.persona.id) | Q(external_id=None, uuid__in=uuids_among([survey.persona.id])))
        .first()
    )
    archive_survey.drop_unusable(survey, Known(here) if here else None)
    persona = here or _made(owner, survey, survey.persona, name)
    loader = _Loader(survey, persona, progress, run)
    try:
        loader.load()
    finally:
        loader.finish()
    return loader.result


def _made(owner: "User", survey: Survey, given: PersonaRecord, name: str) -> Persona:
    blocks = given.blocks.written()
    written = " ".join([given.name, *blocks.values(), survey.sample])
    now = timezone.now()
    try:
        with transaction.atomic():
            made = create_persona(
                owner,
                name or given.name,
                user_name=given.user_name,
                timezone=given.timezone,
                language=given.language or language_of(written),
                blocks=blocks,
                facts=given.facts,
                external_id=given.id,
            )
            as_she_was = _as_she_was(made, given, survey.header.exported_at or now)
            Persona.objects.filter(pk=made.pk).update(**as_she_was)
            # What she feels is one of her moods, also where the archive tells of no such change.
            state = as_she_was["episodic_state"]
            told = (one.record.mood for batch in survey.batches("mood") for one in batch)
            if state and state["mood"] not in told:
                signal, at = state.get("last_user_signal"), datetime.fromisoformat(state["updated_at"])
                MoodChange.objects.create(
                    persona=made, mood=state["mood"], energy=state["energy"], last_user_signal=signal, at=at
                )
            # The core blocks of a new persona as people wrote them one after the other. The last of each is as it is,
            # unless the persona's line says something newer.
            versions = [one.record for batch in survey.batches("block_version") for one in batch]
            for block in CoreBlock.objects.filter(persona=made):
                said = {one.version: one for one in versions if one.label == block.label}
                last = said.pop(max(said, default=0), None)
                if last is not None and last.content == block.content:
                    CoreBlock.objects.filter(pk=block.pk).update(version=last.version, **_wrote(made, last))
                elif last is not None:
                    said[last.version] = last
                    CoreBlock.objects.filter(pk=block.pk).update(version=last.version + 1, edited_at=now)
                CoreBlockVersion.objects.bulk_create(
                    CoreBlockVersion(block=block, version=one.version, content=one.content, **_wrote(made, one))
                    for one in said.values()
                )
    except ValidationError as error:
        raise ArchiveError(f"the persona cannot be made: {'; '.join(error.messages)}") from error
    made.refresh_from_db()
    return made


def _as_she_was(made: Persona, given: PersonaRecord, saved_at: datetime) -> dict[str, Any]:
    """What onboarding does not ask for. Her uuid is hers again where nobody has it: what was buried is known by it. A
    mood that does not say since when is that of the moment at which she was saved."""
    is_free = given.uuid is not None and not Persona.objects.filter(uuid=given.uuid).exists()
    mood = given.mood or {}
    return {
        "episodic_state": mood and {**mood, "updated_at": mood.get("updated_at") or saved_at.isoformat()},
        "care_until": given.care_until,
        "created_at": given.created_at or made.created_at,
        "uuid": given.uuid if is_free else made.uuid,
        "external_id": None if is_free and str(given.uuid) == given.id else given.id,
    }


def _wrote(made: Persona, version: schema.BlockVersionRecord) -> dict[str, Any]:
    return {"edited_by_id": Known(made).by(version.by), "edited_at": version.edited_at}


class _Loader:
    """One import under way: the persona, and what came of it so far."""

    def __init__(self, survey: Survey, persona: Persona, progress: Progress, run: ImportRun | None = None) -> None:
        self.survey = survey
        self.persona = persona
        self.known = Known(persona)
        self.progress = progress
        self.read = 0
        self.report = survey.report
        self.result = ImportResult(persona, rejected=survey.rejected)
        self.refused = tombstone_check.RefusedRecords()
        self.tombstones: dict[str, datetime] = {}  # of the archive itself
        self.rejected: set[int] = set()
        self.files: Mapping[str | None, UUID] = {}
        self.newest_before = persona.nodes.aggregate(newest=Max("pk"))["newest"] or 0
        self.is_its_own = run is None
        self.run = run or ImportRun.objects.create(persona=persona, at=timezone.now())

    def load(self) -> None:
        """What must not come back; sessions, messages, memories; then what links them, and the rest."""
        self._load_tombstones()
        # Imports of files, as far as this is not one itself: then all that comes in is its own.
        if self.is_its_own:
            self.files = imported_files.load_files(self.known, self._batches("file"))
        self.refused = tombstone_check.check_archive(self._again, self.persona, self.tombstones)
        for sessions in self._batches("session"):
            self._load_sessions(sessions)
        for messages in self._batches("message"):
            self._load_messages(messages)
        for nodes in self._batches("node"):
            for some in self._embedded_together(nodes):
                fresh = self._new(ConceptNode, some)
                left = self._unrefused(fresh, self.refused.nodes)
                self.result.refused["nodes"] += len(fresh) - len(left)
                if left:
                    sound, added = self._add_nodes(left)
                    self.result.added["nodes"] += added
                    self.result.refused["nodes"] += sound - added
        for nodes in self._again(LINKED):
            self._link(nodes)
        # Those who stand by themselves, then those who live on in them, and in these.
        for batch in self._batches("entity"):
            with self._writing():
                for one in batch:
                    if one.record.merged_into is None:
                        self._load_entity(one.number, one.record)
        found = True
        while found:
            found = sum(self._load_merged(batch) for batch in self._again("entity")) > 0
        for part in write.parts_beside():
            if self.is_its_own or part not in imported_files.PARTS:  # what became of somebody else's files is hers
                self.result.added[part.kind] += part.load(self.known, self._batches(part.kind))
        self.progress(self.survey.size - self.read)  # what there was nothing to do with

    def finish(self) -> None:
        """Note what came of it; of an import that added nothing, nothing is kept. Who gave the run does so herself."""
        self.result.added, self.result.refused = +self.result.added, +self.result.refused  # without what is none
        if self.is_its_own and self.result.added:
            ImportRun.objects.filter(pk=self.run.pk).update(counts=dict(self.result.added))
        elif self.is_its_own:
            ImportRun.objects.filter(pk=self.run.pk).delete()
        for what, count in sorted(self.result.refused.items()):
            self.report(f"forgotten here, and left out: {count} {what}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction for what the import brings, as long as that is not forgotten as a whole: nothing of it comes
        after that. Raises ArchiveError."""
        with transaction.atomic():
            if not ImportRun.objects.filter(pk=self.run.pk).exists():
                raise ArchiveError("it was forgotten while it was read")
            yield

    def _batches(self, kind: str) -> Iterator[list[Numbered[Any]]]:
        return self.survey.batches(kind, self._progressed)

    def _again(self, kind: str) -> Iterator[list[Numbered[Any]]]:
        """The same lines once more; nobody is told of the progress."""
        return self.survey.batches(kind)

    def _progressed(self, size: int) -> None:
        self.read += size
        self.progress(size)

    def _reject(self, number: int, reason: str) -> None:
        """Refuse one line for what it refers to and was there when the archive was surveyed. Raises BrokenLine unless
        bad lines are skipped."""
        if number not in self.rejected:  # what is done anew for another embedding model tells of it once
            self.survey.reject(number, reason)
            self.rejected.add(number)
            self.result.rejected += 1

    def _new(
        self,
        model: type[Session] | type[Turn] | type[Message] | type[ConceptNode],
        batch: Sequence[Numbered[Identified]],
    ) -> list[Numbered[Identified]]:
        """Those whose external id the persona does not have yet, each once."""
        known = self._rows(model, [one.record.id for one in batch])
        first: dict[str, Numbered[Identified]] = {}
        for one in batch:
            if one.record.id not in known:
                first.setdefault(one.record.id, one)
        return list(first.values())

    def _rows(self, model: type[Any], ids: Collection[str | None]) -> dict[str, int]:
        """Row ids of the persona's rows by external id, or by the uuid of those that have none."""
        return {given: key for given, key in self.known.rows(model, ids).items() if given}

    def _unrefused(self, batch: Sequence[Numbered[Identified]], refused: Collection[str]) -> list[Numbered[Identified]]:
        return [one for one in batch if one.record.id not in refused]

    # --- what must not come back ------------------------------------------------------------------------------------
    def _load_tombstones(self) -> None:
        """A digest is made with the key of an installation and the persona's uuid: elsewhere nobody can ask by it what
        it refuses. It is kept for where the key is, and told of."""
        given = self.survey.persona
        if given is None or given.uuid != self.persona.uuid:
            if count := len(self.survey.places["tombstone"].at) if "tombstone" in self.survey.places else 0:
                self.report(f"forgotten elsewhere: {count} tombstones cannot be used, for they are another persona's")
            return
        for batch in self._again("tombstone"):
            self.tombstones |= {one.record.digest: one.record.created_at for one in batch}
        self.result.added["tombstones"] += auxiliary_records.load_tombstones(self.known, self._batches("tombstone"))
        strange = self.persona.tombstones.exclude(key_id=tombstones.key_id()).count()
        if strange:
            self.report(
                f"forgotten elsewhere: {strange} tombstones refuse nothing here, for they were made with the key of "
                "another installation (tombstone_key in its data folder)"
            )

    # --- what it came in by -----------------------------------------------------------------------------------------

    def _mark(self, file: str | None) -> UUID:
        """Of what came in by a file its mark; of all else that of this import."""
        return self.files.get(file, self.run.uuid)

    # --- sessions and turns -----------------------------------------------------------------------------------------
    def _load_sessions(self, batch: Sequence[Numbered[SessionRecord]]) -> None:
        with self._writing():
            fresh = self._new(Session, batch)
            new = [one.record for one in fresh if one.record.id not in self.refused.sessions]
            taken = set(self.persona.sessions.open().values_list("channel", flat=True))
            bulk.insert([self._session(given, taken) for given in new])
        self.result.added["sessions"] += len(new)
        self.result.refused["sessions"] += len(fresh) - len(new)

    def _session(self, given: SessionRecord, taken: set[str]) -> Session:
        """A session of this import; what its summary says may be among the lines that are left out."""
        made = _session(self.persona, given, taken)
        made.import_uuid = self._mark(given.file)
        if given.id in self.refused.cut:
            made.summary = ""
        return made

    # --- messages ---------------------------------------------------------------------------------------------------
    def _load_messages(self, batch: Sequence[Numbered[MessageRecord]]) -> None:
        with self._writing():
            fresh = self._new(Message, batch)
            known = self._unrefused(fresh, self.refused.messages)
            tombstone_check.note_messages(self.persona, [one.record for one in known], self.refused)
            new = self._unrefused(known, self.refused.messages)
            sessions = self._rows(Session, {one.record.session for one in new})
            sound = [one for one in new if self._is_in_a_talk(one, sessions)]
            self._load_turns({one.record.turn for one in sound})
            turns = self._free_turns(sound)
            made, flags = [], []
            for one in sound:
                line = _message(self.persona, one.record, sessions[one.record.session], self._mark(one.record.file))
                line.turn_id = turns.get((one.record.turn, one.record.id))
                made.append(line)
                if one.record.flagged:
                    flags.append((line, one.record.flagged))
            search.store(made)
            bulk.insert([self._flag(line, flag) for line, flag in flags])
            _count({line.session_id for line in made})
        self.result.added["messages"] += len(made)
        self.result.refused["messages"] += len(fresh) - len(new)

    def _is_in_a_talk(self, one: Numbered[MessageRecord], sessions: Mapping[str, int]) -> bool:
        if one.record.session not in sessions:
            self._reject(one.number, f"there is no session {one.record.session!r}")
        return one.record.session in sessions

    def _load_turns(self, ids: Collection[str | None]) -> None:
        """Those of the turns that are not here yet: they come with the first of their lines, and never without one."""
        new = [one.record for one in self._new(Turn, self.survey.called("turn", ids))]
        sessions = self._rows(Session, {given.session for given in new})
        bulk.insert([_turn(self.persona, given, sessions[given.session]) for given in new if given.session in sessions])

    def _free_turns(self, new: Sequence[Numbered[MessageRecord]]) -> dict[tuple[str | None, str], int]:
        """The keys of turns, by turn and line. A turn has one reply: another line of hers stands by itself."""
        turns = self._rows(Turn, {one.record.turn for one in new})
        replies = Message.objects.filter(turn__in=turns.values(), role=Message.Role.PERSONA)
        answered = set(replies.values_list("turn_id", flat=True)) if turns else set()
        found: dict[tuple[str | None, str], int] = {}
        for line in (one.record for one in new if one.record.turn in turns):
            key = turns[line.turn or ""]
            if line.role == Message.Role.PERSONA and key in answered:
                continue
            answered |= {key} if line.role == Message.Role.PERSONA else set()
            found[line.turn, line.id] = key
        return found

    def _flag(self, line: Message, given: schema.FlagRecord) -> CrisisFlag:
        return CrisisFlag(
            message_id=line.pk,
            raised_at=given.raised_at,
            raised_by_id=self.known.by(given.by),
            by_detector=_is_by_detector(line, given),
            by_model=given.by_model,
            seen_at=given.seen_at,
            seen_by_id=self.known.by(given.seen_by),
        )

    # --- nodes ------------------------------------------------------------------------------------------------------
    def _embedded_together(self, batch: Sequence[Numbered[NodeRecord]]) -> Iterator[list[Numbered[NodeRecord]]]:
        """Parts of the batch, of each of which not too much has to be embedded."""
        part: list[Numbered[NodeRecord]] = []
        bare = 0
        for one in batch:
            part.append(one)
            bare += one.record.embedding is None
            if bare >= EMBEDDED_AT_ONCE:
                yield part
                part, bare = [], 0
        if part:
            yield part

    @with_one_model
    def _add_nodes(self, new: Sequence[Numbered[NodeRecord]]) -> tuple[int, int]:
        """How many can be taken, and how many are there now; the others were forgotten since the archive was looked
        through."""
        model = follow()
        rows = self._vectors(new)  # outside the transaction: embedding takes seconds
        with self._writing():
            expect(model)
            fresh = [one for one in self._new(ConceptNode, new) if one.record.id in rows]
            sessions = self._rows(Session, {one.record.session for one in fresh})
            said = self._contents(fresh)
            sound = [one for one in fresh if self._resolves(one, sessions, said)]
            words = {given: content for given, (_, content) in said.items()}
            tombstone_check.note_nodes(self.persona, [one.record for one in sound], self.refused, words)
            added = self._unrefused(sound, self.refused.nodes)
            made = [_node(self.persona, one.record, model, sessions, self._mark(one.record.file)) for one in added]
            if made:
                pairs = list(zip(made, added, strict=True))
                vectors.store(
                    made,
                    np.stack([rows[one.record.id] for one in added]),
                    lambda: [row for node, one in pairs for row in _evidence(node.pk, one.record, said)],
                )
        return len(sound), len(made)

    def _resolves(self, one: Numbered[NodeRecord], sessions: Mapping[str, int], contents: Contents) -> bool:
        """Whether all that it refers to is there."""
        fault = next(self._faults(one.record, sessions, contents), None)
        if fault is not None:
            self._reject(one.number, fault)
        return fault is None

    def _faults(self, node: NodeRecord, sessions: Mapping[str, int], contents: Contents) -> Iterator[str]:
        session = node.session
        if session is not None and session not in self.refused.sessions and session not in sessions:
            yield f"there is no session {session!r}"
        for message in tombstone_check.cited_message_ids(node):
            if message not in contents and message not in self.refused.messages:
                yield f"there is no message {message!r}"
        for quoted in node.evidence or ():
            if quoted.message in contents and quoted.quote not in contents[quoted.message][1]:
                yield f"the quote does not occur in message {quoted.message!r}"

    def _contents(self, batch: Sequence[Numbered[NodeRecord]]) -> Contents:
        """Row id and content of the messages that nodes refer to, by their ids, without those that were forgotten."""
        cited = set().union(*(tombstone_check.cited_message_ids(one.record) for one in batch)) if batch else set[str]()
        return self.known.contents(cited - self.refused.messages)

    def _vectors(self, new: Sequence[Numbered[NodeRecord]]) -> dict[str, np.ndarray]:
        """The vectors of nodes by external id: those of the archive where they are this model's, else made here. A node
        is rejected whose vector is none."""
        given, bare = dict[str, np.ndarray](), list[NodeRecord]()
        for one in new:
            if not has_our_vector(self.survey.header, one.record):
                bare.append(one.record)
                continue
            try:
                given[one.record.id] = one.record.vector(embedding.DIMENSION)
            except ValueError as error:
                self._reject(one.number, str(error))
        made = embedding.embed([node.description for node in bare])
        return given | {node.id: vector for node, vector in zip(bare, made, strict=True)}

    # --- links ------------------------------------------------------------------------------------------------------
    def _link(self, batch: Sequence[Numbered[NodeRecord]]) -> None:
        """What nodes were concluded from, and what took their place or settled them."""
        with self._writing():
            rows = self._rows(ConceptNode, {key for one in batch for key in (one.record.id, *links(one.record))})
            parents = [rows[one.record.id] for one in batch if one.record.id in rows]
            # The edges that are there: (parent, child), and how many without a child, by parent.
            found: list[tuple[int, int | None]] = []
            for some in parts.in_batches(parents):
                found += Filling.objects.filter(parent__in=some).values_list("parent_id", "child_id")
            whole = {(parent, child) for parent, child in found if child is not None}
            before, orphans = whole, Counter(parent for parent, child in found if child is None)
            edges: list[Filling] = []
            for one in batch:
                if one.record.id in rows:  # else it was rejected or refused before
                    edges += self._linked(one, rows, before, orphans)
            bulk.insert(edges)

    def _linked(
        self,
        one: Numbered[NodeRecord],
        rows: Mapping[str, int],
        before: Collection[tuple[int, int]],
        orphans: Mapping[int, int],
    ) -> Iterator[Filling]:
        """The edges of one node that are not there yet; one without a child for each forgotten thing that it was
        concluded from besides others."""
        given, key = one.record, rows[one.record.id]
        missing = [other for other in links(given) if other not in {*rows, *self.refused.nodes} or other == given.id]
        if missing:
            self._reject(one.number, f"there is no node {missing[0]!r} for it to refer to")
        for child in dict.fromkeys(rows[child] for child in given.filling or () if child in rows):
            if child != key and (key, child) not in before:
                yield Filling(parent_id=key, child_id=child)
        gone = given.orphaned + len(self.refused.nodes.intersection(given.filling or ()))
        yield from (Filling(parent_id=key, child=None, orphaned=True) for _ in range(orphans.get(key, 0), gone))
        for link, other in (("superseded_by", given.superseded_by), ("resolved_by", given.resolved_by)):
            if other and other in rows and other != given.id:
                ConceptNode.objects.filter(pk=key, **{link: None}).update(**{f"{link}_id": rows[other]})

    # --- people -----------------------------------------------------------------------------------------------------

    def _load_merged(self, batch: Sequence[Numbered[EntityRecord]]) -> bool:
        """Whether there was one who lives on in somebody that is here. Whoever would in nobody is left out, as they go
        with the one in whom they live on."""
        with self._writing():
            merged = [one.record for one in batch if one.record.merged_into is not None]
            rows = self._rows(Entity, {key for one in merged for key in (one.id, one.merged_into)})
            ready = [one for one in merged if one.id not in rows and one.merged_into in rows]
            made = [one for one in ready if not tombstone_check.is_refused(self.persona, one, self.refused)]
            for given in made:
                entity = self._new_entity(given, merged_into=rows.get(given.merged_into or ""))
                self._name(entity, tombstone_check.names_left(self.persona, given.aliases, self.refused))
        return bool(made)

    def _load_entity(self, number: int, given: EntityRecord) -> None:
        """Somebody or something with a name, the names they go by, and the nodes that mention them."""
        key = self._rows(Entity, [given.id]).get(given.id)
        if key is None and tombstone_check.is_refused(self.persona, given, self.refused):
            self.result.refused["entities"] += 1
            return
        rows = self._rows(ConceptNode, given.nodes)
        if missing := [node for node in given.nodes if node not in rows and node not in self.refused.nodes]:
            self._reject(number, f"there is no node {missing[0]!r} for it to be mentioned in")
        left = tombstone_check.names_left(self.persona, [given.name, *given.aliases], self.refused)
        nodes = self._as_told(rows.values()) if key is None else self._new_of(rows.values(), left)
        if key is not None and not nodes:
            return
        entity = self._survivor(key) if key else self._new_entity(given)
        self._name(entity, left)
        Mention.objects.bulk_create([Mention(node=node, entity=entity) for node in nodes], ignore_conflicts=True)

    def _as_told(self, nodes: Iterable[int]) -> list[ConceptNode]:
        """Those that say what they do in the archive: nobody corrected them."""
        told = (ConceptNode.objects.filter(pk__in=some, versions=None) for some in parts.in_batches(sorted(nodes)))
        return [node for some in told for node in some.order_by("pk")]

    def _new_of(self, nodes: Iterable[int], left: Sequence[str]) -> list[ConceptNode]:
        """Of somebody who is known those that came just now, or before an import broke off. What people have told
        apart since stays so."""
        told = self._as_told(nodes)
        linked = set(Mention.objects.filter(node__in=told).values_list("node_id", flat=True))
        return [
            node
            for node in told
            if node.pk > self.newest_before
            or node.import_uuid == self.run.uuid
            or (node.pk not in linked and any(person_names.occurs(name, node.description) for name in left))
        ]

    def _survivor(self, key: int) -> Entity:
        """The entity, or the one in whom it lives on."""
        entity = Entity.objects.get(pk=key)
        while entity.merged_into is not None:
            entity = entity.merged_into
        return entity

    def _new_entity(self, given: EntityRecord, merged_into: int | None = None) -> Entity:
        """What was written of it may rest on what is left out; what a person wrote is kept."""
        by_person = given.described_by == Entity.DescribedBy.PERSON
        is_sound = by_person or self.refused.nodes.isdisjoint(given.nodes)
        through = given.described_through
        living = Entity.Status.CONFIRMED if given.status == Entity.Status.MERGED else given.status
        made = Entity(
            persona=self.persona,
            external_id=given.id,
            canonical_name=given.name,
            kind=given.kind,
            description=given.description or "" if is_sound else "",
            described_by=given.described_by if is_sound else "",
            described_through=self._rows(ConceptNode, [through]).get(through or "", 0),
            status=living if merged_into is None else Entity.Status.MERGED,
            merged_into_id=merged_into,
            created_at=given.created_at or timezone.now(),
            import_uuid=self._mark(given.file),
        )
        bulk.insert([made])
        self.result.added["entities"] += 1
        return made

    def _name(self, entity: Entity, aliases: Sequence[str]) -> None:
        """The names that it bears; of two spellings of one the last one is an alias's own."""
        spelled: dict[str, str] = {}
        for alias in aliases:
            spelled[person_names.normalize_name(alias)] = alias
        known = set(entity.aliases.values_list("normalized", flat=True))
        bulk.insert(
            [
                Alias(entity=entity, persona=self.persona, text=text, normalized=normal)
                for normal, text in spelled.items()
                if normal and normal not in known
            ]
        )

    # --- what stands beside -----------------------------------------------------------------------------------------


def _evidence(node: int, given: NodeRecord, contents: Contents) -> Iterator[vectors.EvidenceRow]:
    """Quotes at their place; messages that are not quoted as a whole."""
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
    yield from ((node, message, quote, start, end) for (message, start, end), quote in spans.items())


def _turn(persona: Persona, given: TurnRecord, session: int) -> Turn:
    return bulk.row(
        Turn,
        persona_id=persona.pk,
        session_id=session,
        external_id=given.id,
        status=given.status,
        spoke_first=given.spoke_first,
        is_cut=given.is_cut,
        error=given.error,
        partial=given.partial,
        created_at=given.created_at,
        started_at=given.started_at,
        first_token_at=given.first_token_at,
        finished_at=given.finished_at,
        usage=given.usage or {},
    )


def _session(persona: Persona, given: SessionRecord, taken: set[str]) -> Session:
    """A session as it was; one that was open rests, where another is open on its channel."""
    status: str = given.status
    if status == Session.Status.OPEN and given.channel in taken:
        status = Session.Status.CLOSING
    if status == Session.Status.CONSOLIDATING:
        status = Session.Status.CLOSING  # its lease belonged to another installation
    if status == Session.Status.OPEN:
        taken.add(given.channel)
    return bulk.row(
        Session,
        persona_id=persona.pk,
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
    return bulk.row(
        Message,
        persona_id=persona.pk,
        session_id=session,
        external_id=given.id,
        role=given.role,
        speaker=given.speaker,
        content=given.content,
        token_count=tokens(given.content),
        day=given.day or given.created_at.astimezone(persona.zone).date(),
        created_at=given.created_at,
        withheld=given.withheld,
        import_uuid=run,
    )


def _count(sessions: Collection[int]) -> None:
    """Count the messages of sessions, and note when the last one was said."""
    said = Message.objects.filter(session=OuterRef("pk")).order_by().values("session")
    last = Subquery(said.annotate(found=Max("created_at")).values("found"))
    for some in parts.in_batches(sessions):
        Session.objects.filter(pk__in=some).update(
            message_count=Subquery(said.annotate(found=Count("pk")).values("found")),
            token_count=Subquery(said.annotate(found=Sum("token_count")).values("found")),
            last_message_at=Greatest("last_message_at", last),
        )


def _node(persona: Persona, given: NodeRecord, model: str, sessions: Mapping[str, int], run: UUID) -> ConceptNode:
    time = given.event_time
    last_mentioned: datetime = given.last_mentioned_at or given.created_at
    return bulk.row(
        ConceptNode,
        persona_id=persona.pk,
        external_id=given.id,
        kind=given.kind,
        subject=given.subject,
        description=given.description,
        emotional_impact=given.emotional_impact,
        emotion_tags=emotion_tags(given.emotion_tags),
        relational_tags=list(given.relational_tags),
        concern=concern_of(given.kind, given.description, given.relational_tags),
        scope=given.scope,
        condition=given.condition,
        is_boundary=given.boundary,
        event_time_start=time.start if time else None,
        event_time_end=(time.end or time.start) if time else None,
        session_id=sessions.get(given.session or ""),
        source=given.source,
        confidence=given.confidence,
        status=_status(given),
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


def _status(given: NodeRecord) -> str:
    """As it was. A lesson that no owner can have asked for is seen and never acts: a file may say anything."""
    is_lesson = given.kind == ConceptNode.Kind.LESSON
    if is_lesson and (
        given.source != ConceptNode.Source.PERSON
        or is_refused(Wish(given.description, given.scope or "always", given.condition))
    ):
        return ConceptNode.Status.QUARANTINED
    return given.status or (ConceptNode.Status.SUPERSEDED if given.superseded_by else ConceptNode.Status.ACTIVE)


def _is_by_detector(message: Message, flag: schema.FlagRecord) -> bool:
    if flag.by_detector is None:
        return flag.by is None and speaks_by_rule(message.content)
    return flag.by_detector
