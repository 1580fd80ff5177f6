"""Stores chunks as messages of the persona or as notes, several in one transaction, while we hold the lease.

Messages that the persona already has from any file, forgotten messages, and messages of skipped speakers are left out
and counted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from django.db import transaction

from chat import search
from chat.models import Message, Session
from echovessel.db.sqlite import bulk
from memory.imports import notes, summary
from memory.imports.chunks import Chunk, ImportedMessage
from memory.imports.leases import ImportLease
from memory.imports.notes import PreparedNotes
from memory.models import ImportChunk
from memory.store import tombstones
from memory.store.active_model import with_one_model
from persona.models import Persona

JOURNAL = "journal"
# Messages per transaction: larger ones are no faster, and live sessions wait for the lock.
MESSAGES_PER_TRANSACTION = 100
NewMessages = list[tuple[str, ImportedMessage]]


@dataclass
class SortedMessages:
    """The sorted messages of a chunk: new ones with the ids they are stored under, and the numbers of the others."""

    new: NewMessages = field(default_factory=list)
    known_count: int = 0
    refused_count: int = 0


@with_one_model
def store(lease: ImportLease, chunks: Sequence[Chunk]) -> None:
    """Store chunks as the next ones of the import. Raises LeaseLost, EmbeddingUnavailable.

    No transaction may be open: notes are embedded and messages tokenized before anything is written.
    """
    stored_digests = _stored_digests(lease.persona, chunks)
    new_chunks = [chunk for chunk in chunks if chunk.notes and chunk.digest not in stored_digests]
    prepared_notes = {chunk.digest: notes.prepare_notes(lease.persona, chunk.notes) for chunk in new_chunks}
    index_texts = search.tokenize_texts(
        message.content for chunk in chunks if chunk.digest not in stored_digests for message in chunk.lines
    )
    with transaction.atomic():
        lease.checkpoint()
        gone_through = lease.leased_row().values_list("gone_through", flat=True)[0]
        storer = _ChunkStorer(lease, chunks, gone_through)
        storer.store_lines(index_texts)
        storer.store_notes(prepared_notes)
        job, counts = lease.row, storer.counts
        before = lease.leased_row().values_list("counts", flat=True)[0]
        job.counts = {name: before.get(name, 0) + counts.get(name, 0) for name in sorted({*before, *counts})}
        job.gone_through = gone_through + len(chunks)
        lease.leased_row().update(counts=job.counts, gone_through=job.gone_through)
        summary.publish_progress(lease)


def _stored_digests(persona: Persona, chunks: Iterable[Chunk]) -> set[str]:
    digests = [chunk.digest for chunk in chunks]
    stored_chunks = ImportChunk.objects.filter(persona=persona, digest__in=digests)
    return set(stored_chunks.values_list("digest", flat=True))


def sort_messages(
    messages: Sequence[ImportedMessage], content_by_id: dict[str, str], is_refused: Collection[ImportedMessage]
) -> SortedMessages:
    """Sort messages into new, known and refused ones. `content_by_id` holds the known texts; new messages are
    added to it. A message in several parts counts once. Pure."""
    outcome = SortedMessages()
    for message in messages:
        names = (message.external_id, message.other_id)
        if message.content in (content_by_id.get(name) for name in names):
            outcome.known_count += message.is_first_part
        elif message in is_refused:
            outcome.refused_count += message.is_first_part
        else:
            name = next(name for name in names if name not in content_by_id)
            content_by_id[name] = message.content
            outcome.new.append((name, message))
    return outcome


def predict_counts(persona: Persona, chunks: Iterable[Chunk]) -> Counter[str]:
    """The numbers of sessions, messages and entries that storing the chunks would count. Nothing is stored; all
    messages are kept in memory."""
    counts: Counter[str] = Counter()
    content_by_id: dict[str, str] = {}
    seen_digests: set[str] = set()
    for group in group_chunks(chunks):
        sorter = _MessageSorter(persona, group)
        sorter.known_digests |= seen_digests
        sorter.sift(content_by_id)
        seen_digests |= sorter.known_digests
        counts += sorter.counts
    return counts


def group_chunks(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """The chunks in groups that are stored together. A chunk of notes, which is embedded first, ends its group."""
    gathered: list[Chunk] = []
    for chunk in chunks:
        gathered.append(chunk)
        if chunk.notes or sum(len(chunk.lines) for chunk in gathered) >= MESSAGES_PER_TRANSACTION:
            yield gathered
            gathered = []
    if gathered:
        yield gathered


class _MessageSorter:
    """Chunks, and their messages that are new to the persona."""

    def __init__(self, persona: Persona, chunks: Sequence[Chunk], number: int = 0) -> None:
        self.persona = persona
        self.chunks = list(enumerate(chunks, start=number))
        self.known_digests = _stored_digests(self.persona, chunks)
        self.counts: Counter[str] = Counter()

    def sift(self, content_by_id: dict[str, str]) -> list[tuple[int, Chunk, NewMessages]]:
        """The chunks with new messages, and these messages; `content_by_id` are further known texts, to
        which new ones are added. All messages are counted."""
        if left_out := sum(chunk.left_out for _number, chunk in self.chunks):
            self.counts["left_out"] = left_out
        chunks = [chunk for _number, chunk in self.chunks if chunk.lines]
        # The messages that were forgotten here, by themselves or with their whole session.
        if not self.persona.tombstones.exists():
            refused = set()
        else:
            imported = {
                message: {
                    tombstones.of_external("session", _id_of(chunk)),
                    *tombstones.of_line(message.external_id, message.content, self._day_of(message)),
                    *tombstones.of_line(message.other_id, message.content, self._day_of(message)),
                }
                for chunk in chunks
                for message in chunk.lines
            }
            tombstoned = tombstones.refused_among(
                self.persona, {source for sources in imported.values() for source in sources}
            )
            refused = {message for message, sources in imported.items() if not tombstoned.isdisjoint(sources)}
        # The texts that the persona has under these ids, including its own messages that were exported and come back.
        ids = {name for chunk in chunks for message in chunk.lines for name in (message.external_id, message.other_id)}
        own_uuids = notes.uuids_in(ids)
        own_messages = self.persona.messages.filter(uuid__in=own_uuids).values_list("uuid", "content")
        rows = bulk.select_by_values(
            Message, {"persona_id": self.persona.pk}, "external_id", ids, ("external_id", "content")
        )
        content_by_id.update({own_uuids[uuid]: content for uuid, content in own_messages} | dict(rows))
        to_store: list[tuple[int, Chunk, NewMessages]] = []
        for number, chunk in self.chunks:
            if new := self._fresh(chunk, content_by_id, refused):
                to_store.append((number, chunk, new))
                self.counts["entries" if chunk.kind == "prose" else "lines"] += sum(
                    message.is_first_part for _, message in new
                )
        self.counts.update(talks=len(to_store), lines=0)
        return to_store

    def _fresh(self, chunk: Chunk, content_by_id: dict[str, str], refused: Collection[ImportedMessage]) -> NewMessages:
        """The messages of the chunk to store; the others are counted. Of a known chunk none are stored: its missing
        messages were deleted."""
        outcome = sort_messages(chunk.lines, content_by_id, refused)
        self.counts["refused"] += outcome.refused_count
        if chunk.lines and chunk.digest in self.known_digests:
            self.counts["known"] += outcome.known_count + sum(message.is_first_part for _id, message in outcome.new)
            return []
        self.counts["known"] += outcome.known_count
        if outcome.new:
            self.known_digests.add(chunk.digest)
        return outcome.new

    def _day_of(self, message: ImportedMessage) -> date:
        return message.at.astimezone(self.persona.zone).date()


class _ChunkStorer(_MessageSorter):
    """Stores chunks in one transaction."""

    def __init__(self, lease: ImportLease, chunks: Sequence[Chunk], number: int) -> None:
        super().__init__(lease.persona, chunks, number)
        self.lease = lease

    # --- messages ---------------------------------------------------------------------------------------------------
    def store_lines(self, worded: Mapping[str, str]) -> None:
        """Store the new messages; `worded` is the index text of each."""
        to_store = self.sift({})
        # Ids of sessions that came with an archive and lack messages here.
        chunks = (chunk for _number, chunk, _fresh in to_store)
        ids = [_id_of(chunk) for chunk in chunks]
        taken_names = {
            str(name)
            for name in self.persona.sessions.filter(external_id__in=ids).values_list("external_id", flat=True)
        }
        sessions = [
            self._session(chunk, [message for _id, message in fresh], taken_names) for _number, chunk, fresh in to_store
        ]
        bulk.insert(sessions)
        placed = list(zip(sessions, to_store, strict=True))
        messages = [
            bulk.row(
                Message,
                session_id=session.pk,
                persona_id=self.persona.pk,
                role=message.role,
                speaker=message.speaker,
                content=message.content,
                token_count=message.tokens,
                day=self._day_of(message),
                created_at=message.at,
                external_id=external_id,
                import_uuid=self.lease.row.uuid,
            )
            for session, (_number, _chunk, fresh) in placed
            for external_id, message in fresh
        ]
        if messages:
            search.store(messages, worded)
        bulk.insert([self._chunk(number, chunk, session) for session, (number, chunk, _fresh) in placed])

    def _session(self, chunk: Chunk, messages: Sequence[ImportedMessage], taken_names: Collection[str]) -> Session:
        """A closed session that waits for the import to consolidate it."""
        return Session(
            persona=self.persona,
            channel=JOURNAL if chunk.kind == "prose" else chunk.format[:40],
            status=Session.Status.CLOSING,
            close_reason=Session.CloseReason.IMPORT,
            started_at=messages[0].at,
            last_message_at=messages[-1].at,
            closed_at=messages[-1].at,
            message_count=len(messages),
            token_count=sum(message.tokens for message in messages),
            external_id=None if _id_of(chunk) in taken_names else _id_of(chunk),
            import_uuid=self.lease.row.uuid,
        )

    def _chunk(self, number: int, chunk: Chunk, session: Session | None) -> ImportChunk:
        return ImportChunk(
            job=self.lease.row,
            persona=self.persona,
            number=number,
            digest=chunk.digest,
            kind=chunk.kind,
            dated=chunk.dated,
            session=session,
        )

    # --- notes ------------------------------------------------------------------------------------------------------
    def store_notes(self, ready: Mapping[str, PreparedNotes]) -> None:
        now, uuid = self.lease.clock(), self.lease.row.uuid
        for number, chunk in self.chunks:
            if not chunk.notes:
                continue
            if chunk.digest in self.known_digests:
                self.counts["known"] += len(chunk.notes)
                continue
            self.known_digests.add(chunk.digest)
            self.counts.update(notes.store(self.persona, ready[chunk.digest], uuid, now))
            bulk.insert([self._chunk(number, chunk, None)])


def _id_of(chunk: Chunk) -> str:
    return f"{chunk.format}:{chunk.digest}"
