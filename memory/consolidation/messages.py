"""The messages of a session, as extraction reads them, and the pieces in which a small model reads them. Pure but for
`messages_of`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chat.models import Message, Session

PER_LINE = 16  # tokens of the id, time and name before each line


@dataclass(frozen=True)
class PromptMessage:
    """One line that was said; `id` is the message's key, by which a model cites it as "m<id>". `speaker` is who said
    it, where that is neither of the two; `to` those to whom the owner said it, where the persona took no part."""

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
        """Whether it is of neither of the two: said beside them, for what they say to be understood. It is no evidence
        and cannot be cited."""
        return bool(self.speaker)


def messages_of(session: Session) -> list[PromptMessage]:
    """The session's lines without those that are withheld, in the order in which they were stored: what is said later
    always comes after what was read."""
    return [
        PromptMessage(
            message.pk, message.role, message.content, message.created_at, message.token_count, message.speaker
        )
        for message in session.messages.read_by_models().order_by("id")
    ]


# --- pieces that a small model can read whole, one after the other ----------------------------------------------------
@dataclass(frozen=True)
class Piece:
    """What one reading is given: `new` lines, and before them some that were read already, as context."""

    context: Sequence[PromptMessage]
    new: Sequence[PromptMessage]

    @property
    def lines(self) -> list[PromptMessage]:
        return [*self.context, *self.new]

    @property
    def through(self) -> int:
        """The key of the last line: how far the session has been read after this piece."""
        return self.new[-1].id


def next_piece(messages: Sequence[PromptMessage], after: int, limit: int, overlap: int) -> Piece | None:
    """The first lines whose key lies past `after`, as many as fit into `limit` tokens together with at most `overlap`
    lines of context; None when everything was read.

    No line is cut: one that is longer than the limit makes a piece of its own. Where lines are so long that the
    context would take more than half of a piece, less of it is given.
    """
    unread = [message for message in messages if message.id > after]
    if not unread:
        return None
    read = [message for message in messages if message.id <= after]
    # The last lines that fit into `room` tokens.
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
