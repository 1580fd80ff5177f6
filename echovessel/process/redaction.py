"""Logging an error without text of people: its type and where it happened, never its message.

Messages of pydantic, codecs and databases quote the value that failed, which may be a person's words.
"""

import logging
import re
import traceback

# In the OpenAI-compatible API a persona's name is part of an address.
NAMED = re.compile(r"(/v1/models/).+")


def format_exception(error: BaseException) -> str:
    """The type of `error` and its traceback frames, as lines for a log."""
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"


class WithoutNames(logging.Filter):
    """Removes names given by people from log lines about requests.

    >>> record = logging.LogRecord("", 30, "", 0, "%s: %s", ("Not Found", "/v1/models/Mira"), None)
    >>> WithoutNames().filter(record), record.getMessage()
    (True, 'Not Found: /v1/models/…')
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(NAMED.sub(r"\1…", arg) if isinstance(arg, str) else arg for arg in record.args)
        return True
