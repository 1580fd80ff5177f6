"""Memory of Python's garbage collector and of the C library."""

import ctypes
import gc
from contextlib import suppress

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
MAPPED_BYTES = 8 << 20  # above the arrays of a turn: 2.4 MB with 300,000 messages
KEPT_BYTES = 16 << 20  # else glibc would keep 128 KB, and each turn would have the pages of its arrays mapped anew


def trim_heap() -> None:
    """Return freed memory from the C library to the system, where possible (glibc). Call it after work that briefly
    needed much memory; it takes some ten milliseconds, and blocks nobody."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def return_large_blocks() -> None:
    """Make the C library take every block of MAPPED_BYTES or more directly from the system, so that it goes back as
    soon as it is freed. By itself glibc raises this size with each large block that is freed, up to 32 MB, and what
    loading needed for a moment stays in the middle of the heap: 30 MB after the Chinese dictionary (2026-11)."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)
        library.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


def pause_collector() -> None:
    """Pause garbage collection while modules are loaded, which create no garbage: a sixth of the start time
    (2026-11)."""
    gc.disable()


def resume_collector() -> None:
    """Resume garbage collection, and exclude everything loaded so far, which stays until the process ends. A turn
    creates thousands of objects without cycles: with fewer collections, a recall takes a twentieth less."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
