"""Logging a fault without anybody's words: its type and where it happened, never its message.

Messages of pydantic, of codecs and of databases quote what they stumbled over, and that may be what somebody said.
"""

import traceback


def told(error: BaseException) -> str:
    """The type of `error` and the frames it came through, as lines for a log."""
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
