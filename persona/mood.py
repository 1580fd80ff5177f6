"""L6, the mood: `{mood, energy, last_user_signal, updated_at}` on the persona. It is neutral again after a silence.

Only consolidation writes it. Reading writes nothing: whether an old mood counts as neutral is computed.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from echovessel.outbox import events
from persona import knobs
from persona.models import MoodChange, Persona
from persona.models.mood_change import MAX_MOOD, MAX_SIGNAL

# Includes the words of memory mode, which reads no mood from messages: the page shows them in the reader's language.
NEUTRAL_WORDS = frozenset({"", "neutral", "平静", "中性", "listening", "在听"})


@dataclass(frozen=True)
class Mood:
    """How the persona feels; energy is 0…10."""

    mood: str
    energy: int
    last_user_signal: str | None = None

    @classmethod
    def clamped(cls, mood: str, energy: int, last_user_signal: str | None) -> "Mood":
        """The nearest valid mood."""
        signal = (last_user_signal or "").strip()[:MAX_SIGNAL] or None
        return cls(" ".join(mood.split())[:MAX_MOOD], max(0, min(10, energy)), signal)


def current(persona: Persona, now: datetime) -> Mood | None:
    """The current mood, or None if neutral: never set, set to neutral, or older than the knob."""
    state: dict[str, Any] = persona.episodic_state
    if not state or state["mood"].casefold() in NEUTRAL_WORDS:
        return None
    age = now - datetime.fromisoformat(state["updated_at"])
    if age >= timedelta(hours=knobs.mood_decay_hours()):
        return None
    return Mood(state["mood"], state["energy"], state.get("last_user_signal"))


def change(persona: Persona, mood: Mood, session_uuid: UUID | None, now: datetime) -> None:
    """Store and publish a new mood. Call inside the transaction of what caused it."""
    persona.episodic_state = {
        "mood": mood.mood,
        "energy": mood.energy,
        "last_user_signal": mood.last_user_signal,
        "updated_at": now.isoformat(),
    }
    persona.save(update_fields=["episodic_state"])
    MoodChange.objects.create(
        persona=persona,
        mood=mood.mood,
        energy=mood.energy,
        last_user_signal=mood.last_user_signal,
        session_uuid=session_uuid,
        at=now,
    )
    events.publish(
        persona.uuid,
        "chat.mood.update",
        persona_id=str(persona.uuid),
        user_id=persona.owner_id,
        mood_summary=mood.mood,
        mood=mood.mood,
        energy=mood.energy,
        last_user_signal=mood.last_user_signal,
        session_id=str(session_uuid) if session_uuid else None,
    )
