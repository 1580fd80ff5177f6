"""Memory's hooks around a turn, named in the settings.

before a prompt is assembled   store what must apply to this very reply: standing wishes, and the name the owner
                               wants to be called, so that no later message can come first
after a turn, off the hot path remember what the user asked to remember, preview what they asked to forget, request
                               an early consolidation where one cannot wait, and prepare recall for the next turn
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from chat.models import Message, Turn
from echovessel.db.compiled_queries import Query
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.requests import RequestKind, read_requests
from memory import knobs
from memory.consolidation import requests
from memory.consolidation.gate import has_strong_emotion
from memory.curation import questions
from memory.curation.lessons import Wish, learn, wish_of
from memory.curation.remember import remember_requested
from memory.entities.clarify import note_hint
from memory.forgetting.by_word import forget_confirmed
from memory.recall import prepare
from memory.requests.offer import offer

logger = logging.getLogger(__name__)
KINDS = (RequestKind.WISH, RequestKind.NAME)

_turn: Query[Turn] = Query(lambda turn: Turn.objects.filter(pk=turn).select_related("session", "persona"))
_messages: Query[Message] = Query(
    lambda turn: (
        Message.objects.filter(turn=turn, role=Message.Role.USER, withheld=False, session__off_the_record=False)
        .select_related("session", "persona__owner")
        .order_by("created_at", "id")
    )
)


_texts: Query[Any] = Query(
    lambda turn: Message.objects.filter(
        turn=turn, role=Message.Role.USER, withheld=False, session__off_the_record=False
    ).values_list("content")
)


def before_prompt(turn_pk: int, now: datetime) -> None:
    """Store the lessons of a turn's messages. Doing it twice does nothing more.

    Without an embedding model nothing is stored, and the reply does not wait: the model reads the message itself.
    """
    if not any(wishes_in(content) for (content,) in _texts(turn_pk)):
        return  # as nearly always: the messages with all that belongs to them are not needed
    for message in _messages(turn_pk):
        if wishes := wishes_in(message.content):
            try:
                learn(message, wishes, now)
            except EmbeddingUnavailable as error:
                logger.warning("a wish was not stored because there is no embedding model: %s", type(error).__name__)


def wishes_in(text: str) -> list[Wish]:
    """The wishes that a message states beyond doubt."""
    return [wish_of(text, request) for request in read_requests(text, only_sure=True) if request.kind in KINDS]


def after_turn(turn_pk: int, now: datetime) -> None:
    """Process the messages of a turn that has ended, with or without a reply. A second call changes nothing more.

    No transaction may be open. Raises EmbeddingUnavailable; the early consolidation is requested all the same.
    """
    turn = next(iter(_turn(turn_pk)), None)
    if turn is None:
        return
    note_hint(turn, now)
    questions.note_hint(turn, now)
    if not turn.session.off_the_record:
        messages = _messages(turn_pk)
        offer(turn, messages)
        forget_confirmed(turn, now)
        try:
            remember_requested(messages, now)
        finally:
            lately = now - timedelta(minutes=knobs.early_reading_minutes())
            if (
                knobs.early_reading()
                and any(
                    has_strong_emotion([message.content])
                    or any(
                        request.kind is RequestKind.REMEMBER
                        for request in read_requests(message.content, only_sure=True)
                    )
                    for message in messages
                )
                and not turn.session.extractions.filter(created_at__gt=lately).exists()
            ):
                requests.request_early_consolidation(turn.session, now)
    prepare(turn.persona_id)
