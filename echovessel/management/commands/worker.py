"""Run the job worker: django-q's cluster, hardened so that jobs go on after one of its processes was killed."""

import os
from contextlib import suppress
from multiprocessing import Event, RLock, Value
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

from django_q import cluster
from django_q.conf import Conf
from django_q.management.commands.qcluster import Command as ClusterCommand
from django_q.queues import Queue

from echovessel.process import lifeline

LONGEST_HOLD_SECONDS = 2
# Of a processor that both want the web server gets three times as much as the worker: somebody waits for its answer.
NICENESS = 5


class Guard(cluster.Sentinel):
    """The process that starts the others again when they die.

    They share locks, and a process that is killed (the kernel does that where memory runs out) takes with it those that
    it holds: an idle worker the one to read its queue, a busy one that of its timer. Whoever comes after it, or the
    guard itself, then waits for ever. Measured with django-q2 1.11.1 on 2026-11-21: killing an idle worker stopped all
    jobs until a restart. So all of them begin anew, with queues of their own. What was in the old ones is not lost: the
    sweep looks for sessions, not for tasks.
    """

    def reincarnate(self, process: BaseProcess) -> None:
        if process.exitcode is None or process.exitcode >= 0:
            super().reincarnate(process)
            return
        for other in (*self.pool, self.monitor, self.pusher):
            other.kill()
            other.join()
        self.task_queue, self.result_queue = Queue(maxsize=Conf.QUEUE_LIMIT), Queue()
        self.event_out = Event()
        self.reincarnations += 1
        self.spawn_cluster()

    def spawn_worker(self) -> None:
        timer = Value("f", -1, lock=HeirlessLock())  # type: ignore[call-overload]
        self.spawn_process(cluster.worker, self.task_queue, self.result_queue, timer, self.timeout)


class HeirlessLock:
    """A lock between processes that outlives its holder: who has waited for it longer than anybody holds it takes it to
    be a dead one's, and goes on."""

    def __init__(self) -> None:
        self._lock = RLock()

    def acquire(self) -> bool:
        return self._lock.acquire(timeout=LONGEST_HOLD_SECONDS)

    def release(self) -> None:
        with suppress(AssertionError):  # it is not ours, but a dead one's
            self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Command(ClusterCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        os.nice(NICENESS)
        lifeline.tie_forks()
        cluster.Sentinel = Guard  # the one place where a cluster looks for it
        super().handle(*args, **options)
