"""An uploaded file in pieces in the database: as secret, as safe and as easily forgotten as all other data there, and
readable like any file."""

import hashlib
import io
from functools import lru_cache
from typing import Any

from django.db.models import Max

from memory.imports.readers import Source
from memory.imports.readers.source import Placed
from memory.models import ImportJob, ImportPiece

PIECE_BYTES = 1024 * 1024
_MAX_PIECES_IN_MEMORY = 4


def keep_file(job: ImportJob, source: Source) -> str:
    """Store the file piece by piece, each in its own transaction; returns its digest. The caller marks the file as
    complete afterwards: an incomplete one is never read."""
    hashed = hashlib.sha256()
    with source.open() as file:
        for number, content in enumerate(iter(lambda: file.read(PIECE_BYTES), b"")):
            hashed.update(content)
            ImportPiece.objects.create(job=job, number=number, content=content)
    return hashed.hexdigest()


def digest_of(source: Source) -> str:
    hashed = hashlib.sha256()
    with source.open() as file:
        for content in iter(lambda: file.read(PIECE_BYTES), b""):
            hashed.update(content)
    return hashed.hexdigest()


def open_file(job: ImportJob) -> Source:
    """The stored file, under its name."""
    return Source(io.BufferedReader(_StoredFile(job), PIECE_BYTES), job.file_name)


def drop_file(job: ImportJob) -> int:
    """Delete the pieces one by one, so that no other writer waits long; returns how many there were."""
    last = job.pieces.aggregate(last=Max("number"))["last"]
    numbers = range(0 if last is None else last + 1)
    return sum(job.pieces.filter(number=number).delete()[0] for number in numbers)


class _StoredFile(Placed):
    """The pieces as one seekable file; a few are kept in memory at a time."""

    def __init__(self, job: ImportJob) -> None:
        super().__init__(job.file_size)
        pieces = ImportPiece.objects.filter(job=job.pk).values_list("content", flat=True)
        # Raises ImportPiece.DoesNotExist if the file was deleted meanwhile.
        self._piece = lru_cache(_MAX_PIECES_IN_MEMORY)(lambda number: bytes(pieces.get(number=number)))

    def readinto(self, buffer: Any) -> int:
        if self._place >= self._size:
            return 0
        number, offset = divmod(self._place, PIECE_BYTES)
        content = self._piece(number)[offset : offset + len(buffer)]
        buffer[: len(content)] = content
        self._place += len(content)
        return len(content)
