"""Nobody outlives the process that started it: by the kernel's word, and where there is none by its own look."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from echovessel.process import lifeline
from tests.installation import ROOT
from tests.table import each_row

FORKS = """
import os, sys, time
from echovessel.process import lifeline
{prepare}
lifeline.tie_forks()
child = os.fork()
if not child:
    print(os.getpid(), flush=True)
time.sleep(60)
"""
CHILD_OF_UP = """
import signal, time
from echovessel.process import lifeline
lifeline.GRACE_SECONDS = 0.3
{prepare}
lifeline.with_supervisor()
print("started", flush=True)
time.sleep(60)
"""
FORKS_TOO_LATE = """
import os, time
from echovessel.process import lifeline
parent_pid = os.getpid()
child = os.fork()
if not child:
    while os.getppid() == parent_pid:  # the parent is gone before this asks to end with it
        time.sleep(0.01)
    lifeline.end_with(parent_pid)
    print("went on", flush=True)
    os._exit(0)
"""


def run(script: str, **options: object) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]


def is_gone(pid: int, seconds: float = 5) -> bool:
    """Whether a process ends in time; one that nobody has collected yet has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@each_row("prepare", ["", "lifeline._libc = None"], ids=["the kernel", "its own look"])
def test_a_fork_ends_with_the_process_that_forked_it(prepare: str) -> None:
    parent = run(FORKS.format(prepare=prepare))
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert not is_gone(child, 0.6)
    parent.kill()
    parent.wait()
    assert is_gone(child)


def test_a_child_that_asks_after_its_parent_died_does_not_go_on() -> None:
    parent = run(FORKS_TOO_LATE)
    assert parent.stdout is not None
    assert parent.stdout.read() == ""


@each_row("prepare", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"], ids=["asked", "made to"])
@each_row("when", ["before", "afterwards"])
def test_a_child_of_up_ends_with_it_whenever_up_died(prepare: str, when: str) -> None:
    read, write = os.pipe()
    if when == "before":
        os.close(write)
    env = os.environ | {lifeline.PIPE: str(read)}
    child = run(CHILD_OF_UP.format(prepare=prepare), pass_fds=(read,), env=env)
    os.close(read)
    assert child.stdout is not None
    if when == "afterwards":
        assert child.stdout.readline() == "started\n"
        assert child.poll() is None
        os.close(write)
    assert child.wait(10) == -(signal.SIGKILL if prepare else signal.SIGTERM)


def test_a_process_not_started_by_up_keeps_running() -> None:
    child = run(CHILD_OF_UP.format(prepare=""))
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    assert not is_gone(child.pid, 0.6)
    child.kill()
    child.wait()
