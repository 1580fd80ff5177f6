"""A process ends when the one that started it is gone, however that ended: a process left behind would lock the
database for ever, and no restore could begin.

    with_supervisor()   in a child of `up`: a pipe whose other end only `up` holds closes when `up` ends
    tie_forks()         in the job worker: every process forked from now on ends with the one that forked it
    end_with(pid)       in a child, before it does anything: asks Linux, which acts immediately

A pipe has no race: it is also closed for a child that begins to read after `up` died. Linux signals only if the parent
dies after the call (prctl(2)), so the parent's id is compared afterwards. Systems without prctl use the thread.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

PIPE = "ECHOVESSEL_LIFELINE"  # the file descriptor that a child of `up` reads
GRACE_SECONDS = 3.0  # from SIGTERM to SIGKILL: jobs and replies survive a kill at any point
POLL_SECONDS = 0.5
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_forking_pid = 0


def with_supervisor() -> None:
    """End this process with `up`, if it is a child of it. The variable is removed: in our own children that descriptor
    number means something else."""
    descriptor = os.environ.pop(PIPE, "")
    if descriptor.isdecimal():
        _end_after(lambda: os.read(int(descriptor), 1), grace_seconds=GRACE_SECONDS)


def tie_forks() -> None:
    """Make every process that is forked from now on end with the process that forks it. This cannot be undone."""
    os.register_at_fork(before=_note_forking_pid, after_in_child=_tie_to_forking_pid)


def end_with(parent_pid: int, number: int = signal.SIGKILL) -> None:
    """Ask Linux to send this process a signal when its parent dies; exit if the parent is gone already."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent_pid:
        os._exit(1)


def _note_forking_pid() -> None:
    global _forking_pid
    _forking_pid = os.getpid()


def _tie_to_forking_pid() -> None:
    parent_pid = _forking_pid
    end_with(parent_pid)
    _end_after(lambda: os.getppid() == parent_pid, pause_seconds=POLL_SECONDS)


def _end_after(goes_on: Callable[[], object], *, pause_seconds: float = 0.0, grace_seconds: float = 0.0) -> None:
    """End this process once `goes_on` returns something false: with SIGTERM first if `grace_seconds` is set, then with
    SIGKILL."""

    def watch() -> None:
        while goes_on():
            time.sleep(pause_seconds)
        if grace_seconds:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(grace_seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
