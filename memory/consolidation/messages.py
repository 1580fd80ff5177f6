"""The lines of a session, as extraction reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chat.models import Message, Session


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
        PromptMessage(line.pk, line.role, line.content, line.created_at, line.token_count, line.speaker)
        for line in session.messages.read_by_models().order_by("id")
    ]
