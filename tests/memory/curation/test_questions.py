"""Open questions of the persona: asked where they fit, once, and settled by the answer."""

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
def create_question(mira: Persona) -> Callable[..., Question]:
    """A function that creates an open question of Mira with these memories as its grounds."""
    run = SlowCycleRun.objects.create(persona=mira, reason="first", outcome="done", at=NOW)

    def make(text: str, *grounds: ConceptNode, now: datetime = NOW - timedelta(days=2)) -> Question:
        question = questions.keep(run.persona, text, grounds, now, run)
        assert question is not None
        return question

    return make


def question_section(session: Session, *, now: datetime = NOW, **values: Any) -> Any:
    burst = list(session.messages.filter(role=Message.Role.USER))
    texts = [message.content for message in burst]
    return context.question(
        ContextRequest(persona=session.persona, turns=texts, now=now, budget=500, burst=burst, **values)
    )


def end_turn_with_hint(session: Session, question: Question, now: datetime = NOW) -> Turn:
    ended = turn(session, "done")
    ended.xray = {"question": {"question": question.pk}}
    ended.save()
    after_turn(ended.pk, now)
    return ended


def test_a_question_is_asked_where_its_person_or_its_topic_comes_up(
    mira: Persona, create_question: Callable[..., Question], remember: Remember
) -> None:
    ground = remember(mira, "Ruth looks for a place of her own.")
    ruth = Entity.objects.create(persona=mira, canonical_name="Ruth", kind="person")
    ruth.aliases.create(persona=mira, text="Ruth", normalized="ruth")
    ruth.mentions.create(node=ground)
    question = create_question(RUTH, ground)
    section = question_section(talk(mira, "I had tea with Ruth."))
    assert (section.name, section.xray) == ("question", {"question": question.pk})
    assert RUTH in section.text
    assert question_section(talk(mira, "A flat in York costs too much.")) is not None
    for text in ("Hello!", "I was in York.", "What a day."):
        assert question_section(talk(mira, text)) is None, text


def test_one_question_a_session_and_none_twice_within_a_day(
    mira: Persona, create_question: Callable[..., Question], remember: Remember
) -> None:
    first = create_question(RUTH, remember(mira, "Ruth looks for a flat in York."))
    second = create_question("Is the flat in York near the river?", remember(mira, "York has a river."))
    session = talk(mira, "That flat in York!")
    question_id = question_section(session).xray["question"]
    assert Question.objects.get(pk=question_id).hinted_at is None  # assembling reads only
    end_turn_with_hint(session, Question.objects.get(pk=question_id))
    assert question_section(session) is None
    [other] = {first.pk, second.pk} - {question_id}
    later = talk(mira, "That flat in York!", at=NOW + timedelta(hours=2))
    assert question_section(later, now=NOW + timedelta(hours=2)).xray["question"] == other
    end_turn_with_hint(later, Question.objects.get(pk=other), NOW + timedelta(hours=2))
    third = talk(mira, "That flat in York!", at=NOW + timedelta(hours=5))
    assert question_section(third, now=NOW + timedelta(hours=5)) is None
    next_day = talk(mira, "That flat in York!", at=NOW + timedelta(hours=25))
    assert question_section(next_day, now=NOW + timedelta(hours=25)).xray["question"] == question_id


def test_no_question_is_asked_in_a_crisis_or_off_the_record_or_beside_another(
    mira: Persona, create_question: Callable[..., Question], remember: Remember
) -> None:
    create_question(RUTH, remember(mira, "Ruth looks for a flat in York."))
    session = talk(mira, "That flat in York!")
    assert question_section(session) is not None
    assert question_section(session, cache={"memory.clarified": True}) is None

    a, b = (Entity.objects.create(persona=mira, canonical_name=name, kind="person") for name in ("Bo", "Boris"))
    proposal = MergeProposal.objects.create(a=a, b=b, score=0.7, reasons=[], hinted_at=session.started_at)
    assert question_section(session) is None
    proposal.delete()

    Session.objects.filter(pk=session.pk).update(off_the_record=True)
    assert question_section(Session.objects.get(pk=session.pk)) is None
    Session.objects.filter(pk=session.pk).update(off_the_record=False)

    mira.care_until = NOW + timedelta(hours=1)
    mira.save()
    assert question_section(Session.objects.get(pk=session.pk)) is None


def test_the_answer_settles_the_question(
    mira: Persona, create_question: Callable[..., Question], remember: Remember
) -> None:
    question = create_question(RUTH, remember(mira, "Ruth looks for a flat in York."))
    session = talk(mira, "That flat in York!", "Ruth found one near the station.", "I am tired.")
    before, after, unrelated = session.messages.filter(role=Message.Role.USER).order_by("id")
    end_turn_with_hint(session, question, before.created_at)
    answer_node, tired = remember(mira, "Ruth found a flat near the station."), remember(mira, "Ana is tired.")
    for node, message in ((answer_node, after), (tired, unrelated)):
        node.evidence.create(message=message, quote=message.content, start=0, end=len(message.content))
    assert questions.settle_answered(session, [tired], timezone.now()) == 0
    assert questions.settle_answered(session, [tired, answer_node], timezone.now()) == 1
    question.refresh_from_db()
    assert (question.status, question.answered_by) == (Question.Status.ANSWERED, answer_node)
    assert questions.settle_answered(session, [answer_node], timezone.now()) == 0
