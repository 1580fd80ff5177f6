"""What an archive holds of files that were taken in: which they were and what is known of their parts, so that the same
file brought again adds nothing and an import can still be forgotten as a whole; and the drafts of core blocks.

No words of a file are saved with it, and not its name: both are in the lines. One whose file is still needed ends
where it is, for the file is not in the archive.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from chat.models import Message, Session
from echovessel.db.sqlite import bulk
from echovessel.db.text_columns import column_of
from memory.archive.auxiliary_records import iso_format
from memory.archive.parts import Batches, Known, Names, Part, Values, archive_id, beside_defaults, in_order, uuids_among
from memory.archive.schema import DraftRecord, FileRecord, PieceRecord, QuotedRecord
from memory.models import ImportChunk, ImportJob, ImportRun
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_external
from persona.models import CoreDraft, DraftQuote
from persona.onboarding.drafts import content_hash

_OF_THE_FILE = ("format", "file_size", "file_digest", "status", "failure", "counts", "gone_through")
_MOMENTS = ("created_at", "confirmed_at", "finished_at")


# --- files ------------------------------------------------------------------------------------------------------------
def import_marks(names: Names) -> Mapping[UUID | None, str]:
    """By what an archive calls the imports that are saved, by the uuid that is the mark of what came in by them."""
    jobs = _confirmed(names).values_list("uuid", "external_id")
    return {uuid: archive_id(external_id, uuid) for uuid, external_id in jobs}


def _confirmed(names: Names) -> Any:
    return ImportJob.objects.filter(persona=names.persona).exclude(confirmed_at=None)


def file_lines(names: Names) -> Iterator[Values]:
    for job in in_order(_confirmed(names).order_by("pk")):
        is_cut_off = job.status in ImportJob.NEEDS_FILE
        values = {name: getattr(job, name) for name in _OF_THE_FILE}
        yield {
            "id": archive_id(job.external_id, job.uuid),
            **values,
            "status": ImportJob.Status.CANCELLED if is_cut_off else job.status,
            **{name: iso_format(getattr(job, name)) for name in _MOMENTS},
            **{name: column_of(ImportJob, name).without_words(getattr(job, name)) for name in ("found", "choices")},
        }


def load_files(known: Known, batches: Batches) -> Mapping[str | None, UUID]:
    """Loaded before what came in by them: the marks of what they brought, by their ids in the archive."""
    for batch in batches:
        with transaction.atomic():
            files = {one.record.id: one.record for one in batch}
            here = known.rows(ImportJob, files.keys())
            buried = tombstones.refused_among(known.persona, [of_external("import", given) for given in files])
            made = [
                _file(known, given)
                for given in files.values()
                if given.id not in here and of_external("import", given.id) not in buried
            ]
            bulk.insert(made)
            runs = [(job.uuid, job.confirmed_at or job.created_at, job.counts) for job in made]
            ImportRun.objects.bulk_create(
                [ImportRun(uuid=uuid, persona=known.persona, at=at, counts=counts) for uuid, at, counts in runs]
            )
    jobs = ImportJob.objects.filter(persona=known.persona).values_list("uuid", "external_id")
    return {archive_id(external_id, uuid): uuid for uuid, external_id in jobs}


def _file(known: Known, given: FileRecord) -> ImportJob:
    """Its uuid is its own again where nobody has it."""
    own = next(iter(uuids_among([given.id])), None)
    is_free = own is not None and not ImportJob.objects.filter(uuid=own).exists()
    values = {name: getattr(given, name) for name in (*_OF_THE_FILE, *_MOMENTS, "found", "choices")}
    made = ImportJob(owner_id=known.persona.owner_id, persona=known.persona, **values)
    if own is not None and is_free:
        made.uuid = own
    else:
        made.external_id = given.id
    return made


# --- their parts ------------------------------------------------------------------------------------------------------
def _piece_lines(names: Names) -> Iterator[Values]:
    taken_in = _confirmed(names).values_list("pk", "external_id", "uuid")
    files = {key: archive_id(external_id, uuid) for key, external_id, uuid in taken_in}
    rows = ImportChunk.objects.filter(persona=names.persona, job__in=files).order_by("job", "number")
    for chunk in in_order(rows):
        session = names.of(Session, [chunk.session_id]).get(chunk.session_id)
        yield {
            "file": files[chunk.job_id],
            "number": chunk.number,
            "digest": chunk.digest,
            "kind": chunk.kind,
            **beside_defaults(PieceRecord, dated=chunk.dated, session=session),
        }


def _load_pieces(known: Known, batches: Batches) -> int:
    """A part of which the talk is not here is not known either: what was forgotten of it stays so by itself."""
    before = ImportChunk.objects.filter(persona=known.persona)
    count = before.count()
    for batch in batches:
        with transaction.atomic():
            pieces = [one.record for one in batch]
            files = known.rows(ImportJob, {piece.file for piece in pieces})
            talks = known.rows(Session, {piece.session for piece in pieces})
            made = [
                ImportChunk(
                    job_id=files[piece.file],
                    persona=known.persona,
                    number=piece.number,
                    digest=piece.digest,
                    kind=piece.kind,
                    dated=piece.dated,
                    session_id=talks.get(piece.session),
                )
                for piece in pieces
                if piece.file in files and (piece.session is None or piece.session in talks)
            ]
            ImportChunk.objects.bulk_create(made, ignore_conflicts=True)
    return before.count() - count


# --- drafts -----------------------------------------------------------------------------------------------------------
def _draft_lines(names: Names) -> Iterator[Values]:
    files = import_marks(names)
    for draft in in_order(CoreDraft.objects.filter(persona=names.persona).order_by("pk")):
        quotes = list(draft.quotes.order_by("pk"))
        lines = names.by_uuid(Message, {quote.said_in for quote in quotes})
        yield {
            "id": archive_id(draft.external_id, draft.uuid),
            "label": draft.label,
            "text": draft.text,
            "created_at": iso_format(draft.created_at),
            "quotes": [_quoted(quote, lines) for quote in quotes],
            **beside_defaults(
                DraftRecord,
                status=draft.status,
                decided_at=iso_format(draft.decided_at),
                by=names.by(draft.decided_by_id),
                file=files.get(draft.import_uuid),
            ),
        }


def _quoted(quote: DraftQuote, lines: Mapping[UUID | None, str]) -> Values:
    where = {"message": lines.get(quote.said_in), "said_at": iso_format(quote.said_at), "where": quote.where}
    return {"quote": quote.quote, **beside_defaults(QuotedRecord, **where)}


def _load_drafts(known: Known, batches: Batches) -> int:
    """Those that are new here, and of which neither text, nor quote, nor a line that it rests on was forgotten."""
    added = 0
    for batch in batches:
        with transaction.atomic():
            given = {one.record.id: one.record for one in batch}
            here = known.rows(CoreDraft, given.keys())
            lines = known.uuids(Message, {quote.message for draft in given.values() for quote in draft.quotes})
            files = known.uuids(ImportJob, {draft.file for draft in given.values()})
            texts = {one for draft in given.values() for one in _words(draft)}
            buried = tombstones.refused_among(known.persona, [TombstoneSource("text", text) for text in texts])
            for draft in given.values():
                rests = all(quote.message is None or quote.message in lines for quote in draft.quotes)
                allowed = buried.isdisjoint({TombstoneSource("text", text) for text in _words(draft)})
                if draft.id not in here and rests and allowed:
                    added += _draft(known, draft, lines, files)
    return added


def _words(draft: DraftRecord) -> list[str]:
    return [draft.text, *(quote.quote for quote in draft.quotes)]


def _draft(
    known: Known, given: DraftRecord, lines: Mapping[str | None, UUID], files: Mapping[str | None, UUID]
) -> bool:
    """Whether it is here now: what was proposed for a block before is not proposed again."""
    same = {"persona": known.persona, "label": given.label, "content_hash": content_hash(given.text)}
    values = {
        "external_id": given.id,
        "text": given.text,
        "status": given.status,
        "import_uuid": files.get(given.file),
        "created_at": given.created_at,
        "decided_at": given.decided_at,
        "decided_by_id": known.by(given.by),
    }
    draft, is_new = CoreDraft.objects.get_or_create(**same, defaults=values)
    if is_new:
        DraftQuote.objects.bulk_create(
            DraftQuote(
                draft=draft,
                quote=quote.quote,
                said_in=lines.get(quote.message),
                said_at=quote.said_at,
                where=quote.where,
            )
            for quote in given.quotes
        )
    return is_new


PARTS = (
    Part("piece", PieceRecord, _piece_lines, _load_pieces),
    Part("draft", DraftRecord, _draft_lines, _load_drafts),
)
