"""Memory that was freed, given back to the system."""

import ctypes
from functools import cache
from typing import Any


def trim_heap() -> None:
    """What the C library keeps of freed memory for later goes back, where it can be asked to (glibc). After work that
    took much for a moment; it takes some ten milliseconds, and holds nobody up."""
    if (ask := _malloc_trim()) is not None:
        ask(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
