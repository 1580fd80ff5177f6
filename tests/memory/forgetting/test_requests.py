""" "Forget that": a request is understood where it is one, and a preview is offered of what it points at."""

from typing import Any

import pytest
from django.utils import timezone

from chat.models import Session, Turn
from echovessel.outbox.models import OutboxEvent
from memory import afterwards
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.sessions import NOW, talk, turn


# --- after a turn -------------------------------------------------------------------------------------------------
def ended(persona: Persona, *lines: str, xray: dict[str, Any] | None = None, off_the_record: bool = False) -> Turn:
    """The turn of the last line; an earlier reply belongs to a turn of its own."""
    session = talk(persona, *lines, status="open")
    Session.objects.filter(pk=session.pk).update(off_the_record=off_the_record)
    for message in session.messages.all():
        message.turn = turn(session, "done", xray=xray or {}, finished_at=timezone.now())
        message.save(update_fields=["turn"])
    last = session.messages.last()
    assert last is not None
    assert last.turn is not None
    return last.turn


def asked() -> list[dict[str, Any]]:
    return list(OutboxEvent.objects.filter(name="memory.forget.asked").values_list("data", flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (("I kissed Tom.", "> Oh!", "Forget that, please."), 0),
        (("我亲了汤姆。", "> 哦！", "忘了这件事吧"), 0),
        (("Good morning.", "> Hello!", "I kissed Tom. Please forget I said that."), 2),
    ],
)
def test_the_line_that_is_meant_is_offered_once(mira: Persona, lines: tuple[str, ...], meant: int) -> None:
    made = ended(mira, *lines)
    afterwards.after_turn(made.pk, NOW)
    afterwards.after_turn(made.pk, NOW)
    line = made.session.messages.all()[meant]
    assert asked() == [{"turn_id": str(made.uuid), "message_ids": [str(line.uuid)], "node_ids": []}]


@pytest.mark.django_db
def test_after_a_question_what_the_reply_recalled_is_offered(mira: Persona, remember: Any) -> None:
    cat, hidden = remember(mira, "Ana has a cat."), remember(mira, "Ana has a dog.", status="hidden")
    chosen = [{"id": str(cat.uuid), "layer": "L3"}, {"id": str(hidden.uuid), "layer": "L3"}]
    lines = ("Do you remember my cat?", "> I do: you have a cat.", "Please forget that.")
    made = ended(mira, *lines, xray={"recollections": {"chosen": [*chosen, {"id": "x", "layer": "L2"}]}})
    afterwards.after_turn(made.pk, NOW)
    assert asked() == [{"turn_id": str(made.uuid), "message_ids": [], "node_ids": [str(cat.uuid)]}]


@pytest.mark.django_db
def test_where_nothing_is_meant_or_the_talk_is_off_the_record_nothing_is_offered(mira: Persona, otto: Persona) -> None:
    afterwards.after_turn(ended(mira, "Forget that.").pk, NOW)
    afterwards.after_turn(ended(otto, "I kissed Tom.", "Forget that.", off_the_record=True).pk, NOW)
    assert not asked()
    assert not ConceptNode.objects.exists()
