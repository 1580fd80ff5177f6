"""Request bodies: JSON objects of known fields and limited size, with text that can be stored."""

import json
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja import Schema
from ninja.parser import Parser
from pydantic import AfterValidator, ConfigDict

from echovessel.language.plain_text import without_nul


class Body(Schema):
    """The body of a request. An unknown field is an error and is not ignored."""

    model_config = ConfigDict(extra="forbid")


class StrictParser(Parser):
    """Parses strict JSON only: NaN and Infinity are extensions of Python's parser."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body's value. Raises ValueError."""
        data = json.loads(request.body, parse_constant=_refuse)
        return without_nul(data) if b"\\u0000" in request.body else data


def storable_within(limit: int) -> AfterValidator:
    """Refuse what cannot be stored: values of more than `limit` characters as JSON, NaN and infinite numbers, and
    single surrogates."""

    def check(value: Any) -> Any:
        value_json = json.dumps(value, ensure_ascii=False, allow_nan=False)
        value_json.encode()
        if len(value_json) > limit:
            raise ValueError(f"at most {limit} characters as JSON")
        return value

    return AfterValidator(check)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
