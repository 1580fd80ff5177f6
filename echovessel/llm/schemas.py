"""A pydantic type as the JSON schema that strict servers accept."""

from functools import cache
from typing import Any

from pydantic import BaseModel

from echovessel.llm.request import ResponseSchema


@cache
def schema_of(schema: type[BaseModel]) -> ResponseSchema:
    """The wire form of `schema`."""
    return ResponseSchema(schema.__name__, strict_schema(schema.model_json_schema()))


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with closed objects, every property required and no defaults.

    Both providers' strict modes ask for this; a model that must write every field forgets none. What the type
    does not demand stays optional for the validator, so a laxer server loses nothing.
    """
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    kept = {key: _strict_value(key, value) for key, value in schema.items() if key not in ("default", "title")}
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _strict_value(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: strict_schema(part) for name, part in value.items()}
    if key in ("anyOf", "oneOf", "allOf"):
        return [strict_schema(part) for part in value]
    if key == "items":
        return strict_schema(value)
    return value
