"""Another process holds the database: remembering waits, and nothing is lost or double when it goes on."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection

from echovessel.llm.models import LLMCall
from memory.consolidation import apply, extraction, reflection, runner
from memory.consolidation.runner import Outcome
from memory.models import ConceptNode, Evidence, Extraction, ModelReply, ReflectionRun
from persona.models import MoodChange, Persona
from persona.onboarding.creation import create_persona
from tests.memory.sessions import Clock, cite, event, impression, talk
from tests.memory.sessions import extraction as extracted
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)
WAITS_S = 0.3
HOLD = """
import sys, time
from sqlcipher3 import dbapi2
database = dbapi2.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


class Burglar:
    """A process that takes the write lock and keeps it, for some seconds or until it is caught."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def take(self, seconds: float = 60) -> None:
        name = str(connection.settings_dict["NAME"])
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, name, str(seconds)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"

    def catch(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def burglar() -> Iterator[Burglar]:
    """Somebody else at the database, of which our own connection is patient for WAITS_S only."""
    options = connection.settings_dict["OPTIONS"]
    patient = options.get("timeout")
    connection.close()
    options["timeout"] = WAITS_S
    burglar = Burglar()
    yield burglar
    burglar.catch()
    connection.close()
    options.pop("timeout") if patient is None else options.update(timeout=patient)


@pytest.fixture
def zoe() -> Persona:
    return create_persona(User.objects.create_user("zoe"), "Mira", user_name="Zoe")


def prepared(persona: Persona, model: Script) -> Any:
    """A talk with one event, and the model's answers as often as they are asked for."""
    session = talk(persona, "I moved to Lyon with my cat Milo.", "> Oh!")
    [said, _] = session.messages.order_by("id")
    answer = {"extraction": extracted([event("Zoe moved to Lyon.", cite(said))]), "reflection": impression("Lyon.")}

    def answered(request: Any) -> Any:
        found = answer[request.purpose]
        return found(request) if callable(found) else found

    model.structured[:] = [answered] * 10
    return session


def remains() -> tuple[int, ...]:
    kept = (ConceptNode, Evidence, Extraction, ReflectionRun, MoodChange)
    return tuple(one.objects.count() for one in kept)


STEPS: dict[str, tuple[Any, str]] = {
    "before it is acquired": (runner.Lease, "acquire"),
    "before the model is asked": (extraction, "known_memories"),
    "before it is written": (apply, "prepare_answer"),
    "before it is reflected on": (reflection, "plan_reflection"),
    "before it is closed": (runner.Consolidation, "close"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_lock_that_outlasts_our_patience_costs_a_wait_and_nothing_else(
    zoe: Persona, model: Script, clock: Clock, burglar: Burglar, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    session = prepared(zoe, model)
    where, name = STEPS[step]
    real: Callable[..., Any] = getattr(where, name)

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        if burglar.process is None:
            burglar.take()
        return real(*args, **kwargs)

    monkeypatch.setattr(where, name, interrupted)
    with pytest.raises(OperationalError, match="locked"):
        runner.run(session.pk, clock)
    burglar.catch()
    clock.forward(seconds=601)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert remains() == (2, 1, 1, 1, 1)
    assert not ModelReply.objects.exists()


def test_an_answer_is_kept_though_the_database_is_busy_when_it_comes(
    zoe: Persona, model: Script, clock: Clock, burglar: Burglar
) -> None:
    """The lock lasts longer than one attempt to keep it, as 30 s outlast 20."""
    session = prepared(zoe, model)
    answered = model.structured[0]

    def busy(request: Any) -> Any:
        burglar.take(seconds=1.5 * WAITS_S)
        return answered(request)

    model.structured[0] = busy
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert remains() == (2, 1, 1, 1, 1)
    assert sorted(LLMCall.objects.values_list("purpose", "outcome")) == [("extraction", "ok"), ("reflection", "ok")]
