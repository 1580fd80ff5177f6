"""A table of cases in one test tries every row and names those that fail."""

from typing import Any

import pytest

from tests.table import each_row


def test_every_row_is_tried_and_the_failing_ones_are_named() -> None:
    tried = []

    @each_row(("a", "b"), [(1, 1), pytest.param(1, 2, id="unequal"), (3, 4), (5, 5)])
    def test(a: int, b: int) -> None:
        tried.append((a, b))
        assert a == b, "they differ"

    with pytest.raises(
        AssertionError, match=r"2 of 4 rows fail:\n\[unequal\].*they differ(.|\n)*\[2: 3, 4\]"
    ) as failure:
        test()
    assert tried == [(1, 1), (1, 2), (3, 4), (5, 5)]
    assert isinstance(failure.value.__cause__, AssertionError)


def test_tables_on_tables_try_every_pair_and_leave_fixtures_to_pytest() -> None:
    tried = []

    @each_row("a", [1, 2])
    @each_row("b", [(3,), (4,)], ids=str)
    def test(a: int, b: Any, tmp_path: str) -> None:
        tried.append((a, b, tmp_path))

    test(tmp_path="here")
    assert tried == [(1, (3,), "here"), (1, (4,), "here"), (2, (3,), "here"), (2, (4,), "here")]


def test_a_row_with_a_mark_and_a_table_without_rows_are_refused() -> None:
    for rows in ([pytest.param(1, marks=pytest.mark.campaign)], []):
        with pytest.raises(AssertionError, match="row"):
            each_row("a", rows)
