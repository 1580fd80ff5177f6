"""The messages of a session as extraction reads them, cut into pieces for a small model. Pure but for `messages_of`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chat.models import Message, Session

PER_LINE = 16  # tokens of the id, time and name before each message


@dataclass(frozen=True)
class PromptMessage:
    """A message in a prompt. `id` is its key, by which a model cites it as "m<id>". `speaker` is its author if that is
    neither owner nor persona; `to` are the people the owner addressed if the persona took no part."""

    id: int
    role: str
    content: str
    at: datetime
    tokens: int
    speaker: str = ""
    to: Sequence[str] = ()

    @property
    def by_user(self) -> bool:
        return self.role == Message.Role.USER

    @property
    def by_another(self) -> bool:
        """Whether it is by neither owner nor persona. It is shown for context; it is no evidence and cannot be
        cited."""
        return bool(self.speaker)


def messages_of(session: Session) -> list[PromptMessage]:
    """The session's messages without withheld ones, in the order in which they were stored: later messages always come
    after those that were read."""
    return [
        PromptMessage(
            message.pk, message.role, message.content, message.created_at, message.token_count, message.speaker
        )
        for message in session.messages.read_by_models().order_by("id")
    ]


# --- pieces that a small model can read whole, one after the other ----------------------------------------------------
@dataclass(frozen=True)
class Piece:
    """The messages of one reading: `new` ones, preceded by some that were read already, as context."""

    context: Sequence[PromptMessage]
    new: Sequence[PromptMessage]

    @property
    def lines(self) -> list[PromptMessage]:
        return [*self.context, *self.new]

    @property
    def through(self) -> int:
        """The key of the last message: how far the session has been read after this piece."""
        return self.new[-1].id


def next_piece(messages: Sequence[PromptMessage], after: int, limit: int, overlap: int) -> Piece | None:
    """The first messages whose key is greater than `after`: as many as fit into `limit` tokens together with at most
    `overlap` messages of context. None if everything was read.

    No message is cut: one that is longer than the limit makes a piece of its own. If the context would take more than
    half of a piece, it is shortened.
    """
    unread = [message for message in messages if message.id > after]
    if not unread:
        return None
    read = [message for message in messages if message.id <= after]
    # The last messages that fit into `room` tokens.
    room = min(limit // 2, limit - _cost(unread[:1]))
    context: list[PromptMessage] = []
    for message in reversed(read[-overlap:] if overlap else []):
        room -= _cost([message])
        if room < 0:
            break
        context.insert(0, message)
    new = unread[:1]
    room = limit - _cost([*context, *new])
    for message in unread[1:]:
        room -= _cost([message])
        if room < 0:
            break
        new.append(message)
    return Piece(context, new)


def _cost(messages: Sequence[PromptMessage]) -> int:
    return sum(message.tokens + PER_LINE for message in messages)
