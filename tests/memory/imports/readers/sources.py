"""Sources for the tests of readers, and the items a format reads from them."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from memory.imports.readers.source import Source
from memory.imports.readers.types import Entry, FileMessage, FileSession, Format, Limits, Options, ReaderItem, Skipped

FILES = Path(__file__).parent / "files"


def source_of(data: bytes | str, name: str = "file", limits: Limits | None = None) -> Source:
    return Source(io.BytesIO(data.encode() if isinstance(data, str) else data), name, limits)


def fixture(name: str) -> Source:
    return source_of((FILES / name).read_bytes(), name)


def zip_of(members: Mapping[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return buffer.getvalue()


def zip_source(members: Mapping[str, bytes | str], name: str = "file.zip") -> Source:
    return source_of(zip_of(members), name)


def read_items(form: Format, source: Source, options: Options | None = None) -> list[ReaderItem]:
    return list(form.read(source, options or Options(limits=source.limits)))


def messages_of(items: list[ReaderItem]) -> list[FileMessage]:
    return [message for session in items if isinstance(session, FileSession) for message in session.lines]


def entries_of(items: list[ReaderItem]) -> list[Entry]:
    return [entry for entry in items if isinstance(entry, Entry)]


def skips_of(items: list[ReaderItem]) -> list[str]:
    return [skipped.reason for skipped in items if isinstance(skipped, Skipped)]
