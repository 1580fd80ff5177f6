"""Freed memory, and the garbage collector."""

import gc
from typing import Any

import pytest

from echovessel.process import heap


def test_the_c_library_is_asked_for_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Library:
        malloc_trim = staticmethod(asked.append)

    monkeypatch.setattr(heap.ctypes, "CDLL", lambda _: Library)
    heap.trim_heap()
    assert asked == [0]


def test_large_blocks_are_taken_directly_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[tuple[int, int]] = []

    class Library:
        @staticmethod
        def mallopt(option: int, value: int) -> None:
            options.append((option, value))

    monkeypatch.setattr(heap.ctypes, "CDLL", lambda _: Library)
    heap.return_large_blocks()
    assert options == [(-3, heap.MAPPED_BYTES), (-1, heap.KEPT_BYTES)]


@pytest.mark.parametrize("fault", [OSError, AttributeError])
def test_where_it_cannot_be_asked_nothing_happens(monkeypatch: pytest.MonkeyPatch, fault: type[Exception]) -> None:
    def missing(_: Any) -> Any:
        raise fault

    monkeypatch.setattr(heap.ctypes, "CDLL", missing)
    heap.trim_heap()
    heap.return_large_blocks()


def test_loading_is_not_interrupted_and_what_was_loaded_is_not_looked_through_again() -> None:
    frozen = gc.get_freeze_count()
    heap.pause_collector()
    try:
        assert not gc.isenabled()
        loaded = [[] for _ in range(10_000)]
    finally:
        heap.resume_collector()
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(loaded)
