"""The lines of a session, as extraction reads them."""

from dataclasses import dataclass
from datetime import datetime

from chat.models import Message, Session


@dataclass(frozen=True)
class Line:
    """One line that was said; `id` is the message's key, by which a model cites it as "m<id>"."""

    id: int
    role: str
    content: str
    at: datetime
    tokens: int

    @property
    def by_user(self) -> bool:
        return self.role == Message.Role.USER


def lines_of(session: Session) -> list[Line]:
    """The session's lines without those that are withheld, in the order in which they were stored: what is said later
    always comes after what was read."""
    return [
        Line(message.pk, message.role, message.content, message.created_at, message.token_count)
        for message in session.messages.shown_to_models().order_by("id")
    ]
