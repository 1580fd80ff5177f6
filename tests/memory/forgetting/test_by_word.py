"""Forgetting in channels without pages: the reply names what was found, and only a plain yes forgets it."""

from typing import Any

import pytest

from chat.messages import add_message
from chat.models import Message, Session, Turn
from memory import turn_hooks
from memory.forgetting.by_word import answer
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.sessions import NOW, turn
from tests.table import each_row

UNSURE = "scratch what i just said"  # no rule is sure of it


def take_turn(persona: Persona, text: str, channel: str = "api", **values: Any) -> Turn:
    """A turn of one message in the open session of the channel, with our reply or a model's."""
    session = persona.sessions.filter(channel=channel).first() or Session.objects.create(
        persona=persona, channel=channel, started_at=NOW, last_message_at=NOW, **values
    )
    created = turn(session, "done")
    add_message(session, Message.Role.USER, text, NOW, turn=created)
    reply, created.xray = answer(created, NOW)
    created.save(update_fields=["xray"])
    add_message(session, Message.Role.PERSONA, reply or "I see.", NOW, turn=created)
    turn_hooks.after_turn(created.pk, NOW)
    return created


def reply_of(answered_turn: Turn) -> str:
    return answered_turn.messages.get(role=Message.Role.PERSONA).content


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("language", "memory", "text", "asks", "yes"),
    [
        (
            "en",
            "Ana is allergic to peanuts.",
            "I'm allergic to peanuts.",
            "Forget that I'm allergic to peanuts.",
            "Yes.",
        ),
        ("zh", "安娜对花生过敏。", "我对花生过敏。", "请忘记我对花生过敏这件事", "是"),
    ],
)
def test_a_yes_forgets_what_the_reply_named_and_nothing_else(
    mira: Persona, remember: Any, language: str, memory: str, text: str, asks: str, yes: str
) -> None:
    Persona.objects.filter(pk=mira.pk).update(language=language)
    mira.refresh_from_db()
    node, cat = remember(mira, memory), remember(mira, "A white cat.")
    take_turn(mira, text)
    answered_turn = take_turn(mira, asks)
    assert memory in reply_of(answered_turn)
    assert ConceptNode.objects.count() == 2
    confirmed = take_turn(mira, yes)
    assert list(ConceptNode.objects.all()) == [cat]
    assert list(Message.objects.order_by("id")) == list(confirmed.messages.order_by("id"))
    assert not ConceptNode.objects.filter(pk=node.pk).exists()


@pytest.mark.django_db
@each_row("words", ["No.", "Thanks!", "yes, I love peanuts", "What did you find?", "不", "是吗？"])
def test_anything_but_a_plain_yes_forgets_nothing(mira: Persona, remember: Any, words: str) -> None:
    Session.objects.all().delete()
    remember(mira, "Ana is allergic to peanuts.", content_hash=words)
    take_turn(mira, "Forget that I'm allergic to peanuts.")
    assert reply_of(take_turn(mira, words)) == "I see."
    assert ConceptNode.objects.exists()


@pytest.mark.django_db
def test_a_yes_to_something_else_forgets_nothing(mira: Persona, remember: Any) -> None:
    remember(mira, "Ana is allergic to peanuts.")
    take_turn(mira, "Forget that I'm allergic to peanuts.")
    take_turn(mira, "Tell me about the sea.")
    assert reply_of(take_turn(mira, "Yes.")) == "I see."
    assert ConceptNode.objects.exists()


@pytest.mark.django_db
def test_nothing_found_is_said_plainly(mira: Persona) -> None:
    reply = reply_of(take_turn(mira, "Forget everything about the lighthouse keeper."))
    assert reply == ("I found nothing about “the lighthouse keeper”, in memories or messages. Nothing was forgotten.")


@pytest.mark.django_db
def test_what_shall_not_be_remembered_is_withheld_and_a_yes_forgets_it(mira: Persona) -> None:
    take_turn(mira, "I kissed Tom.")
    reply = reply_of(take_turn(mira, "Don't remember that."))
    assert "not remembered" in reply
    assert Message.objects.get(content="I kissed Tom.").withheld
    take_turn(mira, "yes")
    assert not Message.objects.filter(content="I kissed Tom.").exists()


@pytest.mark.django_db
def test_where_there_is_a_page_a_session_off_the_record_or_no_request_a_model_replies(mira: Persona) -> None:
    for text, channel, values in (
        ("Forget that I smoke.", "web", {}),
        ("Forget that I smoke.", "secret", {"off_the_record": True}),
        ("I always forget my keys.", "api", {}),
        ("Yes.", "api", {}),
    ):
        assert reply_of(take_turn(mira, text, channel, **values)) == "I see."


@pytest.mark.django_db(transaction=True)
def test_a_message_that_may_be_meant_to_be_forgotten_is_asked_about_and_kept_until_a_yes(mira: Persona) -> None:
    take_turn(mira, "I kissed Tom at the fair.")
    asked_turn = take_turn(mira, UNSURE)
    assert "I kissed Tom at the fair." in reply_of(asked_turn)
    assert not Message.objects.filter(withheld=True).exists()
    take_turn(mira, "No.")
    take_turn(mira, "I cried in the car.")
    take_turn(mira, UNSURE)
    take_turn(mira, "Yes.")
    assert not Message.objects.filter(content="I cried in the car.").exists()
    assert Message.objects.filter(content="I kissed Tom at the fair.").exists()


@pytest.mark.django_db(transaction=True)
def test_a_cry_for_help_is_not_answered_with_a_question_about_forgetting(mira: Persona) -> None:
    take_turn(mira, "I kissed Tom at the fair.")
    assert reply_of(take_turn(mira, f"{UNSURE} I want to kill myself.")) == "I see."
