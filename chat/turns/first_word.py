"""First words: messages that the persona writes unprompted. Each is a turn without user messages and is stored as
finished."""

from datetime import datetime
from typing import Any

from django.db import transaction

from chat.messages import PAGE_CHANNEL, add_message, open_session
from chat.models import Message, Turn
from chat.turns.turn import publish_reply, release_session
from echovessel.db.compiled_queries import insert
from persona.models import Persona


class FirstWordRefused(Exception):
    """A first word would interrupt; `code` is the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def say(persona: Persona, text: str, xray: dict[str, Any], now: datetime) -> Turn:
    """Store the first word in the open session of the page, or in a new one, and publish it, in one transaction or in
    the caller's.

    Raises FirstWordRefused("turn_in_flight") while a message of the owner waits for its reply, and
    FirstWordRefused("off_the_record") while an off-the-record session is open.
    """
    with transaction.atomic():  # takes the write lock when it begins: no message is stored meanwhile
        if persona.turns.in_flight().exists():
            raise FirstWordRefused("turn_in_flight")
        session = open_session(persona, PAGE_CHANNEL, now)
        if session.off_the_record:
            raise FirstWordRefused("off_the_record")
        turn = Turn(
            session=session,
            persona=session.persona,
            status=Turn.Status.DONE,
            spoke_first=True,
            started_at=now,
            first_token_at=now,
            finished_at=now,
            xray=xray,
        )
        insert(turn)
        reply = add_message(session, Message.Role.PERSONA, text, now, turn=turn)
        publish_reply(turn, session, reply, stopped=False)
        release_session(turn, now)
    return turn


def greet(persona: Persona, now: datetime) -> bool:
    """Store the greeting that an empty page shows as the first message, so that the owner's answer to it is understood.
    False if the persona has no greeting or has messages already."""
    # Read it again: a greeting may be written or deleted while a page is open.
    with_greeting = Persona.objects.filter(pk=persona.pk).exclude(greeting="")
    if not with_greeting.exists():
        return False
    with transaction.atomic():
        greeting = with_greeting.values_list("greeting", flat=True).first()
        if not greeting or persona.messages.exists():
            return False
        try:
            say(persona, greeting, {}, now)
        except FirstWordRefused:
            return False
        # A greeting of a card or of a person stays with the persona; a model's greeting is now a message, and is
        # forgotten like any other.
        persona.drop_model_greeting()
    return True
