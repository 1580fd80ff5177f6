"""The API's documentation: the errors an operation may answer with, and an example of each body and answer."""

from collections.abc import Mapping
from typing import Any

from ninja.openapi.schema import REF_TEMPLATE

from echovessel.api.problems import MEDIA_TYPE, STATUSES, Problem

JSON = "application/json"
FORM = "multipart/form-data"
_BY_FORMAT = {
    "uuid": "0f4c8f0e-5a3b-4c55-9d0e-1f6f0a7d2b11",
    "date-time": "2026-11-21T20:15:00Z",
    "date": "2026-11-21",
}
_BY_TYPE: Mapping[str, Any] = {"string": "…", "integer": 1, "number": 0.5, "boolean": False, "null": None}
_DEEPEST = 8


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI document with problems declared, and examples for every body and answer."""
    components = document["components"]["schemas"]
    components["Problem"] = Problem.model_json_schema(ref_template=REF_TEMPLATE)
    for operation in [operation for methods in document["paths"].values() for operation in methods.values()]:
        for status, why in STATUSES.items():
            problem = {"status": status, "code": "…", "title": why}
            content = {MEDIA_TYPE: {"schema": {"$ref": REF_TEMPLATE.format(model="Problem")}, "example": problem}}
            operation["responses"][str(status)] = {"description": why, "content": content}
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            content = part.get("content", {})
            for kind in {JSON, FORM} & content.keys():
                content[kind].setdefault("example", example(content[kind]["schema"], components))
    return document


def example(schema: Mapping[str, Any], components: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that fits `schema`: its own example or default, else one built from the examples of its parts."""
    if "$ref" in schema:
        return example(components[schema["$ref"].rsplit("/", 1)[-1]], components, depth)
    if schema.get("examples"):
        return schema["examples"][0]
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if "enum" in schema:
        return schema["enum"][0]
    for name in ("anyOf", "allOf", "oneOf"):
        if name in schema:
            return example(schema[name][0], components, depth)
    kind = schema.get("type")
    if kind == "object":
        return {name: example(part, components, depth + 1) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        parts = schema.get("prefixItems") or ([schema["items"]] if schema.get("items") and depth < _DEEPEST else [])
        return [example(part, components, depth + 1) for part in parts]
    return _BY_FORMAT.get(schema.get("format", ""), schema.get("minimum", _BY_TYPE.get(str(kind), {})))
