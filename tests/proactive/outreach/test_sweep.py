"""A first word whose worker dies before any statement is said once: never twice, and never lost once it was shown."""

from typing import Any

import pytest

from chat.models import Message, Turn
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.models import Evidence, Filling, ModelReply
from memory.store import checks
from persona.models import Persona
from proactive.models import Outreach
from proactive.outreach import runner
from proactive.push import notify
from tests.memory.deaths import Trial, dies_at, same_wherever_it_dies, undone
from tests.memory.sessions import Clock
from tests.proactive.outreach_setup import allow, promised, talked, wanted
from tests.scripted import Script

pytestmark = pytest.mark.django_db
SAID = "How did the interview go?"


def remains() -> dict[str, Any]:
    said = Message.objects.filter(content=SAID)
    shown = OutboxEvent.objects.filter(name="chat.message.done").values_list("data__message_id", flat=True)
    return {
        "shown as it was said": list(shown) == [str(message.uuid) for message in said],
        "outreach": list(Outreach.objects.values_list("status", "holder", "lease_until", "attempts")),
        "stamped": Outreach.objects.filter(turn_uuid__in=said.values("turn__uuid")).count(),
        "said": [said.count(), Turn.objects.filter(spoke_first=True).count()],
        "paid": list(LLMCall.objects.values_list("purpose", "outcome")),
        "replies": ModelReply.objects.count(),
        "broken": checks.broken_invariants(Clock()()),
    }


@pytest.mark.parametrize("stride", [41, pytest.param(1, marks=pytest.mark.campaign)])
def test_killed_before_any_statement_it_is_said_once_and_paid_once(
    mira: Persona, remember: Any, model: Script, monkeypatch: pytest.MonkeyPatch, stride: int
) -> None:
    notices: list[int] = []
    monkeypatch.setattr(notify, "notify", lambda sent, now: notices.append(sent.pk))

    def try_out(statement: int) -> Trial:
        with undone():
            clock = Clock()
            allow(mira)
            talked(mira)
            told = remember(mira, "Mira will ask how it went.", subject="persona")
            line = mira.messages.get(role=Message.Role.PERSONA)
            Evidence.objects.create(node=told, message=line, quote=line.content, start=0, end=len(line.content))
            Filling.objects.create(parent=promised(remember, mira), child=told)
            model.structured[:] = [{"message": SAID}] * 2
            on_its_way = wanted(mira, clock())
            notices.clear()
            died = dies_at(statement, lambda: runner.run(on_its_way.pk, clock))
            clock.forward(seconds=601)
            runner.run(on_its_way.pk, clock)
            assert len(notices) <= 1
            return remains(), died

    left, _ = try_out(0)
    assert left == {
        "shown as it was said": True,
        "outreach": [("delivered", "", None, 0)],
        "stamped": 1,
        "said": [1, 1],
        "paid": [("proactive", "ok")],
        "replies": 0,
        "broken": {},
    }
    assert same_wherever_it_dies(try_out, stride) > 60
