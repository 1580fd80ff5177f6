"""Tables of cases in one test: every row is tried, and the failure names the rows that fail.

    @each_row(("text", "words"), [("my cat", ["my", "cat"]), pytest.param("", [], id="nothing")])
    def test_a_text_is_cut_into_words(text, words): ...

It is written like `pytest.mark.parametrize`, for tests where only data differs: one item to collect and to run instead
of one for each row (some 8 ms each on two workers, 2026-11). Fixtures are shared by the rows, so a test that changes
its surroundings stays parametrised.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest
from _pytest.mark import ParameterSet

MAX_SHOWN = 20
# For tests that measure with hundreds of rows, each of which costs milliseconds: every fourth row in every run, all of
# them in the campaign. A share of a sample strays from that of the whole; `STRAY` is what the bounds give way by then.
in_samples = pytest.mark.parametrize(
    "every", [4, pytest.param(1, marks=pytest.mark.campaign)], ids=["every fourth", "all"]
)
STRAY = {4: 0.03, 1: 0.0}


def each_row(names: str | Sequence[str], rows: Iterable[Any], ids: Any = None) -> Callable[[Any], Any]:
    """A decorator that calls the test with each of `rows`, whose values go by `names`."""
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    # As `parametrize` does: with one name given as a string, a row is the value itself.
    is_bare = isinstance(names, str) and len(columns) == 1
    cases = [row if isinstance(row, ParameterSet) else ParameterSet.param(*([row] if is_bare else row)) for row in rows]
    assert cases, "a table without rows tests nothing"
    assert not any(case.marks for case in cases), "a row with a mark is a test of its own"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def every_row(**fixtures: Any) -> None:
            failures = []
            for number, case in enumerate(cases):
                try:
                    test(**fixtures, **dict(zip(columns, case.values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  (the other rows are tried, too)
                    failures.append((number, error))
            if failures:
                labels = _labels(cases, ids)
                lines = [
                    f"[{labels[number]}] {type(error).__name__}: {error}" for number, error in failures[:MAX_SHOWN]
                ]
                shown = "\n".join(lines)
                raise AssertionError(f"{len(failures)} of {len(cases)} rows fail:\n{shown}") from failures[0][1]

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        every_row.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        del every_row.__wrapped__  # type: ignore[attr-defined]  (pytest would ask it for its fixtures)
        return every_row

    return decorate


def _labels(cases: Sequence[ParameterSet], ids: Any) -> list[str]:
    """The name of each row: its own id, or what `ids` says of it, or its values."""
    given = list(ids) if ids is not None and not callable(ids) and not isinstance(ids, str) else None
    labels = []
    for number, case in enumerate(cases):
        values = ", ".join(map(repr, case.values))
        if isinstance(case.id, str):
            labels.append(case.id)
        elif given is not None and given[number] is not None:
            labels.append(str(given[number]))
        elif callable(ids):
            labels.append("-".join(str(ids(value)) for value in case.values))
        else:
            labels.append(f"{number}: {values[:120]}")
    return labels
