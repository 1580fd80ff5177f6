"""From a model's words to a validated value. Lenient about form, never about content.

Accepted: code fences, prose around the object, thoughts in <think> tags, trailing commas, `+4`, doubled
keys, and (where `mend` allows) an answer that breaks off. Whatever was mended still has to pass the schema.
"""

import json
import re
from typing import Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

Schema = TypeVar("Schema", bound=BaseModel)

THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
MOST_PROBLEMS = 20


class Unreadable(ValueError):
    """No reading of the text fits the schema; the message says why, in words a model can act on."""


def parsed(text: str, schema: type[Schema], *, mend: bool = True) -> Schema:
    """The value of `schema` that `text` spells. With `mend=False` broken JSON is not completed.

    >>> parsed('```json\\n{"impact": +4,}\\n```', Event).impact
    4
    """
    bare = THOUGHTS.sub("", text).strip()
    if "{" not in bare:
        raise Unreadable("There is no JSON object in the answer.")
    data = _read(bare, mend)
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        raise Unreadable(_in_words(error)) from error


def _read(text: str, mend: bool) -> Any:
    for candidate in _candidates(text):
        try:
            return json.loads(candidate, strict=False, object_pairs_hook=_last_with_content)
        except json.JSONDecodeError as error:
            problem = f"It is not valid JSON: {error}."
    if not mend:
        raise Unreadable(problem + " It may have been cut off: answer more briefly.")
    return json_repair.loads(text[text.index("{") :].split("\n```")[0])


def _candidates(text: str) -> list[str]:
    """Where the object may lie, the most literal reading first."""
    return [text, *FENCE.findall(text), text[text.index("{") : text.rfind("}") + 1]]


def _last_with_content(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose doubled keys keep the last value that says something: `"events": [...], "events":
    []`."""
    merged: dict[str, Any] = {}
    for key, value in pairs:
        if key not in merged or value not in ("", None, [], {}):
            merged[key] = value
    return merged


def _in_words(error: ValidationError) -> str:
    """One line per problem: `events.0.emotional_impact: Input should be a valid integer`."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "\n".join(
        f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"
        for problem in problems[:MOST_PROBLEMS]
    )
