"""Structured answers: a pydantic type as the JSON schema that strict servers accept, and a model's text parsed into a
validated value of that type. Lenient about form, never about content.

Accepted: code fences, prose around the object, reasoning in its marks, trailing commas, `+4`, duplicate keys, missing
brackets at the very end, and what json_repair mends. An answer that breaks off in the middle is refused: the missing
part may be the most important. A mended answer still has to pass the schema.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from echovessel.llm.reasoning import without_reasoning
from echovessel.llm.request import ResponseSchema


@cache
def schema_of(schema: type[BaseModel]) -> ResponseSchema:
    """The `ResponseSchema` of a pydantic type."""
    return ResponseSchema(schema.__name__, strict_schema(schema.model_json_schema()))


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with closed objects, every property required and no defaults.

    The strict modes of both providers demand this; a model that must write every field omits none. Fields with a
    default stay optional for the validator, so that answers of laxer servers still fit.
    """
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    strict: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            strict[key] = {name: strict_schema(part) for name, part in value.items()}
        elif key in ("anyOf", "oneOf", "allOf"):
            strict[key] = [strict_schema(part) for part in value]
        elif key not in ("default", "title"):
            strict[key] = strict_schema(value) if key == "items" else value
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


Schema = TypeVar("Schema", bound=BaseModel)

# Longer than any knob lets a model write (32,000 tokens). Up to this length the work grows linearly.
MAX_CHARACTERS = 400_000
# json_repair's work can grow quadratically: 8,000 characters of nothing but quotes took it 3.5 s, 20,000 take 20 s,
# 100,000 five minutes (2 cores, 2026-11). A real answer of 4,000 tokens is shorter than this.
MAX_MENDABLE = 20_000
MAX_DIGITS = 300
MAX_PROBLEMS = 20

# A string, or a run of text between strings. Each character is read once.
STRING = r'"(?:[^"\\]|\\.)*+"'
TOKEN = re.compile(rf'{STRING}?|[^"]++', re.DOTALL)
TRAILING_COMMA = re.compile(r",(?=\s*+[}\]])")
OPENING = re.compile(r"\{\s*[\"'}]")
PLUS = re.compile(r"\+(?=\d)")


class Unreadable(ValueError):
    """No reading of the text fits the schema; the message tells the model why."""


def parse_answer(text: str, schema: type[Schema], *, mend: bool = True) -> Schema:
    """Parse `text` into a value of `schema`. With `mend=False`, for an answer that hit the token limit, only complete
    and valid JSON is accepted. Raises only Unreadable.

    >>> parse_answer('```json\\n{"impact": +4,}\\n```', Event).impact
    4
    """
    if len(text) > MAX_CHARACTERS:
        raise Unreadable("The answer is far too long. Answer more briefly.")
    try:
        return schema.model_validate(_read(text.strip(), mend))
    except ValidationError as error:
        # One line per problem: `events.0.emotional_impact: Input should be a valid integer`.
        problems = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_PROBLEMS]
        messages = (f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}" for problem in problems)
        raise Unreadable("\n".join(messages)) from error
    except RecursionError as error:
        raise Unreadable("The JSON is nested far too deep.") from error


def as_answer(text: str) -> str:
    """`text` without reasoning. A whole JSON object stays as it is: marks in it are text."""
    try:
        is_object = _parse_object(text.strip()) is not None
    except RecursionError:
        return text  # `parse_answer` reports the problem
    return text if is_object else without_reasoning(text)


def _read(text: str, mend: bool) -> Any:
    if (whole := _parse_object(text)) is not None:
        return whole
    bare = without_reasoning(text).strip()
    if "{" not in bare:
        raise Unreadable("There is no JSON object in the answer.")
    for candidate in _candidates(bare):
        if (parsed := _parse_object(candidate)) is not None:
            return parsed
    if not mend or _breaks_off(bare):
        raise Unreadable("It is not valid JSON, and it may have been cut off. Answer more briefly.")
    span = bare[_begin(bare) : _end(bare)]
    if len(span) > MAX_MENDABLE:
        raise Unreadable("It is not valid JSON. Answer more briefly.")
    try:
        return json_repair.loads(span)
    except ValueError as error:  # nested deeper than it can follow
        raise Unreadable("It is not valid JSON.") from error


def _parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is; None if it is none."""
    try:
        parsed = json.loads(
            text,
            strict=False,
            object_pairs_hook=_last_with_content,
            # An overlong number (Python refuses to parse those) stays text and fits no field.
            parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else digits,
            parse_constant=lambda name: None,  # NaN and the infinities become null
        )
    except json.JSONDecodeError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _candidates(text: str) -> Iterator[str]:
    """Yield the texts that may be the object, the most literal reading first."""
    yield text
    blocks = [block.partition("\n")[2] for block in text.split("```")[1::2]]
    yield from (block for block in blocks if "{" in block)
    span = text[_begin(text) : _end(text)]
    yield span
    # The text between the braces without trailing commas and plus signs outside strings, the two most frequent slips.
    tokens = (
        token if token[0] == '"' else PLUS.sub("", TRAILING_COMMA.sub("", token)) for token in TOKEN.findall(span)
    )
    yield "".join(tokens)


def _breaks_off(text: str) -> bool:
    """Whether the end is missing. Only the very last bracket may be: then everything inside the object was closed."""
    if _end(text) <= _begin(text) or text[_end(text) :].lstrip()[:1] in (",", ":"):
        return True
    tokens = TOKEN.findall(text[_begin(text) : _end(text)])
    between = "".join(token for token in tokens if not token.startswith('"'))
    open_brackets = sum(map(between.count, "{[")) - sum(map(between.count, "}]"))
    # If quotes do not pair, text between strings cannot be told from text inside strings.
    is_open_string = tokens[-1].startswith('"') and not re.fullmatch(STRING, tokens[-1], re.DOTALL)
    return open_brackets > 1 and not is_open_string


def _begin(text: str) -> int:
    """The index of the first brace that looks like an object's, else of the first brace: prose may contain braces
    too."""
    opening = OPENING.search(text)
    return opening.start() if opening else text.index("{")


def _end(text: str) -> int:
    """The index after the last closing bracket; 0 without any."""
    return max(text.rfind("}"), text.rfind("]")) + 1


def _last_with_content(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object in which a duplicate key keeps its last non-empty value: `"events": [...], "events": []`."""
    merged: dict[str, Any] = {}
    for key, value in pairs:
        if key not in merged or value not in ("", None, [], {}):
            merged[key] = value
    return merged
