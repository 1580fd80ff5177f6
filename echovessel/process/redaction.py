"""Logging a fault without anybody's words: its type and where it happened, never its message.

Messages of pydantic, of codecs and of databases quote what they stumbled over, and that may be what somebody said.
"""

import logging
import re
import traceback

# At OpenAI's door the name of a persona is part of an address.
NAMED = re.compile(r"(/v1/models/).+")


def format_exception(error: BaseException) -> str:
    """The type of `error` and the frames it came through, as lines for a log."""
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"


class WithoutNames(logging.Filter):
    """Has lines about requests say nothing of what people gave a name to.

    >>> record = logging.LogRecord("", 30, "", 0, "%s: %s", ("Not Found", "/v1/models/Mira"), None)
    >>> WithoutNames().filter(record), record.getMessage()
    (True, 'Not Found: /v1/models/…')
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(NAMED.sub(r"\1…", arg) if isinstance(arg, str) else arg for arg in record.args)
        return True
