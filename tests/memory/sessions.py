"""Talks for the tests of memory: sessions made of lines, and answers as a model would give them."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from chat.messages import add_message
from chat.models import Message, Session, Turn
from echovessel.llm.request import Request, ResponseSchema, StreamEnd
from persona.models import Persona
from tests.scripted import ScriptedProvider, script

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


def talk(persona: Persona, *lines: str, at: datetime = NOW, status: str = Session.Status.CLOSING) -> Session:
    """A session of `lines`; those that start with "> " are the persona's."""
    session = Session.objects.create(
        persona=persona, channel="web", status=status, started_at=at, last_message_at=at, closed_at=at
    )
    for number, line in enumerate(lines):
        role = Message.Role.PERSONA if line.startswith("> ") else Message.Role.USER
        add_message(session, role, line.removeprefix("> "), at + timedelta(seconds=number))
    session.refresh_from_db()
    return session


def turn(session: Session, status: str, **values: Any) -> Turn:
    return Turn.objects.create(session=session, persona=session.persona, status=status, **values)


def cite(message: Message, quote: str | None = None) -> dict[str, str]:
    return {"message_id": f"m{message.pk}", "quote": message.content if quote is None else quote}


def event(description: str, *evidence: dict[str, str], **values: Any) -> dict[str, Any]:
    return {
        "description": description,
        "emotional_impact": 2,
        "emotion_tags": [],
        "relational_tags": [],
        "subject": "user",
        "event_time": None,
        "evidence": list(evidence),
        "supersedes": [],
        "confidence": 0.9,
    } | values


def extraction(events: Sequence[dict[str, Any]] = (), **values: Any) -> dict[str, Any]:
    return {
        "events": list(events),
        "mentioned_entities": [],
        "entity_clarification": None,
        "session_mood_signal": {"mood": "warm", "energy": 6, "last_user_signal": "fond"},
        "session_summary": "A talk.",
        "self_check_notes": "none",
    } | values


def thought(description: str, filling: Sequence[str], **values: Any) -> dict[str, Any]:
    return {"description": description, "emotional_impact": 2, "subject": "user", "filling": list(filling)} | values


class Clock:
    """A clock that the test sets; it stands still otherwise."""

    def __init__(self, now: datetime = NOW + timedelta(minutes=31)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        self.now += timedelta(**amount)


class ListeningProvider(ScriptedProvider):
    """The scripted twin, whose answers may be functions of the request: `lambda request: thought(…)`."""

    async def stream(self, request: Request, shape: ResponseSchema | None = None) -> AsyncIterator[str | StreamEnd]:
        if shape is not None and script.structured and callable(script.structured[0]):
            script.structured[0] = script.structured[0](request)
        async for item in super().stream(request, shape):
            yield item


def impression(description: str = "She softens when the cat comes up.", **values: Any) -> Any:
    """A reflection answer: one thought about the first event given."""
    return lambda request: {"thoughts": [thought(description, [request.material["events"][0]["id"]], **values)]}
