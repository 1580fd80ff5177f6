"""Check messages against the rules of crisis detection, without storing anything."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.care import speak_of_crisis

BATCH = 64
_LINE_END = re.compile(r"\r\n|\n|\r")
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Command(BaseCommand):
    help = "Print for each message in FILE, one per line, whether the chat would show crisis help beside it."
    requires_system_checks: list[str] = []  # it needs no database

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a file with one message per line; - reads standard input")
        parser.add_argument(
            "--json", action="store_true", help='print one object per message: {"line": 1, "help": true}'
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            data = sys.stdin.buffer.read() if options["file"] == "-" else Path(options["file"]).read_bytes()
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}") from error
        # Empty lines count, so that the numbers match the file; the end of the last line begins no new one.
        messages = _LINE_END.split(_decode(data))
        if messages[-1] == "":
            messages.pop()
        speak_of_crisis(["Hello", "I cannot go on", "你好，今天好累"])  # load models and rules before the clock starts
        started = time.perf_counter()
        raised = 0
        for start in range(0, len(messages), BATCH):
            batch = messages[start : start + BATCH]
            for number, (message, is_cry) in enumerate(zip(batch, speak_of_crisis(batch), strict=True), start + 1):
                raised += is_cry
                if options["json"]:
                    self.stdout.write(json.dumps({"line": number, "help": is_cry}))
                else:
                    self.stdout.write(f"{number:>6}  {'help' if is_cry else '-':<4}  {message}")
        if messages and not options["json"]:
            seconds_each = (time.perf_counter() - started) / len(messages) * 1000
            self.stdout.write(f"help beside {raised} of {len(messages)} messages; {seconds_each:.1f} ms each")


def _decode(data: bytes) -> str:
    marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), None)
    for encoding in [marked] if marked else ["utf-8", "gb18030"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode(errors="replace")
