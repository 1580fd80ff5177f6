"""`manage.py recall`: a table for people, one line per query for programs."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from persona.models import Persona
from tests.memory.archive.archives import SMALL, import_lines, write_archive


@pytest.fixture
def keeper(ana: User, tmp_path: Path) -> Persona:
    return import_lines(tmp_path, ana).persona


def told(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("recall", *args, stdout=out, **options)
    return out.getvalue()


def asked(path: Path) -> str:
    now = "2026-01-24T12:00:00+00:00"
    lines = (
        {"id": "q1", "turns": ["Hello.", "Do you remember my cat?"], "now": now, "relevant": ["m1"], "category": "x"},
        {"id": "q2", "turns": ["my grandmother's armchair"], "now": now, "relevant": ["m3"]},
    )
    return str(write_archive(path / "queries.jsonl", lines))


def test_every_query_gets_one_result_line(keeper: Persona, tmp_path: Path) -> None:
    rows = [
        json.loads(line)
        for line in told("mira-1", queries=Path(asked(tmp_path)), as_json=True, budget=500).splitlines()
    ]
    assert [row["id"] for row in rows] == ["q1", "q2"]
    assert rows[0]["budget"] == 500
    assert rows[0]["tokens"] == sum(item["tokens"] for item in rows[0]["items"]) <= 500
    assert set(rows[0]["elapsed_ms"]) == {"embed", "search", "rank"}
    best = rows[0]["items"][0]
    assert list(best) == ["layer", "kind", "id", "external_id", "messages", "text", "tokens", "score", "parts"]
    assert (best["external_id"], best["messages"]) == ("n1", ["m1"])


def test_twice_the_same_bytes_but_for_the_times(keeper: Persona, tmp_path: Path) -> None:
    def timeless() -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in told("mira-1", queries=Path(asked(tmp_path)), as_json=True).splitlines()]
        return [{key: value for key, value in row.items() if key != "elapsed_ms"} for row in rows]

    assert json.dumps(timeless()) == json.dumps(timeless())


def test_people_get_a_table(keeper: Persona) -> None:
    shown = told(str(keeper.uuid), "Do you remember my cat?", turn=["I am at home."])
    assert "white cat named Blackie" in shown
    assert "L3" in shown
    assert "all were filtered out" in told(str(keeper.uuid), "Gluons and chromodynamics?")


def test_an_external_id_must_be_unique(keeper: Persona, ben: User, tmp_path: Path) -> None:
    import_lines(tmp_path, ben, *SMALL)
    with pytest.raises(CommandError, match="More than one"):
        told("mira-1", "cat")
    with pytest.raises(CommandError, match="no persona"):
        told("nobody", "cat")


def test_a_broken_query_is_named(keeper: Persona, tmp_path: Path) -> None:
    path = write_archive(tmp_path / "q.jsonl", ({"id": "q1", "turns": ["cat"]}, {"id": "q2"}))
    with pytest.raises(CommandError, match="line 2"):
        told("mira-1", queries=path, as_json=True)
    with pytest.raises(CommandError, match="either"):
        told("mira-1")


def test_the_evaluation_leaves_nothing_behind(db: None, tmp_path: Path) -> None:
    write_archive(tmp_path / "archive.jsonl", SMALL)
    asked(tmp_path)
    out = io.StringIO()
    call_command("eval_recall", tmp_path, as_json=True, stdout=out, stderr=io.StringIO())
    found = json.loads(out.getvalue())["sets"][tmp_path.name]
    assert found["all"]["recall"] == 1.0
    assert not Persona.objects.exists()
    assert not User.objects.exists()
