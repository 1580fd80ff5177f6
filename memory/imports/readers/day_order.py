"""Whether 03/04 is 3 April or 4 March: decided once for a whole file, or not at all. Pure."""

from collections.abc import Iterable
from datetime import date

from memory.imports.readers.types import ImportRejected
from memory.imports.readers.weekday_order import order_by_weekdays

Numbers = tuple[int, int, int]


def day_first(dates: Iterable[Numbers]) -> bool | None:
    """What the dates of a file, `(first, second, year)` in its order, say about the order of their numbers.

    True or False if only one reading has valid dates, or only one runs steadily through time; None if the file does not
    tell. Only the last date is kept in memory.

    >>> day_first([(3, 4, 2024), (13, 4, 2024)]), day_first([(1, 31, 2024)]), day_first([(3, 4, 2024)])
    (True, False, None)
    """
    readings = {True: _DateOrder(), False: _DateOrder()}
    telling = False
    for first, second, year in dates:
        telling = telling or first != second
        readings[True].take(year, second, first)
        readings[False].take(year, first, second)
    for test in (_DateOrder.possible, _DateOrder.steady):
        passed = [order for order, reading in readings.items() if test(reading)]
        if len(passed) == 1:
            return passed[0]
    return None if telling else True


def choose_order(
    chosen_order: bool | None, dates: Iterable[Numbers], location: str = "", lines: Iterable[str] = ()
) -> bool:
    """Whether the day is first: as a person has `chosen`, else by the `written` dates, or by the weekdays beside them
    in `lines`. Raises ImportRejected if the file does not tell."""
    order = chosen_order if chosen_order is not None else day_first(dates)
    order = order_by_weekdays(lines) if order is None else order
    if order is None:
        raise ImportRejected("ask_day_first", location)
    return order


class _DateOrder:
    """The dates read in one order: whether all are valid, and whether they only rise or only fall."""

    def __init__(self) -> None:
        self.last: date | None = None
        self.impossible = self.rises = self.falls = False

    def take(self, year: int, month: int, day: int) -> None:
        try:
            parsed_day = date(year, month, day)
        except ValueError:
            self.impossible = True
            return
        if self.last is not None:
            self.rises = self.rises or parsed_day > self.last
            self.falls = self.falls or parsed_day < self.last
        self.last = parsed_day

    def possible(self) -> bool:
        return not self.impossible

    def steady(self) -> bool:
        return not self.impossible and not (self.rises and self.falls)
