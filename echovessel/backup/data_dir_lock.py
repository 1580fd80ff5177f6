"""The lock of the data folder: every process of an installation holds it shared while it lives, a restore exclusively.

The kernel releases the lock when its process ends, in whatever way; nothing is left to clean up.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from echovessel.backup import swap

LOCK = "lock"
PAUSE_SECONDS = 0.05
# How long a restore waits for others: processes whose supervisor was killed need a few seconds to end (`lifeline`).
PATIENCE_SECONDS = 10.0

_locks: dict[Path, int] = {}


class Occupied(Exception):
    """Another process of this installation is alive."""


def acquire_shared(folder: Path) -> None:
    """Hold the shared lock from now on. Waits while a restore runs, and completes one that died during the swap."""
    lock = _open_lock(folder)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write("A restore is running; waiting until it is done.\n")
            fcntl.flock(lock, fcntl.LOCK_SH)
        if not swap.is_begun(folder):
            break
        with contextlib.suppress(Occupied), _exclusive(lock):
            swap.finish(folder)
        time.sleep(PAUSE_SECONDS)
    _locks[folder] = lock


@contextlib.contextmanager
def acquire_exclusive(folder: Path, patience_seconds: float = 0) -> Iterator[None]:
    """Hold the lock exclusively in the block; processes that start meanwhile wait. Raises Occupied if other processes
    are still alive after `patience_seconds`."""
    lock = _locks[folder] if folder in _locks else _open_lock(folder)
    try:
        deadline, has_warned = time.monotonic() + patience_seconds, False
        while time.monotonic() < deadline:
            with contextlib.suppress(Occupied), _exclusive(lock):
                break
            if not has_warned:
                sys.stderr.write("EchoVessel is still running; waiting a few seconds for it to end.\n")
                has_warned = True
            time.sleep(PAUSE_SECONDS)
        with _exclusive(lock):
            yield
    finally:
        if folder not in _locks:
            os.close(lock)


def other_processes(folder: Path) -> list[int]:
    """The ids of other processes that have this folder's lock open, as far as the system shows them (Linux)."""
    lock, process_ids = str((folder / LOCK).resolve()), set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # the process ended meanwhile, or belongs to another user
            if os.readlink(link) == lock:
                process_ids.add(int(link.parts[2]))
    return sorted(process_ids - {os.getpid()})


def _open_lock(folder: Path) -> int:
    return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextlib.contextmanager
def _exclusive(lock: int) -> Iterator[None]:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        fcntl.flock(lock, fcntl.LOCK_UN)  # so that two processes that want the exclusive lock do not block each other
        fcntl.flock(lock, fcntl.LOCK_SH)
        raise Occupied from error
    try:
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_SH)
