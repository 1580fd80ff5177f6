"""Who holds a lease, and whether they can still be alive: turns and sessions are held by processes."""

import os
import secrets
import socket
from pathlib import Path

HOST = socket.gethostname()

_tokens: dict[int, str] = {}  # by pid, so that a forked child is somebody else


def me() -> str:
    """This process as a holder, "host:pid:token". The token tells it from an earlier process of the same pid."""
    pid = os.getpid()
    return f"{HOST}:{pid}:{_tokens.setdefault(pid, secrets.token_hex(4))}"


def one_claim() -> str:
    """This process as the holder of one claim, "host:pid:token:claim"; every call gives another, so that the name is
    the fence of what it holds."""
    return f"{me()}:{secrets.token_hex(4)}"


def is_dead(held_by: str) -> bool:
    """Whether the process that holds a lease is known to be gone: on this host, and no longer there."""
    host, _colon, rest = held_by.partition(":")
    pid = rest.partition(":")[0]
    if host != HOST or not pid.isdecimal():
        return False
    if int(pid) == os.getpid():
        return not f"{held_by}:".startswith(f"{me()}:")
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(int(pid))


def _is_zombie(pid: int) -> bool:
    """Whether a process is dead and only waits for its parent to notice, as far as the system tells (Linux)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["Z"]
