"""Messages of a file are sorted by their times, in bounded memory."""

from datetime import UTC, datetime, timedelta

from memory.imports.readers.time_order import oldest_first, runs_back, weight
from memory.imports.readers.types import Limits

NOON = datetime(2024, 1, 5, 12)


def order_of(minutes: list[int | None], *, newest_first: bool = False, limits: Limits | None = None) -> list[int]:
    """The positions of messages sent at these minutes, in the order in which they come out."""
    times = [None if minute is None else NOON + timedelta(minutes=minute) for minute in minutes]
    places = range(len(times))
    order = oldest_first(places, times.__getitem__, lambda _place: 10, limits or Limits(), newest_first=newest_first)
    return list(order)


def test_messages_come_by_their_times_and_those_of_one_time_as_the_file_runs() -> None:
    for minutes, expected in (
        ([3, 2, 1], [2, 1, 0]),
        ([1, 2, 3], [0, 1, 2]),
        ([5, 5, 3], [2, 1, 0]),
        ([3, 5, 5], [0, 1, 2]),
        ([1, 3, 2, 4], [0, 2, 1, 3]),
        ([2, None, 1], [2, 1, 0]),
        ([None, None], [0, 1]),
        ([], []),
    ):
        assert order_of(list(minutes)) == expected, minutes
    assert order_of([4, 4, 4], newest_first=True) == [2, 1, 0]


def test_a_file_larger_than_can_be_held_keeps_its_order_and_loses_nothing() -> None:
    assert order_of([3, 2, 1], limits=Limits(item_bytes=25)) == [0, 1, 2]


def test_times_with_and_without_a_zone_are_compared() -> None:
    assert runs_back([NOON, (NOON - timedelta(hours=1)).replace(tzinfo=UTC), None])


def test_what_a_value_weighs_grows_with_all_that_is_in_it() -> None:
    assert weight({"a": [{"b": "x" * 1_000}] * 3}) > 3_000
