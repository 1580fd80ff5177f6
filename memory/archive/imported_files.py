"""The archive's records of imported files: the files and their chunks, so that importing a file again adds nothing and
an import can still be forgotten as a whole; and the drafts of core blocks.

Neither the text of a file nor its name is saved: the text is in the messages. An import that still needs its file is
saved as cancelled, because the file is not in the archive.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from chat.models import Message, Session
from echovessel.db.sqlite import bulk
from echovessel.db.text_columns import column_of
from memory.archive.parts import (
    FILE,
    ID,
    OWNER,
    TIME,
    Codec,
    Field,
    IdMap,
    Names,
    Part,
    Table,
    archive_id,
    each,
    identity,
    link,
    optional,
    uuid_link,
    uuids_among,
)
from memory.archive.schema import DraftRecord, FileRecord, PieceRecord, QuotedRecord
from memory.archive.tables import WRITE_ONLY
from memory.models import ImportChunk, ImportJob, ImportRun
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_external
from persona.models import CoreDraft, DraftQuote
from persona.onboarding.drafts import content_hash

# --- files ------------------------------------------------------------------------------------------------------------
FILE_TABLE = Table(
    FileRecord,
    ImportJob,
    (
        Field("id", ID, "external_id"),
        Field("format"),
        Field("file_size"),
        Field("file_digest"),
        Field(
            "status", each(lambda status: ImportJob.Status.CANCELLED if status in ImportJob.NEEDS_FILE else status, str)
        ),
        Field("failure"),
        Field("counts"),
        Field("gone_through"),
        Field("created_at", TIME),
        Field("confirmed_at", TIME),
        Field("finished_at", TIME),
        Field("found", each(lambda value: column_of(ImportJob, "found").without_words(value), identity)),
        Field("choices", each(lambda value: column_of(ImportJob, "choices").without_words(value), identity)),
    ),
)


def saved_files(names: Names) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(pk__in=names.saved[ImportJob]).order_by("pk")


def load_files(id_map: IdMap, files: list[FileRecord], table: Table) -> int:
    """Store the files, before the records imported from them. A file keeps its uuid unless that is taken here."""
    refused = tombstones.refused_among(id_map.persona, [of_external("import", file.id) for file in files])
    new = [file for file in id_map.new(ImportJob, files) if of_external("import", file.id) not in refused]
    taken_uuids = set(
        ImportJob.objects.filter(uuid__in=uuids_among(file.id for file in new)).values_list("uuid", flat=True)
    )
    jobs = []
    for file, row in zip(new, table.read(id_map, new), strict=True):
        own = {uuid for uuid in uuids_among([file.id]) if uuid not in taken_uuids}
        ids = {"external_id": None, "uuid": own.pop()} if own else {}
        jobs.append(ImportJob(owner_id=id_map.persona.owner_id, persona=id_map.persona, **(row | ids)))
    bulk.insert(jobs)
    # Each file gets a run, which its records refer to.
    ImportRun.objects.bulk_create(
        ImportRun(uuid=job.uuid, persona=id_map.persona, at=job.confirmed_at or job.created_at, counts=job.counts)
        for job in jobs
    )
    return len(jobs)


def marks_of_files(id_map: IdMap) -> Mapping[str | None, UUID]:
    """The uuids of imports, which mark the rows imported by them, by their ids in the archive."""
    jobs = ImportJob.objects.filter(persona=id_map.persona).values_list("uuid", "external_id")
    return {archive_id(external_id, uuid): uuid for uuid, external_id in jobs}


# --- chunks -----------------------------------------------------------------------------------------------------------
PIECE = Table(
    PieceRecord,
    ImportChunk,
    (
        Field("file", link(ImportJob), "job_id"),
        Field("number"),
        Field("digest"),
        Field("kind"),
        optional("dated"),
        optional("session", link(Session), "session_id"),
    ),
)


def saved_chunks(names: Names) -> QuerySet[ImportChunk]:
    return ImportChunk.objects.filter(persona=names.persona, job__in=names.saved[ImportJob]).order_by("job", "number")


def load_pieces(id_map: IdMap, pieces: list[PieceRecord], table: Table) -> int:
    """Store the chunks. A chunk whose session does not exist here is left out: tombstones protect its forgotten
    messages."""
    existing_chunks = ImportChunk.objects.filter(persona=id_map.persona)
    count = existing_chunks.count()
    rows = zip(pieces, table.read(id_map, pieces), strict=True)
    sound = [row for piece, row in rows if row["job_id"] and (piece.session is None or row["session_id"])]
    ImportChunk.objects.bulk_create(
        (ImportChunk(persona=id_map.persona, **row) for row in sound), ignore_conflicts=True
    )
    return existing_chunks.count() - count


# --- drafts -----------------------------------------------------------------------------------------------------------
QUOTED = Table(
    QuotedRecord,
    DraftQuote,
    (
        Field("quote"),
        optional("message", uuid_link(Message), "said_in"),
        optional("said_at", TIME),
        optional("where"),
    ),
)


def gather_quotes(names: Names, drafts: list[Any]) -> None:
    for draft in drafts:
        draft.written_quotes = list(QUOTED.write(names, list(draft.quotes.order_by("pk"))))


DRAFT = Table(
    DraftRecord,
    CoreDraft,
    (
        Field("id", ID, "external_id"),
        Field("label"),
        Field("text"),
        Field("created_at", TIME),
        Field("quotes", WRITE_ONLY, "written_quotes"),
        optional("status"),
        optional("decided_at", TIME),
        optional("by", OWNER, "decided_by_id"),
        optional("file", Codec(FILE.write, uuid_link(ImportJob).read), "import_uuid"),
    ),
    gather_quotes,
)


def load_drafts(id_map: IdMap, drafts: list[DraftRecord], table: Table) -> int:
    """Store new drafts unless their text, a quote, or a message they rest on was forgotten. A text that was proposed
    for a block before is not proposed again."""
    new = id_map.new(CoreDraft, drafts)
    texts = {
        draft.id: {TombstoneSource("text", text) for text in (draft.text, *(q.quote for q in draft.quotes))}
        for draft in new
    }
    refused = tombstones.refused_among(id_map.persona, set[TombstoneSource]().union(*texts.values()))
    added = 0
    for draft, row in zip(new, table.read(id_map, new), strict=True):
        quotes = QUOTED.read(id_map, draft.quotes)
        is_message_present = all(
            not q.message or quote["said_in"] for q, quote in zip(draft.quotes, quotes, strict=True)
        )
        if not is_message_present or not refused.isdisjoint(texts[draft.id]):
            continue
        same_text = {"persona": id_map.persona, "label": row.pop("label"), "content_hash": content_hash(draft.text)}
        stored_draft, is_new = CoreDraft.objects.get_or_create(**same_text, defaults=row)
        if is_new:
            DraftQuote.objects.bulk_create(DraftQuote(draft=stored_draft, **quote) for quote in quotes)
        added += is_new
    return added


FILES = Part("file", FILE_TABLE, load_files, saved_files)
PARTS = (Part("piece", PIECE, load_pieces, saved_chunks), Part("draft", DRAFT, load_drafts))
