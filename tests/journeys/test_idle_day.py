"""A day on which nobody says anything: the whole loop turns, and asks no model."""

import pytest
from django_q.models import OrmQ

from echovessel import schedule
from echovessel.llm.models import LLMCall
from memory.consolidation import runner
from memory.models import SlowCycleRun
from memory.slow_cycle import runner as slow_cycle_runner
from persona.models import Persona
from tests.memory.sessions import Clock, cite, event, extraction, impression, talk
from tests.memory.slow_cycle.slow_cycles import answer
from tests.scripted import Script

MINUTES_A_DAY = 24 * 60
JOBS = {"memory.tasks.consolidate_session": runner.run, "memory.tasks.slow_cycle": slow_cycle_runner.run}


def minute(clock: Clock, minutes: int = 1) -> None:
    """What the schedule does in a minute, and the worker after it."""
    clock.forward(minutes=minutes)
    assert -1 not in schedule.minute().values()
    for job in OrmQ.objects.order_by("id"):
        JOBS[job.task["func"]](*job.task["args"], clock)
        job.delete()


@pytest.mark.parametrize("step", [60, pytest.param(5, marks=pytest.mark.campaign)])
def test_an_idle_persona_asks_no_model_in_24_hours(
    mira: Persona, otto: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", clock)
    session = talk(mira, "I have a cat named Milo.", "> Oh!", "He is white.", at=clock.now, status="open")
    told = event("Ana has a cat named Milo.", cite(session.messages.all()[0]))
    model.answers(extraction([told]), impression(), answer())
    for _ in range(40):
        minute(clock)
    session.refresh_from_db()
    assert (session.status, SlowCycleRun.objects.count()) == ("closed", 1)

    calls, asked = LLMCall.objects.count(), len(model.requests)
    for _ in range(MINUTES_A_DAY // step):
        minute(clock, step)
    assert (LLMCall.objects.count(), len(model.requests)) == (calls, asked) == (3, 3)
