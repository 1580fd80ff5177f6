"""Database work from async code, in a thread pool.

`sync_to_async` and `database_sync_to_async` run everything on one thread per process: twenty sockets with a 100 ms
query each take 2 s. Here eight threads do it, each with its own connections (WAL: readers never wait, writers queue for
the write lock). Eight is more than one disk and one writer can use, and few enough to keep open.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

THREADS = 8

P = ParamSpec("P")
R = TypeVar("R")


def _new_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="in_thread")


_pool = _new_pool()


def renew_pool() -> None:
    """Replace the pool after a fork (django-q's workers): threads do not survive it, and the old pool would wait for
    them for ever."""
    global _pool
    _pool = _new_pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=renew_pool)


async def in_thread(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return `fn(*args, **kwargs)`, run on a thread of the pool; its exceptions are raised here.

    It sees a copy of the caller's context variables. If the caller is cancelled the function still runs to its end, so
    that a transaction in it is completed.

        session = await in_thread(Session.objects.get, uuid=uuid)
    """
    context = contextvars.copy_context()
    call = partial(_with_fresh_connections, fn, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool, context.run, call)


def _with_fresh_connections(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Drop connections past their age before and after, as Django does around a request."""
    close_old_connections()
    try:
        return fn(*args, **kwargs)
    except StopIteration as error:
        # A future cannot carry StopIteration: the caller would wait for ever.
        raise RuntimeError(f"{fn!r} raised StopIteration") from error
    finally:
        close_old_connections()
