"""Processes as the holders of leases, and whether a holder can still be alive."""

import os
import secrets
import socket
from pathlib import Path

HOST = socket.gethostname()

_tokens: dict[int, str] = {}  # by pid: a forked child is another process


def current_process() -> str:
    """This process as a holder, "host:pid:token": an earlier process of the same pid had another token."""
    pid = os.getpid()
    return f"{HOST}:{pid}:{_tokens.setdefault(pid, secrets.token_hex(4))}"


def new_holder() -> str:
    """This process as the holder of one lease, "host:pid:token:lease". Every call returns another name, so that the
    name is the fence of what it holds."""
    return f"{current_process()}:{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """Whether a holder is known to be dead: a process of this host that no longer runs. Others may be alive."""
    host, _colon, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    if host != HOST or not pid.isdecimal():
        return False
    if int(pid) == os.getpid():
        return not f"{holder}:".startswith(f"{current_process()}:")
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
