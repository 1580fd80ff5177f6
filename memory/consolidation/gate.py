"""The gates of consolidation: whether a session is worth reading, and whether it is time to reflect. Pure (seed 000 B,
C)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chat.care import speak_of_crisis
from echovessel.language.corrections import takes_back
from echovessel.language.plain_text import straighten
from memory import knobs
from memory.consolidation.asked_for import told_beside_requests
from memory.consolidation.messages import PromptMessage
from memory.consolidation.self_statements import tells_something
from memory.models import ReflectionRun

Reason = ReflectionRun.Reason
# Seed 000 B, verbatim: made to miss nothing. Reading a plain session in vain costs little.
STRONG_EMOTION = (
    "走了", "去世", "死了", "离世", "葬礼", "没了", "died", "passed away", "funeral",
    "撑不住", "不想活", "活不下去", "自杀", "崩溃", "can't go on", "suicide", "breakdown",
    "分手", "离婚", "被裁", "breakup", "divorce", "fired",
)  # fmt: skip

# The wish to die, harm and violence, which the seed's list omits ("你觉得活着累吗？" is its own example of a cry).
CRISIS = (
    "想死", "自残", "轻生", "结束生命", "活着累", "活着好累", "活着没意思",
    "want to die", "kill me", "kill myself", "end my life", "end it all", "self-harm", "cut myself", "hurt myself",
    "wish i was dead", "wish i were dead", "tired of living", "no reason to live", "better off dead", "raped", "hit me",
)  # fmt: skip


def is_trivial(messages: Sequence[PromptMessage]) -> bool:
    """Few messages, few tokens, and no owner's message with strong emotion, a statement about themselves or a
    correction."""
    if len(messages) >= knobs.trivial_message_count():
        return False
    if sum(message.tokens for message in messages) >= knobs.trivial_token_count():
        return False
    theirs = [owner_texts.content for owner_texts in messages if owner_texts.by_user]
    statements = map(told_beside_requests, theirs)
    return not has_strong_emotion(theirs) and not any(tells_something(text) or takes_back(text) for text in statements)


def has_strong_emotion(texts: Sequence[str]) -> bool:
    """Whether any text contains a keyword of either list, in any case and script and with either apostrophe, or is a
    cry in other words or in disguise."""
    plain = straighten("\n".join(texts).casefold())
    return any(keyword in plain for keyword in (*STRONG_EMOTION, *CRISIS)) or any(speak_of_crisis(texts))


@dataclass(frozen=True)
class Reflections:
    """Input of the reflection gate. Impacts are those of events that this session added or mentioned again."""

    runs_in_24h: int
    last_run_at: datetime | None
    fresh_impacts: Sequence[int]
    events_since: int


def decide(facts: Reflections, now: datetime) -> str:
    """Why to reflect now (`shock`, `timer`), or why not (`hard_gate`, `not_due`, `nothing_new`). The order is hard
    gate, shock, timer. Without events there is nothing to reflect on."""
    if facts.runs_in_24h >= knobs.reflection_hard_gate_24h():
        return Reason.HARD_GATE
    if any(abs(impact) >= knobs.shock_impact() for impact in facts.fresh_impacts):
        return Reason.SHOCK
    if facts.last_run_at and now - facts.last_run_at <= timedelta(hours=knobs.reflection_timer_hours()):
        return Reason.NOT_DUE
    return Reason.TIMER if facts.events_since else Reason.NOTHING_NEW


def asks_the_model(reason: str) -> bool:
    """Whether a decision means to reflect."""
    return reason in (Reason.SHOCK, Reason.TIMER)
