"""A first word: a line of hers that answers nothing. A turn without lines of the user, done as soon as it is there."""

from datetime import datetime
from typing import Any

from django.db import transaction

from chat.messages import PAGE_CHANNEL, add_message, open_session
from chat.models import Message, Turn
from chat.turns.turn import publish_done, release_session
from echovessel.db.compiled_queries import insert
from persona.models import Persona


class NotNow(Exception):
    """It would interrupt: `code` says what."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def say(persona: Persona, text: str, xray: dict[str, Any], now: datetime) -> Turn:
    """Store it in the open talk of the page, or in a new one, and publish it: all in one transaction, or in the
    caller's.

    Raises NotNow("turn_in_flight") while a line of the user waits for its reply, and NotNow("off_the_record") while a
    talk goes on of which nothing is to remain.
    """
    with transaction.atomic():  # it takes the write lock when it begins: no line comes in meanwhile
        if persona.turns.in_flight().exists():
            raise NotNow("turn_in_flight")
        session = open_session(persona, PAGE_CHANNEL, now)
        if session.off_the_record:
            raise NotNow("off_the_record")
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
        publish_done(turn, session, reply, stopped=False)
        release_session(turn, now)
    return turn


def greet(persona: Persona, now: datetime) -> bool:
    """Store the persona's own greeting, which an empty page shows, as the first thing that was said; False where it has
    none, or something was said before. What the owner answers to it is then understood."""
    # Read anew: a greeting may be written or forgotten while a page is open.
    with_greeting = Persona.objects.filter(pk=persona.pk).exclude(greeting="")
    if not with_greeting.exists():
        return False
    with transaction.atomic():
        greeting = with_greeting.values_list("greeting", flat=True).first()
        if not greeting or persona.messages.exists():
            return False
        try:
            say(persona, greeting, {}, now)
        except NotNow:
            return False
        # One of a card or of a person belongs to the persona; a model's is a message from now on, forgotten like any.
        persona.drop_model_greeting()
    return True
