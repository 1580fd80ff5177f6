"""POST recall: what it refuses."""

import json
from typing import Any

import pytest
from django.test import Client

from persona.models import Persona


def ask(client: Client, persona: Persona, **body: Any) -> Any:
    client.force_login(persona.owner)
    return client.post(
        f"/api/personas/{persona.uuid}/recall", json.dumps({"turns": ["my cat"]} | body), "application/json"
    )


@pytest.mark.parametrize(
    "now",
    [
        "2026-03-05T12:00:00",
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "2200-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "soon",
        -1e30,
    ],
)
def test_a_moment_without_zone_or_out_of_all_reason_is_refused(mira: Persona, client: Client, now: Any) -> None:
    assert ask(client, mira, now=now).status_code == 422


@pytest.mark.parametrize("now", ["2026-03-05T12:00:00Z", "2026-03-05T12:00:00+08:00", "1970-01-01T00:00:00Z", None])
def test_a_moment_with_its_zone_is_taken(mira: Persona, client: Client, now: Any) -> None:
    assert ask(client, mira, now=now).status_code == 200


@pytest.mark.parametrize(
    "turns", [["x" * 20_001], ["\ud83d cat"], [], ["x"] * 21, [3]], ids=["long", "half", "none", "many", "number"]
)
def test_lines_that_nobody_wrote_are_refused(mira: Persona, client: Client, turns: list[Any]) -> None:
    assert ask(client, mira, turns=turns).status_code == 422


@pytest.mark.parametrize("turn", ["x" * 20_000, "", "\x00", "🐱"], ids=["long", "empty", "nul", "cat"])
def test_odd_lines_bring_nothing_to_mind_and_break_nothing(mira: Persona, client: Client, turn: str) -> None:
    answer = ask(client, mira, turns=[turn])
    assert (answer.status_code, answer.json()["items"]) == (200, [])
