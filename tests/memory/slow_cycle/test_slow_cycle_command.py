"""`manage.py slow_cycle`: the job, run by hand."""

import io

import pytest
from django.core.management import CommandError, call_command

from memory.models import ConceptNode, SlowCycleRun
from persona.models import Persona
from tests.memory.slow_cycle.slow_cycles import Remember, answer, thought
from tests.scripted import Script


def run_command(*args: str) -> str:
    out = io.StringIO()
    call_command("slow_cycle", *args, stdout=out)
    return out.getvalue()


def test_she_thinks_about_what_is_new_and_then_nothing_is(mira: Persona, model: Script, remember: Remember) -> None:
    event = remember(mira, "Ana planted a lemon tree.")
    model.answers(answer(thoughts=[thought("Ana makes room for slow things.", event)]))
    assert f"{mira.uuid} Mira: done" in run_command(str(mira.uuid))
    assert ConceptNode.objects.filter(kind="thought", persona=mira).count() == 1
    assert "nothing is new" in run_command()


def test_her_rest_holds_by_hand_as_well(mira: Persona, model: Script, remember: Remember) -> None:
    remember(mira, "Ana planted a lemon tree.")
    model.answers(answer())
    run_command(str(mira.uuid))
    remember(mira, "Ana watered it.")
    assert "not now (before " in run_command(str(mira.uuid))
    assert SlowCycleRun.objects.count() == 1


@pytest.mark.django_db
def test_nobody_of_that_id_is_an_error() -> None:
    with pytest.raises(CommandError, match="There is no persona"):
        run_command("nobody")
