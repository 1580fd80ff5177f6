"""Copies in sessions that lose no message: a model that was shown a memory may have repeated it there."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.turns import turn as turns
from echovessel.jobs.lease import Lease
from echovessel.llm import Reply, Usage
from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.consolidation import runner
from memory.consolidation.replies import of_extraction
from memory.curation import questions
from memory.forgetting import Target, plan, verify
from memory.models import ConceptNode, Extraction, ModelReply, Question, SlowCycleRun
from memory.store.deduplication import content_hash
from persona import mood
from persona.models import Persona
from tests.memory.forgetting.life import NOW, TOLD, close, entity, node, quoting, say
from tests.memory.sessions import event, extraction

pytestmark = pytest.mark.django_db
KNOWN = "Ana's cat Milo died in Lisbon."
LATER = NOW + timedelta(hours=9)


@pytest.fixture
def milo_message(mira: Persona) -> Message:
    """The message to be forgotten, in a closed session."""
    message = say(mira, TOLD, "I am sorry.")
    close(message.session, summary="")
    return message


@pytest.fixture
def milo(milo_message: Message) -> ConceptNode:
    return node(
        milo_message.persona, KNOWN, milo_message.session, quoting(milo_message), content_hash=content_hash(KNOWN)
    )


@pytest.fixture
def other(milo: ConceptNode) -> Session:
    """Another session without a message about it."""
    return say(milo.persona, "How was the week?", "Fine.", minutes=600).session


def forget_and_find(kind: Any, row: Any) -> set[str]:
    """Forget it and return the places where its words still stand."""
    receipt = forgetting.forget(plan([Target(kind, row.pk)]), None, LATER)
    assert receipt.counts
    return {hit.place for hit in verify.find_texts([TOLD, KNOWN])}


def test_what_she_wonders_in_the_same_words_goes_though_it_rests_on_something_else(
    milo: ConceptNode, other: Session
) -> None:
    bakery = node(milo.persona, "Ana works in a bakery.", other, quoting(other.messages.earliest("id")))
    run = SlowCycleRun.objects.create(persona=milo.persona, reason="first", outcome="done", at=NOW)
    wonders = [f"Is it so that {KNOWN}", "Does Ana think of Milo, who died in Lisbon, at work?", "Does she like bread?"]
    for text in wonders:
        questions.keep(run.persona, text, [bakery], NOW, run)
    assert forget_and_find("node", milo) == set()
    assert [question.text for question in Question.objects.all()] == wonders[2:]


def test_a_question_goes_with_whom_it_names(milo: ConceptNode, other: Session) -> None:
    bakery = node(milo.persona, "Ana works in a bakery.", other, quoting(other.messages.earliest("id")))
    run = SlowCycleRun.objects.create(persona=milo.persona, reason="first", outcome="done", at=NOW)
    questions.keep(run.persona, "Would Milo have liked the smell of bread?", [bakery], NOW, run)
    cat = entity(milo.persona, "Milo", milo)
    assert forget_and_find("entity", cat) == set()
    assert not Question.objects.exists()


def test_what_a_model_said_of_it_in_a_session_that_failed_goes(milo: ConceptNode, other: Session) -> None:
    Session.objects.filter(pk=other.pk).update(status="failed", failure=f"reflection: {KNOWN}")
    ModelReply.objects.create(
        persona=other.persona, session=other, step="reflection", number=0, text=f"It is about this: {KNOWN}"
    )
    Extraction.objects.create(session=other, chunk=0, through=1, answer=extraction([event(KNOWN)]))
    assert forget_and_find("node", milo) == set()
    other.refresh_from_db()
    assert other.failure == "reflection: …"


def test_what_a_model_said_of_it_in_a_session_that_is_read_goes(milo: ConceptNode, other: Session) -> None:
    own_extraction = Extraction.objects.create(
        session=other, chunk=0, through=1, applied_at=NOW, answer=extraction([event("Ana rested.")])
    )
    Extraction.objects.create(
        session=other,
        chunk=1,
        through=2,
        applied_at=NOW,
        answer=extraction([event("Ana slept.")], session_summary=KNOWN),
    )
    close(other, summary=f"They spoke of this: {KNOWN}")
    runner.publish_boundary(other, trivial=False, failed=False)
    mood.change(milo.persona, mood.Mood("quiet", 3, KNOWN), other.uuid, NOW)
    assert forget_and_find("node", milo) == set()
    own_extraction.refresh_from_db()
    assert own_extraction.answer["events"]


def test_a_reply_that_broke_off_goes_from_the_stream_though_its_turn_was_done_again(
    milo: ConceptNode, other: Session
) -> None:
    close(other, summary="")
    receive_message(milo.persona, "And now?", None, "web", LATER)
    turn = turns.claim(milo.persona.pk, LATER)
    assert turn
    assert turns.fail(turn, "timeout", f"You told me: {KNOWN}", LATER)
    Turn.objects.filter(pk=turn.pk).update(status="done", partial="")
    assert forget_and_find("node", milo) == set()
    assert OutboxEvent.objects.filter(name="chat.message.user_appended").exists()


def test_a_memory_of_the_same_words_goes_unless_it_is_of_another_day(milo: ConceptNode, other: Session) -> None:
    persona, same = milo.persona, {"content_hash": milo.content_hash}
    days = [{"event_time_start": day, "event_time_end": day} for day in ("2026-03-01", "2026-03-08")]
    ConceptNode.objects.filter(pk=milo.pk).update(**days[0])
    unproven = node(persona, KNOWN, other, status="quarantined", **same)
    another = node(persona, KNOWN, other, **same, **days[1])
    assert ("echo", unproven.pk) in {(item.why, item.key) for item in plan([Target("node", milo.pk)]).deleted}
    forget_and_find("node", milo)
    assert list(ConceptNode.objects.of(persona)) == [another]


def test_a_chosen_message_goes_with_the_replies_that_say_it_again(
    milo_message: Message, milo: ConceptNode, other: Session
) -> None:
    close(other, summary="")
    xray = {"recollections": {"chosen": [{"id": str(milo.uuid)}]}}
    say(milo.persona, "What did I tell you?", f"You told me: {TOLD}", minutes=700, xray=xray)
    say(milo.persona, "Tell me more.", "Poor cat, so far away in Lisbon.", minutes=701, xray=xray)
    assert forget_and_find("message", milo_message) == set()
    assert not Message.objects.filter(content__contains="Lisbon").exists()


def test_a_chosen_message_of_every_day_takes_no_other_with_it(mira: Persona) -> None:
    first = say(mira, "Good morning, how are you today?", "Fine.")
    second = say(mira, "Good morning, how are you today?", "Fine.", minutes=1)
    forgetting.forget(plan([Target("message", first.pk)]), None, LATER)
    assert Message.objects.filter(pk=second.pk).exists()


def test_somebody_called_like_a_common_word_takes_only_the_messages_that_call_them(
    mira: Persona, milo_message: Message
) -> None:
    moved = say(mira, "My brother Will moved to Oslo.", "Oh.", minutes=600)
    market = say(mira, "I think they will close the market.", "A pity.", minutes=601)
    spoken = node(mira, "Ana's brother Will moved to Oslo.", moved.session, quoting(moved))
    will, milo = entity(mira, "Will", spoken, kind="person"), entity(mira, "Milo", spoken, kind="pet")
    assert market.pk not in {item.key for item in plan([Target("entity", will.pk)]).deleted if item.kind == "message"}
    message_naming_milo = say(mira, "saw milo again", "Who?", minutes=602)
    assert message_naming_milo.pk in {
        item.key for item in plan([Target("entity", milo.pk)]).deleted if item.kind == "message"
    }


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_kept_in_the_very_moment_in_which_the_session_is_ours(
    other: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an answer that was generated from the words could be stored after they were forgotten."""
    Session.objects.filter(pk=other.pk).update(status="consolidating", holder="a worker")
    other.refresh_from_db()
    lease = Lease(other, lambda: NOW)
    was_one: list[bool] = []
    looked = lease.leased_row

    def leased_row() -> Any:
        was_one.append(connection.in_atomic_block)
        return looked()

    monkeypatch.setattr(lease, "leased_row", leased_row)
    of_extraction(lease, 1).save(0, Reply("{}", True, Usage(1, 0, 1)))
    assert ModelReply.objects.count() == 1
    assert was_one == [True]
