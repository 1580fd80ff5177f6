"""The part of JSON Schema (2020-12) that the schemas among the files use; an unknown keyword raises an error."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

_KINDS = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
    "number": (int, float),
}  # fmt: skip
_JUDGED = {
    "$schema",
    "$defs",
    "type",
    "const",
    "enum",
    "pattern",
    "format",
    "minLength",
    "minimum",
    "maximum",
    "required",
}
_FOLLOWED = {"properties", "additionalProperties", "items", "$ref", "if", "then", "else"}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = "") -> Iterator[str]:
    """Where and how `value` breaks the schema."""
    root = root or schema
    if unknown := set(schema) - _JUDGED - _FOLLOWED:
        raise ValueError(f"unknown words: {unknown}")
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
    yield from (f"{at}: {fault} {value!r}" for fault in _own_faults(value, schema))
    if isinstance(value, dict):
        yield from _in_object(value, schema, root, at)
    for number, item in enumerate(value if isinstance(value, list) else ()):
        yield from faults(item, schema.get("items", {}), root, f"{at}[{number}]")
    if "if" in schema:
        branch = "else" if any(faults(value, schema["if"], root)) else "then"
        yield from faults(value, schema.get(branch, {}), root, at)


def _in_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    yield from (f"{at} lacks {name}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in properties:
            yield from faults(item, properties[name], root, f"{at}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{at} has {name}"


def _own_faults(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"is no {kinds}"
    if "const" in schema and value != schema["const"]:
        yield f"is not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"is none of {schema['enum']}"
    if isinstance(value, str):
        yield from _of_text(value, schema)
    elif isinstance(value, int | float) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield "is out of range"


def _of_text(value: str, schema: dict[str, Any]) -> Iterator[str]:
    if not re.search(schema.get("pattern", ""), value):
        yield f"does not match {schema['pattern']}"
    if len(value) < schema.get("minLength", 0):
        yield "is too short"
    if schema.get("format") == "date-time" and datetime.fromisoformat(value).tzinfo is None:
        yield "has no zone"


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
