"""The persona asks what it wonders about: where it fits, once, and the answer settles it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.models import Message, Session, Turn
from echovessel.llm.prompts import ContextRequest
from memory import context
from memory.curation import questions
from memory.models import ConceptNode, Entity, MergeProposal, Question, SlowCycleRun
from memory.turn_hooks import after_turn
from persona.models import Persona
from tests.memory.sessions import NOW, talk, turn

Remember = Callable[..., ConceptNode]
RUTH = "Did Ruth find a flat in York?"


@pytest.fixture
def wonder(mira: Persona) -> Callable[..., Question]:
    """A function that has Mira wonder about something that rests on these memories."""
    run = SlowCycleRun.objects.create(persona=mira, reason="first", outcome="done", at=NOW)

    def make(text: str, *grounds: ConceptNode, now: datetime = NOW - timedelta(days=2)) -> Question:
        question = questions.keep(run.persona, text, grounds, now, run)
        assert question is not None
        return question

    return make


def asked(session: Session, *, now: datetime = NOW, **values: Any) -> Any:
    burst = list(session.messages.filter(role=Message.Role.USER))
    texts = [message.content for message in burst]
    return context.question(
        ContextRequest(persona=session.persona, turns=texts, now=now, budget=500, burst=burst, **values)
    )


def hinted(session: Session, question: Question, now: datetime = NOW) -> Turn:
    ended = turn(session, "done")
    ended.xray = {"question": {"question": question.pk}}
    ended.save()
    after_turn(ended.pk, now)
    return ended


def test_a_question_is_asked_where_its_person_or_its_topic_comes_up(
    mira: Persona, wonder: Callable[..., Question], remember: Remember
) -> None:
    ground = remember(mira, "Ruth looks for a place of her own.")
    ruth = Entity.objects.create(persona=mira, canonical_name="Ruth", kind="person")
    ruth.aliases.create(persona=mira, text="Ruth", normalized="ruth")
    ruth.mentions.create(node=ground)
    question = wonder(RUTH, ground)
    section = asked(talk(mira, "I had tea with Ruth."))
    assert (section.name, section.xray) == ("question", {"question": question.pk})
    assert RUTH in section.text
    assert asked(talk(mira, "A flat in York costs too much.")) is not None
    for text in ("Hello!", "I was in York.", "What a day."):
        assert asked(talk(mira, text)) is None, text


def test_one_question_a_session_and_none_twice_within_a_day(
    mira: Persona, wonder: Callable[..., Question], remember: Remember
) -> None:
    first = wonder(RUTH, remember(mira, "Ruth looks for a flat in York."))
    second = wonder("Is the flat in York near the river?", remember(mira, "York has a river."))
    session = talk(mira, "That flat in York!")
    shown = asked(session).xray["question"]
    assert Question.objects.get(pk=shown).hinted_at is None  # assembling reads only
    hinted(session, Question.objects.get(pk=shown))
    assert asked(session) is None
    [other] = {first.pk, second.pk} - {shown}
    later = talk(mira, "That flat in York!", at=NOW + timedelta(hours=2))
    assert asked(later, now=NOW + timedelta(hours=2)).xray["question"] == other
    hinted(later, Question.objects.get(pk=other), NOW + timedelta(hours=2))
    third = talk(mira, "That flat in York!", at=NOW + timedelta(hours=5))
    assert asked(third, now=NOW + timedelta(hours=5)) is None
    next_day = talk(mira, "That flat in York!", at=NOW + timedelta(hours=25))
    assert asked(next_day, now=NOW + timedelta(hours=25)).xray["question"] == shown


def test_no_question_is_asked_in_a_crisis_or_off_the_record_or_beside_another(
    mira: Persona, wonder: Callable[..., Question], remember: Remember
) -> None:
    wonder(RUTH, remember(mira, "Ruth looks for a flat in York."))
    session = talk(mira, "That flat in York!")
    assert asked(session) is not None
    assert asked(session, cache={"memory.clarified": True}) is None

    a, b = (Entity.objects.create(persona=mira, canonical_name=name, kind="person") for name in ("Bo", "Boris"))
    proposal = MergeProposal.objects.create(a=a, b=b, score=0.7, reasons=[], hinted_at=session.started_at)
    assert asked(session) is None
    proposal.delete()

    Session.objects.filter(pk=session.pk).update(off_the_record=True)
    assert asked(Session.objects.get(pk=session.pk)) is None
    Session.objects.filter(pk=session.pk).update(off_the_record=False)

    mira.care_until = NOW + timedelta(hours=1)
    mira.save()
    assert asked(Session.objects.get(pk=session.pk)) is None


def test_the_answer_settles_the_question(mira: Persona, wonder: Callable[..., Question], remember: Remember) -> None:
    question = wonder(RUTH, remember(mira, "Ruth looks for a flat in York."))
    session = talk(mira, "That flat in York!", "Ruth found one near the station.", "I am tired.")
    before, after, beside = session.messages.filter(role=Message.Role.USER).order_by("id")
    hinted(session, question, before.created_at)
    told, tired = remember(mira, "Ruth found a flat near the station."), remember(mira, "Ana is tired.")
    for node, message in ((told, after), (tired, beside)):
        node.evidence.create(message=message, quote=message.content, start=0, end=len(message.content))
    assert questions.settle_answered(session, [tired], timezone.now()) == 0
    assert questions.settle_answered(session, [tired, told], timezone.now()) == 1
    question.refresh_from_db()
    assert (question.status, question.answered_by) == (Question.Status.ANSWERED, told)
    assert questions.settle_answered(session, [told], timezone.now()) == 0
