"""One JSON document read as a whole, for files that are always small: cards, and heads of other files."""

import json
import math
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from echovessel.language.plain_text import storable
from memory.imports.readers.source import Source
from memory.imports.readers.types import ImportRejected, Limits


def load_json(pieces: Iterable[str], limits: Limits, most_characters: int) -> Any:
    """The document in `pieces` of text. Raises ImportRejected with line and column.

    Numbers that JSON cannot represent (NaN, infinity) are refused; half a surrogate pair, which UTF-8 cannot represent,
    becomes U+FFFD.
    """
    json_pieces: list[str] = []
    for piece in pieces:
        json_pieces.append(piece)
        most_characters -= len(piece)
        if most_characters < 0:
            raise ImportRejected("too_big")
    text = "".join(json_pieces)
    if not text.strip():
        raise ImportRejected("empty")

    def refuse(number_text: str) -> float:
        raise ImportRejected("not_json", number_text[:40])

    def finite(number_text: str) -> float:
        return number if math.isfinite(number := float(number_text)) else refuse(number_text)

    try:
        return _checked(json.loads(text, parse_constant=refuse, parse_float=finite), limits.nesting)
    except json.JSONDecodeError as error:
        location = _("line %(line)d, character %(column)d") % {"line": error.lineno, "column": error.colno}
        raise ImportRejected("not_json", location) from error
    except RecursionError as error:
        raise ImportRejected("too_deep") from error
    except ValueError as error:  # a whole number of more digits than Python reads
        raise ImportRejected("not_json") from error


def load_small_object(source: Source, member: str, max_characters: int) -> dict[str, Any]:
    """The object in a small member of the zip; {} if it is missing or damaged."""
    try:
        document = load_json(source.texts(member), source.limits, max_characters) if member in source.members else {}
    except ImportRejected:
        return {}
    return document if isinstance(document, dict) else {}


def _checked(value: Any, levels: int) -> Any:
    """`value` with texts that UTF-8 can encode. Raises ImportRejected beyond the allowed nesting."""
    if isinstance(value, str):
        return _whole(value)
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        raise ImportRejected("too_deep")
    if isinstance(value, list):
        return [_checked(item, levels - 1) for item in value]
    return {_whole(key): _checked(item, levels - 1) for key, item in value.items()}


def _whole(text: str) -> str:
    return text if text.isprintable() else storable(text)
