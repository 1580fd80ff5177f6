"""Who holds a lease: the living, the dead, and those of whom nothing is known."""

import os

import pytest

from echovessel.jobs import lease
from tests.table import each_row


def gone() -> int:
    """The pid of a process that has ended."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


@each_row(
    ("holder", "dead"),
    [
        (lease.current_process(), False),
        (lease.new_holder(), False),
        (f"{lease.HOST}:{os.getpid()}:another life of this pid", True),
        (f"{lease.current_process()}0:claim", True),
        (f"{lease.HOST}:1:init", False),
        ("another-host:99999999:x", False),
        ("", False),
        ("nonsense", False),
    ],
    ids=[
        "this process",
        "a claim of this process",
        "this pid in another life",
        "a longer token",
        "a living process",
        "another host",
        "nobody",
        "nonsense",
    ],
)
def test_who_is_known_to_be_dead(holder: str, dead: bool) -> None:
    assert lease.is_dead(holder) is dead


def test_a_process_that_has_ended_is_dead() -> None:
    assert lease.is_dead(f"{lease.HOST}:{gone()}:abcd:claim")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux tells")
def test_a_zombie_process_counts_as_dead() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert lease.is_dead(f"{lease.HOST}:{pid}:abcd")
    finally:
        os.waitpid(pid, 0)


def test_every_claim_has_a_name_of_its_own() -> None:
    claims = {lease.new_holder() for _ in range(100)}
    assert len(claims) == 100
    assert all(claim.startswith(f"{lease.current_process()}:") for claim in claims)


def test_a_forked_child_is_somebody_else() -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, lease.current_process().encode())
        os._exit(0)
    os.waitpid(pid, 0)
    child = os.read(reading, 200).decode()
    os.close(reading)
    os.close(writing)
    assert child.split(":")[1] == str(pid)
    assert child.split(":")[2] != lease.current_process().split(":")[2]
    assert lease.is_dead(child)
