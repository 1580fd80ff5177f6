"""The directory of a zip, checked before anything in it is opened. Hostile zips are refused as a whole.

They have links, names that lead out of the zip, encryption, rare compression, overlapping members, or a few bytes that
unpack to gigabytes; an honest export has none of these. zipfile never unpacks more of a member than its directory says,
so checking the sizes there is enough.
"""

import stat
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from memory.imports.readers.types import ImportRejected, Limits

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Below this size a high ratio is harmless: a page of blanks has one, too.
_ALWAYS_ALLOWED_BYTES = 1024**2
_DIRECTORY_BYTES_PER_ENTRY = 400
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_BROKEN = (zipfile.BadZipFile, struct.error, ValueError, OSError, NotImplementedError, EOFError, RecursionError)
# Files that archivers of macOS and Windows add.
_JUNK = ("__macosx/", ".ds_store", "thumbs.db")


def opened_zip(file: BinaryIO, size: int, limits: Limits) -> zipfile.ZipFile:
    """The zip in `file`, whose directory has been checked. Raises ImportRejected."""
    try:
        # zipfile reads the directory at once: one larger than any honest directory is refused before.
        tail_size = min(size, _END.size + 0xFFFF)
        file.seek(size - tail_size)
        tail = file.read(tail_size)
        start = len(tail) - _END.size
        if not (start >= 0 and tail[start : start + 4] == MAGIC[1] and tail.endswith(b"\0\0")):
            start = tail.rfind(MAGIC[1])
        if start < 0:
            raise ImportRejected("zip_broken")
        directory = _END.unpack_from(tail, start)[5]
        if start >= _LOCATOR_64.size and tail[start - _LOCATOR_64.size :].startswith(b"PK\x06\x07"):
            file.seek(_LOCATOR_64.unpack_from(tail, start - _LOCATOR_64.size)[2])
            directory = _END_64.unpack(file.read(_END_64.size))[8]
        if directory > min(size, limits.zip_entries * _DIRECTORY_BYTES_PER_ENTRY):
            raise ImportRejected("zip_entries")
        opened = zipfile.ZipFile(file)
    except _BROKEN as error:
        raise ImportRejected("zip_broken") from error
    infos = opened.infolist()
    if len(infos) > limits.zip_entries:
        raise ImportRejected("zip_entries")
    if len({info.filename for info in infos}) < len(infos):
        raise ImportRejected("zip_name")
    if sum(info.compress_size for info in infos) > size:
        raise ImportRejected("zip_bomb")
    for info in infos:
        location = printable(info.filename)
        parts = info.filename.replace("\\", "/").split("/")
        if (
            parts[0] == "" or ".." in parts or parts[0].endswith(":") or not info.filename.isprintable()
        ) or stat.S_ISLNK(info.external_attr >> 16):
            raise ImportRejected("zip_name", location)
        if info.flag_bits & 0x1:
            raise ImportRejected("zip_encrypted", location)
        if info.compress_type not in _METHODS:
            raise ImportRejected("zip_method", location)
        if info.file_size > max(_ALWAYS_ALLOWED_BYTES, limits.zip_ratio * info.compress_size):
            raise ImportRejected("zip_bomb", location)
    return opened


def member_names(opened: zipfile.ZipFile) -> tuple[str, ...]:
    """The names of the files in it, without the junk of archivers."""
    files = (info.filename for info in opened.infolist() if not info.is_dir())
    names = (name for name in files if name.lower().rpartition("/")[2] not in _JUNK[1:])
    return tuple(sorted(name for name in names if not name.lower().startswith(_JUNK[0])))


@contextmanager
def within(member: str) -> Iterator[None]:
    """An ImportRejected in this context names the member of the zip."""
    try:
        yield
    except ImportRejected as rejected:
        if not member or printable(member) in rejected.location:
            raise
        location = ", ".join(filter(None, (printable(member), rejected.location)))
        raise ImportRejected(rejected.code, location, **rejected.facts) from rejected


def printable(name: str) -> str:
    """`name` for a page: unprintable characters are escaped, and it is shortened to a line."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name[:120])
