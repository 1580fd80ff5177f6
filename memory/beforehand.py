"""What a message asks that must hold from the next word on: standing wishes, and the name the owner wants to be called.
Done before the prompt of its turn is assembled, so that no later message can come first."""

import logging
from datetime import datetime

from chat.models import Message
from echovessel.db.compiled_queries import Query
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.requests import RequestKind, read_requests
from memory.curation.lessons import Wish, learn, wish_of

logger = logging.getLogger(__name__)
KINDS = (RequestKind.WISH, RequestKind.NAME)

_messages: Query[Message] = Query(
    lambda turn: (
        Message.objects.filter(turn=turn, role=Message.Role.USER, withheld=False, session__off_the_record=False)
        .select_related("session", "persona__owner")
        .order_by("created_at", "id")
    )
)


def before_prompt(turn_pk: int, now: datetime) -> None:
    """Store the lessons of a turn's messages. Doing it twice does nothing more.

    Without an embedding model nothing is stored, and the reply does not wait: the model reads the message itself.
    """
    for message in _messages(turn_pk):
        if wishes := wishes_in(message.content):
            try:
                learn(message, wishes, now)
            except EmbeddingUnavailable as error:
                logger.warning("a wish was not stored, for there is no embedding model: %s", type(error).__name__)


def wishes_in(text: str) -> list[Wish]:
    """The wishes that a message states beyond doubt."""
    return [wish_of(text, request) for request in read_requests(text) if request.sure and request.kind in KINDS]
