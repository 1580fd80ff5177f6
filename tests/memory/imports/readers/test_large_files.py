"""Files of any size are read in the memory that one session takes."""

import itertools
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.imports.readers import Source, read
from memory.imports.readers.types import FileSession, Limits
from tests.memory.imports.readers import format_writers
from tests.memory.imports.readers.format_writers import ChatMessage, FormatWriter

MB = 1024**2
LINES = [ChatMessage(bool(number % 2), f"Line {number} of a long talk, 你好 and so on. " * 40) for number in range(100)]
# Reads the file in a process of its own and prints the number of messages and the memory taken beyond the start.
READING = """
import resource, sys
import django
django.setup()
from pathlib import Path
from memory.imports.readers import Source, read
from memory.imports.readers.types import FileSession
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with Source(Path(sys.argv[1])) as source:
    items = read(source)
    message_count = len(next(item for item in items if isinstance(item, FileSession)).lines)
    before = peak()
    message_count += sum(len(item.lines) for item in items if isinstance(item, FileSession))
print(message_count, (peak() - before) // 1024)
"""


def arrays_of(render: FormatWriter) -> Iterator[bytes]:
    """The same conversation again and again, as elements of an array."""
    yield render(LINES)[:-1]
    element = b"," + render(LINES)[1:-1]
    yield from itertools.repeat(element)


def text_of(render: FormatWriter) -> Iterator[bytes]:
    whole = render(LINES).removesuffix(b"\n") + b"\n"
    yield whole
    # A header is written only once.
    yield from itertools.repeat(whole.partition(b"\n")[2] if whole.startswith(b'{"user_name"') else whole)


def messages_of(render: FormatWriter) -> Iterator[bytes]:
    """One endless conversation; fields after the array of messages are omitted."""
    whole = render(LINES)
    begin, end = whole.index(b'"messages": [') + len(b'"messages": ['), whole.rindex(b"]")
    yield whole[:end]
    yield from itertools.repeat(b"," + whole[begin:end])


def write(path: Path, parts: Iterator[bytes], end: bytes, size: int) -> int:
    """Write parts until the file has `size` bytes; return how often the messages were written."""
    count = 0
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(next(parts))
            count += 1
        file.write(end)
    return count


KINDS = [
    (arrays_of, format_writers.chatgpt, b"]"),
    (messages_of, format_writers.telegram, b"]}"),
    (text_of, format_writers.whatsapp_dashed, b""),
]
MORE_KINDS = [
    (arrays_of, format_writers.claude, b"]"),
    (text_of, format_writers.claude_lines, b""),
    (messages_of, format_writers.discord, b"]}"),
    (text_of, format_writers.sillytavern, b""),
    (text_of, format_writers.transcript, b""),
]
Parts = Callable[[FormatWriter], Iterator[bytes]]


def of_kinds(kinds: list[tuple[Parts, FormatWriter, bytes]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("parts", "render", "end"), kinds, ids=[render.__name__ for _p, render, _e in kinds])


@of_kinds(KINDS)
def test_memory_stays_while_the_file_grows(parts: Parts, render: FormatWriter, end: bytes, tmp_path: Path) -> None:
    def lines_of(size: int) -> tuple[int, int]:
        """The number of messages written, and the number read back."""
        path = tmp_path / "large"
        count = write(path, parts(render), end, size)
        with Source(path, limits=Limits(talk_lines=100)) as source:
            return count * len(LINES), sum(
                len(session.lines) for session in read(source) if isinstance(session, FileSession)
            )

    lines_of(1)  # what is loaded for the first file stays in memory
    tracemalloc.start()
    try:
        written_count, message_count = lines_of(5 * MB)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert message_count == written_count
    assert peak < 2.5 * MB


@pytest.mark.campaign
@of_kinds(KINDS + MORE_KINDS)
def test_sixty_megabytes_take_no_more_than_one_conversation(
    parts: Parts, render: FormatWriter, end: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "large"
    count = write(path, parts(render), end, 60 * MB)
    began = time.monotonic()
    process = subprocess.run([sys.executable, "-c", READING, str(path)], capture_output=True, text=True, check=True)
    message_count, more_mb = map(int, process.stdout.split())
    print(f"{render.__name__}: {message_count} lines, {more_mb} MB more, {time.monotonic() - began:.0f} s")  # noqa: T201
    assert message_count == count * len(LINES)
    assert more_mb < 16
