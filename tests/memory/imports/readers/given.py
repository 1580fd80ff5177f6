"""Files as a test hands them over, and what a format finds in them."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from memory.imports.readers.source import Source
from memory.imports.readers.types import Entry, FileMessage, FileSession, Format, Limits, Options, ReaderItem, Skipped

FILES = Path(__file__).parent / "files"


def given(data: bytes | str, name: str = "file", limits: Limits | None = None) -> Source:
    return Source(io.BytesIO(data.encode() if isinstance(data, str) else data), name, limits)


def fixture(name: str) -> Source:
    return given((FILES / name).read_bytes(), name)


def zip_of(members: Mapping[str, bytes | str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return held.getvalue()


def zipped(members: Mapping[str, bytes | str], name: str = "file.zip") -> Source:
    return given(zip_of(members), name)


def found_by(form: Format, source: Source, options: Options | None = None) -> list[ReaderItem]:
    return list(form.read(source, options or Options(limits=source.limits)))


def lines_of(found: list[ReaderItem]) -> list[FileMessage]:
    return [line for talk in found if isinstance(talk, FileSession) for line in talk.lines]


def entries_of(found: list[ReaderItem]) -> list[Entry]:
    return [entry for entry in found if isinstance(entry, Entry)]


def skips_of(found: list[ReaderItem]) -> list[str]:
    return [skipped.reason for skipped in found if isinstance(skipped, Skipped)]
