"""Database work from async code: in parallel, with context, on its own connections, and errors arrive."""

import asyncio
import contextvars
import os
import threading
import time

import pytest
from django.contrib.auth.models import Group
from django.db import connection, connections, transaction

from echovessel.process import threads
from echovessel.process.threads import in_thread

WHO = contextvars.ContextVar("WHO", default="nobody")

# The pool's threads may hold a connection of an earlier test, which is looked at before each call.
pytestmark = pytest.mark.django_db(transaction=True)


async def test_it_returns_what_the_function_returns():
    assert await in_thread(lambda a, *, b: a + b, 1, b=2) == 3


async def test_it_runs_on_a_thread_of_its_pool():
    name = await in_thread(lambda: threading.current_thread().name)
    assert name.startswith("in_thread")


async def test_errors_of_the_function_reach_the_caller():
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 / 0)


async def test_an_exhausted_iterator_is_an_error_and_not_an_endless_wait():
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(in_thread(next, iter([])), 5)


async def test_the_function_sees_a_copy_of_the_callers_context():
    WHO.set("caller")

    def look_and_change():
        seen = WHO.get()
        WHO.set("changed")
        return seen

    assert await in_thread(look_and_change) == "caller"
    assert WHO.get() == "caller"


async def test_eight_calls_run_in_parallel():
    barrier = threading.Barrier(threads.THREADS)
    await asyncio.gather(*(in_thread(barrier.wait, 5) for _ in range(threads.THREADS)))


async def test_twenty_slow_calls_take_three_rounds_and_not_twenty():
    started = time.monotonic()
    await asyncio.gather(*(in_thread(time.sleep, 0.1) for _ in range(20)))
    assert time.monotonic() - started < 1


async def test_a_cancelled_caller_does_not_tear_what_has_begun():
    begun, finished = threading.Event(), threading.Event()

    def work():
        begun.set()
        time.sleep(0.1)
        finished.set()

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(finished.wait, 5)


@pytest.mark.django_db(transaction=True)
async def test_it_reads_and_writes_the_same_database_on_connections_of_its_own():
    await in_thread(Group.objects.create, name="one")
    assert await in_thread(Group.objects.filter(name="one").exists)
    theirs = await in_thread(lambda: connections["default"])
    assert theirs is not connections["default"]
    assert theirs.settings_dict["NAME"] == connections["default"].settings_dict["NAME"]


@pytest.mark.django_db(transaction=True)
async def test_writers_on_all_threads_queue_for_the_lock_and_lose_nothing():
    counted = await in_thread(Group.objects.create, name="0")

    @transaction.atomic
    def count_up():
        group = Group.objects.get(pk=counted.pk)
        group.name = str(int(group.name) + 1)
        group.save()

    await asyncio.gather(*(in_thread(count_up) for _ in range(40)))
    assert (await in_thread(Group.objects.get, pk=counted.pk)).name == "40"


@pytest.mark.django_db(transaction=True)
async def test_a_connection_past_its_age_is_closed_after_the_call():
    def use_then_age():
        connection.ensure_connection()
        connection.close_at = time.monotonic() - 1
        return connections["default"]

    wrapper = await in_thread(use_then_age)
    assert wrapper.connection is None


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system does not fork")
def test_a_forked_child_gets_a_pool_of_its_own():
    before = threads._pool
    try:
        threads.renew_pool()
        assert threads._pool is not before
    finally:
        threads._pool = before
