"""The JSON shape of messages, sessions and turns for programs. Values are Python's; an API schema may leave keys out.

The event stream has its own shapes, names and fields, which are a separate contract.
"""

from typing import Any

from chat.models import Message, Session, Turn

_SESSION_COLUMNS = (
    "channel",
    "status",
    "started_at",
    "closed_at",
    "close_reason",
    "message_count",
    "summary",
    "trivial",
    "failure",
    "off_the_record",
)


def serialize_message(message: Message) -> dict[str, Any]:
    """A message, word for word."""
    return {
        "id": message.uuid,
        "session_id": message.session.uuid,
        "turn_id": message.turn.uuid if message.turn else None,
        "role": message.role,
        "speaker": message.speaker,
        "content": message.content,
        "withheld": message.withheld,
        "created_at": message.created_at,
    }


def serialize_session(session: Session) -> dict[str, Any]:
    """A session without its messages."""
    return {"id": session.uuid} | {name: getattr(session, name) for name in _SESSION_COLUMNS}


def serialize_turn(turn: Turn) -> dict[str, Any]:
    """A turn with its messages and the reply to them."""
    messages = list(turn.messages.select_related("session", "turn").order_by("created_at", "id"))
    replies = [message for message in messages if message.role == Message.Role.PERSONA]
    return {
        "id": turn.uuid,
        "session_id": turn.session.uuid,
        "status": turn.status,
        "error": turn.error,
        "partial": turn.partial,
        "created_at": turn.created_at,
        "finished_at": turn.finished_at,
        "lines": [serialize_message(message) for message in messages if message.role == Message.Role.USER],
        "reply": serialize_message(replies[0]) if replies else None,
        "original_turn_id": turn.original.uuid if turn.original else None,
    }
