"""After somebody was forgotten, the next prompt does not say their name, wherever it had stood."""

from datetime import timedelta
from typing import Literal

import pytest

from chat.messages import receive_message
from chat.models import Session
from chat.prompt import assemble
from chat.turns import turn as turns
from memory import forgetting
from memory.forgetting import Choice, Target, plan
from memory.models import Question
from persona import mood
from persona.models import Persona
from tests.memory.forgetting.life import NOW, entity, node, quoting, say

pytestmark = pytest.mark.django_db


def next_prompt(persona: Persona) -> str:
    now = NOW + timedelta(days=2)
    receive_message(persona, "Do you remember who flew away?", None, "web", now)
    turn = turns.claim(persona.pk, now)
    assert turn is not None
    made = assemble.assemble(turn, now)
    turns.finish(turn, "No.", stopped=False, first_token_at=now, xray={}, now=now)
    return f"{made.system}\n{made.user}"


@pytest.mark.parametrize("messages", ["forget", "withhold"])
@pytest.mark.parametrize("name", ["Quetzal", "凤尾"])
def test_the_next_prompt_does_not_say_a_name_that_was_forgotten(
    mira: Persona, name: str, messages: Literal["forget", "withhold"]
) -> None:
    told = say(mira, f"My parrot {name} flew away on Sunday.", f"Oh no, {name}! What a lovely bird.")
    say(mira, f"I still put out seeds for {name}.", "That is a kind habit.", minutes=1)
    Session.objects.update(status="closed", summary=f"Ana misses {name}.")
    say(mira, "Good morning!", f"Good morning. Any news of {name}?", minutes=2_000)
    flew = node(mira, f"Ana's parrot {name} flew away.", told.session, quoting(told))
    node(mira, f"Ana longs for {name}.", told.session, kind="thought", on=[flew])
    entity(mira, name, flew, kind="pet", description=f"{name} is a green parrot.", described_by="slow_cycle")
    other = say(mira, "Ben came by with cake.", "How kind.", minutes=2_001)
    came = node(mira, "Ben came by with cake.", other.session, quoting(other))
    entity(mira, "Ben", came, kind="person", description=f"Ben, who liked {name}.", described_by="slow_cycle")
    mood.change(mira, mood.Mood(f"misses {name}", 3, "sad"), other.session.uuid, NOW + timedelta(days=2))
    Question.objects.create(persona=mira, text=f"Will {name} come back?", content_hash="q", asked_at=NOW)
    assert next_prompt(mira).count(name) > 2
    mira.refresh_from_db()
    forgetting.forget(plan([Target("node", flew.pk)], Choice(messages=messages)), None, NOW + timedelta(days=2))
    mira.refresh_from_db()
    assert name not in next_prompt(mira)
