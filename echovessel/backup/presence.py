"""Who is there: every process of an installation holds a shared lock as long as it lives, a restore the only one.

The kernel lets go of a lock with its process, however that ended; nothing is left to clear away.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from echovessel.backup import swapping

LOCK = "lock"
PAUSE_SECONDS = 0.05

_held: dict[Path, int] = {}


class Occupied(Exception):
    """Another process of this installation is alive."""


def enter(folder: Path) -> None:
    """Be there from now on. Waits while a restore is under way, and ends one that died in its last moment."""
    lock = _opened(folder)
    while True:
        _wait_for(lock)
        if not swapping.is_begun(folder):
            break
        with contextlib.suppress(Occupied), _alone(lock):
            swapping.finish(folder)
        time.sleep(PAUSE_SECONDS)
    _held[folder] = lock


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While this lasts no other process of this installation is there, and who comes waits. Raises Occupied."""
    lock = _held[folder] if folder in _held else _opened(folder)
    try:
        with _alone(lock):
            yield
    finally:
        if folder not in _held:
            os.close(lock)


def _opened(folder: Path) -> int:
    return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _wait_for(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write("A restore is under way; waiting until it is done.\n")
        fcntl.flock(lock, fcntl.LOCK_SH)


@contextlib.contextmanager
def _alone(lock: int) -> Iterator[None]:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        fcntl.flock(lock, fcntl.LOCK_UN)  # of two who want to be alone at once, neither stands in the other's way
        fcntl.flock(lock, fcntl.LOCK_SH)
        raise Occupied from error
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_SH)
