"""All data of an owner as one zip: an archive for each persona, which `import_archive` can restore.

The zip is created while it is sent: it is never whole in memory or in a file. File names are a number and the persona's
uuid.
"""

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from typing import IO, TYPE_CHECKING, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from memory.archive import write as archive_write
from persona.models import Persona

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CHUNK = 64 * 1024


class ZipBuffer:
    """The bytes of a zip that are not sent yet. It has no `seek`, so that the zip writes sizes after contents."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self.size = 0

    def write(self, data: bytes) -> int:
        self._chunks.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        return None

    def take(self) -> bytes:
        content = b"".join(self._chunks)
        self._chunks.clear()
        self.size = 0
        return content


def stream_zip(owner: "User", now: datetime) -> Iterator[bytes]:
    """The bytes of the zip, chunk by chunk."""
    buffer = ZipBuffer()
    with ZipFile(cast(IO[bytes], buffer), "w", ZIP_DEFLATED) as archive:
        for number, persona in enumerate(Persona.objects.owned_by(owner).order_by("pk"), start=1):
            entry = ZipInfo(f"{number:02}-{persona.uuid}.jsonl", now.timetuple()[:6])
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            with archive.open(entry, "w", force_zip64=True) as file:
                for record_line in archive_write.archive_lines(persona, now):
                    file.write(record_line)
                    if buffer.size >= CHUNK:
                        yield buffer.take()
    yield buffer.take()
