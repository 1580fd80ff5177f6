"""The measurement of turns: a server of its own, pages that talk with it, and figures that say what was measured."""

import os
import time
from pathlib import Path

import pytest
from django.conf import settings

from echovessel.db.sqlite.temporary import temporary_database
from memory.bench import turns
from persona.models import Persona
from tests.installation import SETTINGS


@pytest.mark.campaign  # `test_bench_command` does it without a server of its own
@pytest.mark.django_db(transaction=True)
@pytest.mark.installation
def test_every_turn_of_every_owner_is_timed_and_the_servers_work_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        "SECRET_KEY": settings.SECRET_KEY,  # sessions are made here and read there
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(turns, "OTHER_OWNER_NODES", 12)
    with temporary_database() as path:
        alone, together = turns.time_turns(path, owners=2, nodes=24, turns=2)
        assert Persona.objects.count() == 2
    assert (len(alone.waits), len(together.waits)) == (2, 4)
    assert all(wait > 0 for wait in (*alone.waits, *together.waits))
    assert alone.processor_ms is None or alone.processor_ms > 0


def test_the_table_says_how_long_and_how_much_work() -> None:
    told = turns.format_table(
        [turns.TurnFigures("one owner alone", [10.0, 20.0, 30.0], 7.0), turns.TurnFigures("2 at once", [40.0], None)]
    )
    assert [row.split()[-3:] for row in told][1:] == [["20", "29", "7"], ["40", "40", "-"]]


def test_the_work_of_this_process_grows_and_that_of_no_process_is_unknown() -> None:
    before = turns.processor_ms_of(os.getpid())
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    after = turns.processor_ms_of(os.getpid())
    assert before is None or (after is not None and after > before)
    assert turns.processor_ms_of(-1) is None
