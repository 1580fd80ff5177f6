"""Run the job worker: django-q's cluster, hardened so that jobs continue after one of its processes was killed."""

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
# If both want the processor, the web server gets three times as much as the worker: people wait for its answers.
NICENESS = 5


class Guard(cluster.Sentinel):
    """The process that restarts the others when they die.

    They share locks, and a killed process (the kernel kills some when memory runs out) never releases those it holds:
    an idle worker the one to read its queue, a busy one that of its timer. Its successor, or the guard itself, then
    waits for ever. Measured with django-q2 1.11.1 on 2026-11-21: killing an idle worker stopped all jobs until a
    restart. So after a kill all of them are restarted with new queues. The work in the old queues is not lost:
    `requeue_stale` looks for rows, not for tasks.
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
    """A lock between processes that survives the death of its holder: a process that has waited longer than anybody
    holds the lock assumes that the holder is dead, and continues."""

    def __init__(self) -> None:
        self._lock = RLock()

    def acquire(self) -> bool:
        return self._lock.acquire(timeout=LONGEST_HOLD_SECONDS)

    def release(self) -> None:
        with suppress(AssertionError):  # the lock belongs to a dead process
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
        cluster.Sentinel = Guard  # the name by which a cluster finds its sentinel
        super().handle(*args, **options)
