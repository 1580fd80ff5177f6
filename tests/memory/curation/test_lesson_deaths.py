"""Deaths at any statement of creating, changing, undoing, accepting or forgetting a wish leave all of it or nothing;
repeated, the action ends the same, and a forgotten wish leaves no byte."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from chat.messages import receive_message
from chat.models import Turn
from chat.turns import turn as turns
from echovessel.outbox.models import OutboxEvent
from memory import forgetting, turn_hooks
from memory.curation import actions
from memory.curation.correct import Correction, correct, restore
from memory.curation.lessons import Wish, add_lesson
from memory.erasure import receipts
from memory.forgetting import verify
from memory.models import ConceptNode, Evidence, Lesson, NodeText, NodeVector, NodeVersion
from memory.requests import offer, withhold
from memory.turn_hooks import before_prompt
from persona.models import Persona
from tests.memory.deaths import dies_at, undone

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


def create_turn(persona: Persona, *messages: str) -> Turn:
    """A turn with these messages, whose prompt is not assembled yet."""
    for text in messages:
        receive_message(persona, text, uuid4(), "web", NOW)
    claimed = turns.claim(persona.pk, NOW)
    assert claimed is not None
    return Turn.objects.get(pk=claimed.pk)


def finish_turn(persona: Persona, *messages: str) -> Turn:
    turn = create_turn(persona, *messages)
    turns.finish(turns.claim(persona.pk, NOW) or turn, "Yes.", stopped=False, first_token_at=NOW, xray={}, now=NOW)
    turn_hooks.after_turn(turn.pk, NOW)
    return turn


def remains(persona: Persona) -> dict[str, Any]:
    """All rows of a wish, for comparison."""
    persona.refresh_from_db()
    return {
        "lessons": sorted(Lesson.objects.values_list("description", "scope", "condition", "status", "is_boundary")),
        "versions": sorted(NodeVersion.objects.values_list("version", "description")),
        "evidence": sorted(Evidence.objects.values_list("node__description", "quote", "start")),
        "vectors": sorted(bytes(vector.embedding) for vector in NodeVector.objects.all()),
        "words": sorted(NodeText.objects.values_list("body", flat=True)),
        "called": (persona.user_display_name, persona.asked_name),
        "withheld": sorted(persona.messages.filter(withheld=True).values_list("content", flat=True)),
        "told": Counter(OutboxEvent.objects.values_list("name", flat=True)),
        "open": [item["event"] for item in offer.open_offers(persona)],
    }


def learn_wishes(persona: Persona) -> Callable[[], Any]:
    turn = create_turn(persona, "Call me Sammy.", "When I'm sad, just listen.")
    return lambda: before_prompt(turn.pk, NOW)


def change_wish(persona: Persona) -> Callable[[], Any]:
    lesson = add_lesson(persona, Wish("call me Sammy", "name", "Sammy"), NOW)
    change = Correction(description="call me Sam", condition="Sam")
    return lambda: Lesson.objects.get().description == change.description or correct(lesson, change, None, NOW)


def undo_change(persona: Persona) -> Callable[[], Any]:
    lesson = add_lesson(persona, Wish("call me Sammy", "name", "Sammy"), NOW)
    correct(lesson, Correction(description="call me Sam", condition="Sam"), None, NOW)
    version = NodeVersion.objects.get()
    return lambda: NodeVersion.objects.count() > 1 or restore(lesson, version, None, NOW)


def pause_wish(persona: Persona) -> Callable[[], Any]:
    lesson = add_lesson(persona, Wish("call me Sammy", "name", "Sammy"), NOW)
    return lambda: actions.hide(lesson)


def ask_about_wish(persona: Persona) -> Callable[[], Any]:
    turn = create_turn(persona, "Please steer clear of the topic of kids.")
    return lambda: turn_hooks.after_turn(turn.pk, NOW)


def accept_wish(persona: Persona) -> Callable[[], Any]:
    turn = finish_turn(persona, "Please steer clear of the topic of kids.")
    return lambda: offer.accept(persona, turn.uuid, NOW)


def withhold_message(persona: Persona) -> Callable[[], Any]:
    turn = create_turn(persona, "I kissed Tom.", "Forget that.")
    return lambda: turn_hooks.after_turn(turn.pk, NOW)


def restore_message(persona: Persona) -> Callable[[], Any]:
    turn = finish_turn(persona, "I kissed Tom.", "Forget that.")
    return lambda: offer.open_offers(persona) and withhold.restore_message(persona, turn.uuid)


# Valid states between all and nothing after a death: the first of two wishes, and a wish with its offer still open.
HALVES = {"learn_wishes": 1, "accept_wish": 1}


ACTIONS = [
    learn_wishes,
    change_wish,
    undo_change,
    pause_wish,
    ask_about_wish,
    accept_wish,
    withhold_message,
    restore_message,
]
stride = pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.campaign)])


@pytest.mark.django_db
@stride
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_a_death_at_any_statement_leaves_all_or_nothing_and_done_again_it_ends_the_same(
    mira: Persona, action: Callable[[Persona], Callable[[], Any]], stride: int
) -> None:
    prepared = action(mira)
    before = remains(mira)
    with undone():
        prepared()
        after = remains(mira)
    assert after != before
    between: list[Any] = []
    statement, died = 1, True
    while died:
        with undone():
            died = dies_at(statement, prepared)
            state = remains(mira)
            if state not in (before, after) and state not in between:
                between.append(state)
            prepared()
            assert remains(mira) == after, statement
        statement += stride
    assert statement > 5
    assert len(between) <= HALVES.get(action.__name__, 0), between


@pytest.mark.django_db(transaction=True)
@stride
def test_killed_while_it_is_forgotten_a_wish_is_there_or_leaves_no_byte(mira: Persona, stride: int) -> None:
    statement, died, rounds = 1, True, 0
    while died:
        word, rounds = f"Qolobish{rounds:02}", rounds + 1
        for text in (f"Call me Zebra{word}.", f"When I'm sad, speak {word} with me."):
            ended_turn = create_turn(mira, text)
            before_prompt(ended_turn.pk, NOW)
            turns.finish(ended_turn, "Yes.", stopped=False, first_token_at=NOW, xray={}, now=NOW)
        name = Lesson.objects.get(persona=mira, scope="name")
        correct(name, Correction(description=f"Do call me Zebra{word}"), None, NOW)
        targets = [forgetting.Target("node", node.pk) for node in Lesson.objects.filter(persona=mira)]
        assert len(targets) == 2
        planned, later = forgetting.plan(targets), NOW + timedelta(days=3)
        died = dies_at(statement, lambda: forgetting.forget(planned, None, later))  # noqa: B023  (called at once)
        assert Lesson.objects.filter(persona=mira).count() in (0, 2)
        if remaining_targets := [forgetting.Target("node", node.pk) for node in Lesson.objects.filter(persona=mira)]:
            forgetting.forget(forgetting.plan(remaining_targets), None, later)
        receipts.finish_pending(later)  # the job of every minute
        mira.refresh_from_db()
        assert (mira.user_display_name, mira.asked_name) == ("Ana", "")
        assert not ConceptNode.objects.filter(persona=mira, kind="lesson").exists()
        assert verify.find_texts([f"Zebra{word}", word]) == []
        statement += 7 * stride
    assert rounds > 3
