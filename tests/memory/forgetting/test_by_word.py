"""Where there is no page, the reply says what was found, and nothing is forgotten before a plain yes."""

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


def said(persona: Persona, text: str, channel: str = "api", **values: Any) -> Turn:
    """A turn of one message in the open session of the channel; its reply is what is answered, or a model's."""
    session = persona.sessions.filter(channel=channel).first() or Session.objects.create(
        persona=persona, channel=channel, started_at=NOW, last_message_at=NOW, **values
    )
    made = turn(session, "done")
    add_message(session, Message.Role.USER, text, NOW, turn=made)
    reply, made.xray = answer(made, NOW)
    made.save(update_fields=["xray"])
    add_message(session, Message.Role.PERSONA, reply or "I see.", NOW, turn=made)
    turn_hooks.after_turn(made.pk, NOW)
    return made


def reply_of(made: Turn) -> str:
    return made.messages.get(role=Message.Role.PERSONA).content


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("language", "memory", "told", "asks", "yes"),
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
    mira: Persona, remember: Any, language: str, memory: str, told: str, asks: str, yes: str
) -> None:
    Persona.objects.filter(pk=mira.pk).update(language=language)
    mira.refresh_from_db()
    node, cat = remember(mira, memory), remember(mira, "A white cat.")
    said(mira, told)
    found = said(mira, asks)
    assert memory in reply_of(found)
    assert ConceptNode.objects.count() == 2
    confirmed = said(mira, yes)
    assert list(ConceptNode.objects.all()) == [cat]
    assert list(Message.objects.order_by("id")) == list(confirmed.messages.order_by("id"))
    assert not ConceptNode.objects.filter(pk=node.pk).exists()


@pytest.mark.django_db
@each_row("words", ["No.", "Thanks!", "yes, I love peanuts", "What did you find?", "不", "是吗？"])
def test_anything_but_a_plain_yes_forgets_nothing(mira: Persona, remember: Any, words: str) -> None:
    Session.objects.all().delete()
    remember(mira, "Ana is allergic to peanuts.", content_hash=words)
    said(mira, "Forget that I'm allergic to peanuts.")
    assert reply_of(said(mira, words)) == "I see."
    assert ConceptNode.objects.exists()


@pytest.mark.django_db
def test_a_yes_to_something_else_forgets_nothing(mira: Persona, remember: Any) -> None:
    remember(mira, "Ana is allergic to peanuts.")
    said(mira, "Forget that I'm allergic to peanuts.")
    said(mira, "Tell me about the sea.")
    assert reply_of(said(mira, "Yes.")) == "I see."
    assert ConceptNode.objects.exists()


@pytest.mark.django_db
def test_nothing_found_is_said_plainly(mira: Persona) -> None:
    reply = reply_of(said(mira, "Forget everything about the lighthouse keeper."))
    assert reply == ("I found nothing about “the lighthouse keeper”, in memories or messages. Nothing was forgotten.")


@pytest.mark.django_db
def test_what_shall_not_be_remembered_is_withheld_and_a_yes_forgets_it(mira: Persona) -> None:
    said(mira, "I kissed Tom.")
    reply = reply_of(said(mira, "Don't remember that."))
    assert "not remembered" in reply
    assert Message.objects.get(content="I kissed Tom.").withheld
    said(mira, "yes")
    assert not Message.objects.filter(content="I kissed Tom.").exists()


@pytest.mark.django_db
def test_where_there_is_a_page_a_talk_off_the_record_or_no_request_a_model_replies(mira: Persona) -> None:
    for text, channel, values in (
        ("Forget that I smoke.", "web", {}),
        ("Forget that I smoke.", "secret", {"off_the_record": True}),
        ("I always forget my keys.", "api", {}),
        ("Yes.", "api", {}),
    ):
        assert reply_of(said(mira, text, channel, **values)) == "I see."
