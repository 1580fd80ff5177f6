"""What a program sends: a JSON object with the fields that are known, of bounded size, in words that can be stored."""

import json
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja import Schema
from ninja.parser import Parser
from pydantic import ConfigDict

from echovessel.language.plain_text import without_nul


class Body(Schema):
    """The body of a request. A field that is not known is an error, not something to pass over."""

    model_config = ConfigDict(extra="forbid")


class StrictParser(Parser):
    """Reads what JSON is and nothing beside it: NaN and Infinity are Python's own."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body's value. Raises ValueError."""
        data = json.loads(request.body, parse_constant=_refuse)
        return without_nul(data) if b"\\u0000" in request.body else data


def storable_text(value: Any, most: int) -> str:
    """`value` as JSON of at most so many characters. Raises ValueError for more, for a number without bounds, and for
    half of a surrogate pair: they cannot be stored."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    written.encode()
    if len(written) > most:
        raise ValueError(f"at most {most} characters as JSON")
    return written


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
