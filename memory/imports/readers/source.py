"""A file to import, opened as often as needed in constant memory: bytes, text, or members of a zip.

Nothing is unpacked to disk, and no name in a zip ever becomes a path.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, Self, cast

import ijson
from django.utils.translation import gettext as _

from memory.imports.readers.decoding import decode, encoding_of
from memory.imports.readers.types import ImportRejected, Limits
from memory.imports.readers.zips import MAGIC, member_names, opened_zip, printable

CHUNK_BYTES = 64 * 1024
_PAGE_BYTES = 1024 * 1024
_DEEPEST_PATH = 8
# Samples of members that are kept, of 64 KB each.
_MAX_SAMPLES_KEPT = 100
# Bytes that are parsed before the depth is checked: the parser's paths grow with it.
_PATHS_AT_A_TIME = 256
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


class TextLine(NamedTuple):
    """A line of a text file, without its end. Lines are counted from 1."""

    number: int
    text: str


class Source:
    """A path, or a seekable binary file (an upload) with its name; a context manager.

    `name` is the file's name without folders. Raises ImportRejected if the file is larger than the limits allow.
    """

    def __init__(self, file: Path | IO[bytes], name: str = "", limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.name = Path(name or (file.name if isinstance(file, Path) else "")).name
        self._file = file.open("rb") if isinstance(file, Path) else file
        self._owned = isinstance(file, Path)
        self._encodings: dict[str, str] = {}
        self.size = self._file.seek(0, io.SEEK_END)
        if self.size > self.limits.file_bytes:
            raise ImportRejected("too_big")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._owned:
            self._file.close()

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names of files in the zip, checked, without folders and junk; () if the file is no zip."""
        return member_names(self._zip) if self._zip else ()

    @cached_property
    def sample(self) -> "Sample":
        return Sample(self)

    def open(self, member: str = "") -> BinaryIO:
        """The bytes of the file, or of a member of the zip. Reading damaged data raises ImportRejected."""
        if not member:
            return io.BufferedReader(_View(self._file, self.size), CHUNK_BYTES)
        return cast(BinaryIO, io.BufferedReader(_Member(self._member(member), member), CHUNK_BYTES))

    def size_of(self, member: str) -> int:
        """The unpacked size of a member of the zip in bytes."""
        return self._zip.getinfo(member).file_size if self._zip and member in self.members else 0

    def texts(self, member: str = "") -> Iterator[str]:
        """The text in pieces, with its encoding detected; ImportRejected with a position if it cannot be decoded."""
        encoding = self._encodings.get(member)
        if encoding is None:
            encoding = self._encodings[member] = encoding_of(self._chunks(member))
        return decode(self._chunks(member), encoding)

    def lines(self, member: str = "") -> Iterator[TextLine]:
        """The text line by line. Lines end with LF or CRLF; other separators belong to the text."""
        number, rest = 0, ""
        for piece in self.texts(member):
            *whole, rest = (rest + piece).split("\n")
            for number, text in enumerate(whole, start=number + 1):  # noqa: B020
                yield TextLine(number, text.removesuffix("\r"))
            if len(rest) > self.limits.line_characters:
                raise ImportRejected("line_too_long", _("line %d") % (number + 1))
        if rest:
            yield TextLine(number + 1, rest.removesuffix("\r"))

    def _chunks(self, member: str) -> Iterator[bytes]:
        with self.open(member) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk

    @cached_property
    def _zip(self) -> zipfile.ZipFile | None:
        with self.open() as beginning:
            if not beginning.read(4).startswith(MAGIC):
                return None
        return opened_zip(self.open(), self.size, self.limits)

    def _member(self, member: str) -> IO[bytes]:
        if member not in self.members or self._zip is None:
            raise ImportRejected("member_missing", printable(member))
        if self._zip.getinfo(member).file_size > self.limits.file_bytes:
            raise ImportRejected("too_big", printable(member))
        try:
            return self._zip.open(member)
        except (*_DAMAGED, NotImplementedError) as error:
            raise ImportRejected("zip_broken", printable(member)) from error


class Member(Source):
    """A file within a zip, as a source of its own."""

    def __init__(self, around: Source, member: str) -> None:
        super().__init__(io.BytesIO(), member, around.limits)
        self.size = around.size_of(member)
        self._around = around
        self._within = member

    def open(self, member: str = "") -> BinaryIO:
        if member:
            raise ImportRejected("member_missing", printable(member))
        return self._around.open(self._within)


class Sample:
    """The beginning of a file or member, for recognizing its format: nothing here ever raises ImportRejected."""

    def __init__(self, source: Source, member: str = "") -> None:
        self._source = source
        self._member = member
        self.name = member or source.name
        self._inside: dict[str, Sample] = {}

    @cached_property
    def head(self) -> bytes:
        """The first 64 KB."""
        try:
            with self._source.open(self._member) as stream:
                return stream.read(CHUNK_BYTES)
        except ImportRejected:
            return b""

    @cached_property
    def text(self) -> str:
        """The decoded first 64 KB, without a byte order mark; "" if it is not text."""
        try:
            return next(iter(self._source.texts(self._member)), "")
        except ImportRejected:
            return ""

    @cached_property
    def page(self) -> str:
        """The beginning of a web page, long enough to include text after the styles: some begin with more than 64 KB of
        these."""
        pieces: list[str] = []
        try:
            for piece in self._source.texts(self._member):
                pieces.append(piece)
                if len(pieces) * CHUNK_BYTES >= _PAGE_BYTES:
                    break
        except ImportRejected:
            pass  # The text up to the error is valid.
        return "".join(pieces)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names in the zip; () if the file is no zip, or is refused."""
        try:
            return () if self._member else self._source.members
        except ImportRejected:
            return ()

    @cached_property
    def paths(self) -> frozenset[str]:
        """The places of keys, if the sample is JSON or JSON lines, as ijson writes them: "messages.item.id"."""
        paths: set[str] = set()
        try:
            text = io.BytesIO(self.text.encode())
            for prefix, event, value in ijson.parse(text, _PATHS_AT_A_TIME, multiple_values=True, use_float=True):
                if prefix.count(".") >= _DEEPEST_PATH:
                    break
                if event == "map_key":
                    paths.add(f"{prefix}.{value}" if prefix else value)
        except (ijson.JSONError, ValueError):
            pass  # The sample is cut off; the paths before the cut are valid.
        return frozenset(paths)

    def inside(self, member: str) -> "Sample":
        """The sample of a member of the zip. The first ones are cached, because many formats examine them."""
        member_sample = self._inside.get(member)
        if member_sample is None:
            member_sample = Sample(self._source, member)
            if len(self._inside) < _MAX_SAMPLES_KEPT:
                self._inside[member] = member_sample
        return member_sample


class Placed(io.RawIOBase):
    """A stream with a position of its own; subclasses implement `readinto`."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        if place < 0:
            # Like files of the system: zipfile seeks before the beginning of a small file.
            raise OSError("before the beginning of the file")
        self._place = place
        return place


class _View(Placed):
    """A view with its own position on a file that several readers share."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        super().__init__(size)
        self._file = file

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._place)
        read = self._file.read(len(buffer))
        buffer[: len(read)] = read
        self._place += len(read)
        return len(read)


class _Member(io.RawIOBase):
    """A member of a zip; its errors become ImportRejected."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._begun = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Seeking backwards unpacks the member again from its beginning."""
        try:
            return self._stream.seek(offset, whence)
        except _DAMAGED as error:
            raise ImportRejected("zip_broken", printable(self._name)) from error

    def readinto(self, buffer: Any) -> int:
        try:
            read = self._stream.read(len(buffer))
        except _DAMAGED as error:
            raise ImportRejected("zip_broken", printable(self._name)) from error
        if not self._begun and read.startswith(MAGIC):
            raise ImportRejected("nested_zip", printable(self._name))
        self._begun = True
        buffer[: len(read)] = read
        return len(read)
