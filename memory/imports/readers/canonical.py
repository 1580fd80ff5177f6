"""JSON in its canonical form, byte for byte the same in every program: RFC 8785 (JCS).

Keys in the order of their UTF-16 units, no whitespace, numbers as ECMAScript writes them, and no more escapes than JSON
demands. Others can repeat a checksum over such bytes.

>>> canonical({"b": 1.0, "a": [1e21, 0.000001, 1e-7, "é"]}).decode()
'{"a":[1e+21,0.000001,1e-7,"é"],"b":1}'
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def canonical(value: Any) -> bytes:
    """The UTF-8 bytes. Numbers are doubles, as in ECMAScript; raises ValueError for a number that is not
    representable."""
    return _serialize(value).encode()


def _serialize(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{_string(key)}:{_serialize(item)}" for key, item in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_serialize(item) for item in value) + "]"
    if isinstance(value, str):
        return _string(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError("beyond what a double holds") from error
    if not math.isfinite(number):
        raise ValueError(f"{value} is no number of JSON")
    if number == 0:
        return "0"
    # Number::toString of ECMAScript: plain from 1e-6 up to below 1e21, else with an exponent. The decimal point comes
    # after the `point`-th of the shortest digits.
    negative, digits_of, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits, sign = "".join(map(str, digits_of)), "-" * negative
    point = len(digits) + int(exponent)
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{point - 1:+d}"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
