"""Any archive is imported and sound, or the broken line is named and nothing is stored."""

import base64
import io
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import transaction

from chat.models import Message, Session
from echovessel.embeddings import embedding
from memory.archive import ArchiveError, import_archive, write
from memory.models import ConceptNode
from memory.store import checks
from persona import mood
from persona.models import Persona
from tests.memory.archive.test_whole_archive import everything, merged  # noqa: F401
from tests.memory.sessions import NOW

SEED = 7
DEEP: Any = [1]
for _ in range(200):
    DEEP = [DEEP]
NOTHING: list[Any] = [None, True, False, "", " ", [], {}, [[]], [None], [""], {"": ""}]
NUMBERS = [0, -1, 1, 7, 1.5, -0.0, 1e308, 2**31, 2**63, 10**30, float("nan"), float("inf")]
WORDS = ["x", "小黑", "a\0b", "\ud800", "\u202e", "x" * 130, "x" * 300, "x" * 30_000, "0" * 64, "AAAA", "../etc"]
TIMES = [
    *("2026-01-03", "2026-01-03T10:00:00", "2026-01-03T10:00:00Z", "2026-01-03T10:00:00.123456789+08:00"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01", "9999-12-31", 1_700_000_000, -1e11),
]
THINGS = [{"a": float("nan")}, {"a": "\ud800"}, {"\0": "\0"}, DEEP, {"a": DEEP}, [["a", "b"]], ["x", "x"], [1]]
VALUES = [*NOTHING, *NUMBERS, *WORDS, *TIMES, *THINGS]
ON_VALUES = ("value", "id", "delete", "add", "type", "twice")
WAYS = (*("value", "id") * 4, "delete", "add", "type", "twice", "line_twice", "line_gone", "bytes", "cut")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an object, as keys from the outermost in."""
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*at, key))


def mutate(lines: list[bytes], dice: random.Random) -> tuple[list[bytes], str]:
    """The lines with one of them mutated, and a description of the mutation."""
    number, way = dice.randrange(len(lines)), dice.choice(WAYS)
    line = lines[number]
    if way in ON_VALUES:
        replacement = [_with_another_value(lines, line, way, dice)]
    elif way == "line_twice":
        replacement = [line, line]
    elif way == "line_gone":
        replacement = []
    elif way == "bytes":
        at = dice.randrange(len(line))
        replacement = [line[:at] + bytes([dice.randrange(256)]) + line[at + 1 :]]
    else:
        replacement = [line[: dice.randrange(len(line))] + dice.choice([b"", b"\n"])]
    return [*lines[:number], *replacement, *lines[number + 1 :]], f"{way} in line {number + 1}: {replacement!r:.600}"


def _with_another_value(lines: list[bytes], line: bytes, way: str, dice: random.Random) -> bytes:
    data = json.loads(line)
    *outer, last = dice.choice(list(places(data)))
    inner = data
    for key in outer:
        inner = inner[key]
    if way == "value":
        inner[last] = dice.choice(VALUES)
    elif way == "id":
        inner[last] = dice.choice([data["id"] for data in map(json.loads, lines) if "id" in data])
    elif way == "delete":
        del inner[last]
    elif way == "type":
        data["type"] = json.loads(dice.choice(lines))["type"]
    elif way == "add" and isinstance(inner, dict):
        inner[dice.choice(["unknown", "x\ud800", "status", "by"])] = dice.choice(VALUES)
    text = json.dumps(data)
    if way == "twice":
        text = f"{text[:-1]}, {json.dumps({dice.choice(list(data)): dice.choice(VALUES)})[1:]}"
    return text.encode() + b"\n"


def import_outcome(lines: list[bytes], owner: User, *, skip_bad: bool) -> str:
    """The outcome of importing the lines: "taken" or "refused"; anything else is an error."""
    try:
        persona = import_archive(io.BytesIO(b"".join(lines)), owner, skip_bad=skip_bad).persona
    except ArchiveError as error:
        is_placed = str(error).startswith("line ") or str(error) == "the archive has no persona line"
        is_nothing = not any(model._default_manager.exists() for model in (Persona, Session, Message, ConceptNode))
        return "refused" if is_placed and is_nothing else f"{error}, and left something: {not is_nothing}"
    if violations := checks.broken_invariants(NOW):
        return f"unsound: {violations}"
    mood.current(persona, NOW)
    first = list(write.archive_lines(persona, NOW))
    Persona.objects.all().delete()
    again = import_archive(io.BytesIO(b"".join(first)), owner).persona
    changes = [
        (line, other) for line, other in zip(first, write.archive_lines(again, NOW), strict=True) if line != other
    ]
    return f"other: {changes[0]}" if changes else "taken"


def embed_without_model(texts: list[str], **_: bool) -> np.ndarray:
    """Vectors without a model."""
    towards = np.zeros((len(texts), embedding.DIMENSION), dtype=np.float32)
    towards[:, 3] = 1
    return towards


HUGE = base64.b64encode(np.full(embedding.DIMENSION, 3e38, dtype="<f4").tobytes()).decode()


@pytest.mark.parametrize(
    ("kind", "change", "outcome"),
    [
        ("node", {"embedding": HUGE}, "refused"),
        ("outreach", {"wanted_at": "0001-01-01T00:00:00+14:00"}, "refused"),
        ("message", {"content": "..."}, "taken"),
    ],
    ids=["squares beyond float32", "a moment before the calendar", "a message without a word"],
)
def test_a_value_at_the_edge_is_refused_or_sound(
    ana: User,
    merged: Persona,  # noqa: F811
    monkeypatch: Any,
    kind: str,
    change: dict[str, Any],
    outcome: str,
) -> None:
    monkeypatch.setattr(embedding, "embed", embed_without_model)
    records = [json.loads(line) for line in write.archive_lines(merged, NOW)]
    Persona.objects.all().delete()
    changed = next(record for record in records if record["type"] == kind and record.keys() >= change.keys())
    changed |= change
    assert import_outcome([json.dumps(record).encode() + b"\n" for record in records], ana, skip_bad=False) == outcome


@pytest.mark.parametrize("rounds", [3, pytest.param(2_000, marks=pytest.mark.campaign)])
def test_any_one_line_may_be_anything(ana: User, merged: Persona, monkeypatch: Any, rounds: int) -> None:  # noqa: F811
    monkeypatch.setattr(embedding, "embed", embed_without_model)
    whole = list(write.archive_lines(merged, NOW))
    Persona.objects.all().delete()
    dice, wrong = random.Random(SEED), []
    for number in range(rounds):
        lines, how = mutate(whole, dice)
        with transaction.atomic():
            try:
                outcome = import_outcome(lines, ana, skip_bad=number % 3 == 0)
            except Exception as error:  # noqa: BLE001  # whatever is raised is told with what raised it
                outcome = f"{error!r}"
            transaction.set_rollback(True)
        if outcome not in ("taken", "refused"):
            wrong.append(f"{outcome[:400]} <- {how}")
    assert not wrong, "\n".join(wrong)
