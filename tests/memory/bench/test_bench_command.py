"""`manage.py bench` without a WHAT: every figure of its contract, and nobody's own database touched."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from memory.bench import full_benchmark, server, turns
from persona.models import Persona
from tests.installation import Installation

SMALL = {"nodes": 40, "messages": 96, "personas": 2, "queries": 5, "owners": 2, "turns": 2}
NOISE_LENGTH = {"p50": "float", "p95": "float"}
CONTRACT = {
    "nodes": "int",
    "messages": "int",
    "recall_ms": dict.fromkeys(["embed", "search", "rank", "without_embed"], NOISE_LENGTH),
    "vector_recall_at_40_vs_exact": "float",
    "first_token_ms": NOISE_LENGTH,
    "import_nodes_per_s": "float",
    "database_mb": "float",
    "rss_mb": "float",
}


def shape(value: object) -> Any:
    """Which keys there are, and where numbers stand."""
    return {name: shape(inner) for name, inner in value.items()} if isinstance(value, dict) else type(value).__name__


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "rss_mb", lambda path, persona, line: 500.0)
    monkeypatch.setattr(server, "check_seconds", lambda path: (1.0, 0.9))
    monkeypatch.setattr(server, "start_seconds", lambda path: 2.0)
    turn_figures = {"one owner alone": (50.04, 60.0), "2 owners at once": (300.0, 400.0)}
    monkeypatch.setattr(turns, "measure", lambda path, owners, nodes, turns: turn_figures)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("no_server")
def test_every_figure_of_the_contract_is_told_and_ones_own_database_left_alone(mira: Persona) -> None:
    name = connection.settings_dict["NAME"]
    out = io.StringIO()
    call_command("bench", as_json=True, stdout=out, **SMALL)
    figures = json.loads(out.getvalue())
    assert shape(figures) | CONTRACT == shape(figures)
    assert (figures["nodes"], figures["messages"]) == (40, 96)
    assert figures["first_token_ms"] == {"p50": 50.0, "p95": 60.0}
    assert figures["isolation"]["same_results"]
    assert figures["yardstick_ms"] > 0
    times, yardstick_ms = figures["multiples"], figures["yardstick_ms"]
    for step, value in figures["recall_ms"].items():
        assert times["recall"][step]["p95"] == pytest.approx(value["p95"] / yardstick_ms, abs=0.01)
    assert times["recall_by_question"].keys() == figures["recall_ms_by_question"].keys()
    assert times["first_token"]["p50"] == pytest.approx(50 / figures["yardstick_later_ms"], abs=0.01)
    assert times["first_page"] == pytest.approx(2_000 / figures["yardstick_later_ms"], abs=0.01)
    assert "rss_mb" not in times
    assert figures["recall_ms_by_question"].keys() == {"one line", "several lines", "with days"}

    shown = "\n".join(full_benchmark.format_table(figures))
    assert "40 memories, 96 lines" in shown
    assert "yardstick, one exact search" in shown
    assert "the same results" in shown
    assert "first token, 2 owners at once" in shown

    assert connection.settings_dict["NAME"] == name
    assert [*User.objects.all(), *Persona.objects.all()] == [mira.owner, mira]


@pytest.mark.campaign
def test_the_server_is_measured_as_well(tmp_path: Path) -> None:
    house = Installation(tmp_path)
    house.manage("migrate")
    own = Path(house.env["DATA_DIR"]) / "echovessel.sqlite3"
    before = own.read_bytes()
    sizes = [word for name, size in SMALL.items() for word in (f"--{name}", str(size))]
    figures = json.loads(house.manage("bench", *sizes, "--json").stdout)
    assert own.read_bytes() == before
    assert 100 < figures["rss_mb"] < 2_000
    assert figures["check_s"] > 0
    assert figures["check_cpu_s"] > 0
    assert figures["first_page_s"] > 0
