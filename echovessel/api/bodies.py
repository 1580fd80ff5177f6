"""What a program sends: a JSON object with the fields that are known, of bounded size, in words that can be stored."""

import json
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja import Schema
from ninja.parser import Parser
from pydantic import AfterValidator, ConfigDict

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


def storable_within(limit: int) -> AfterValidator:
    """Refuse values of more than `limit` characters as JSON, numbers without bounds, and halves of surrogate pairs:
    they cannot be stored."""

    def check(value: Any) -> Any:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
        written.encode()
        if len(written) > limit:
            raise ValueError(f"at most {limit} characters as JSON")
        return value

    return AfterValidator(check)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
