"""The canonical form of JSON, by the rules and examples of RFC 8785."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from memory.imports.readers.canonical import canonical
from tests.table import each_row


@each_row(
    ("number", "text"),
    [
        (333333333.33333329, "333333333.3333333"), (1e30, "1e+30"), (4.50, "4.5"), (2e-3, "0.002"),
        (0.000000000000000000000000001, "1e-27"), (0.0, "0"), (-0.0, "0"), (1, "1"), (1.0, "1"), (-1.5, "-1.5"),
        (1e20, "100000000000000000000"), (1e21, "1e+21"), (1e-6, "0.000001"), (1e-7, "1e-7"), (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (9007199254740992, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_ecmascript_writes_them(number: float, text: str) -> None:
    assert canonical(number).decode() == text


def test_keys_stand_in_the_order_of_their_utf_16_units() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    document = json.loads(canonical(dict.fromkeys(keys, 0)))
    assert list(document) == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_no_more_is_escaped_than_json_demands() -> None:
    assert canonical('€$\x0f\nA\'B"\\"/').decode() == '"€$\\u000f\\nA\'B\\"\\\\\\"/"'


@each_row("value", [math.nan, math.inf, 10**400])
def test_numbers_that_no_double_holds_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical(value)


SCALARS = (
    some.none()
    | some.booleans()
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text(some.characters(exclude_categories=["Cs"]))
)


@given(some.recursive(SCALARS, lambda inner: some.lists(inner) | some.dictionaries(some.text("ab€😀"), inner)))
def test_the_canonical_form_means_the_same_and_is_its_own_canonical_form(value: object) -> None:
    data = canonical(value)
    read = json.loads(data, parse_int=float)
    assert read == value
    assert canonical(read) == data
