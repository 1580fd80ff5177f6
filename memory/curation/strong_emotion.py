"""Whether messages hold something so strong that a session is worth remembering, however short. Pure (seed 000 B)."""

from collections.abc import Sequence

from chat.care import speak_of_crisis
from echovessel.language.plain_text import straighten

# Seed 000 B, verbatim: made to miss nothing. A plain session that is read for nothing costs little.
STRONG_EMOTION = (
    "走了", "去世", "死了", "离世", "葬礼", "没了", "died", "passed away", "funeral",
    "撑不住", "不想活", "活不下去", "自杀", "崩溃", "can't go on", "suicide", "breakdown",
    "分手", "离婚", "被裁", "breakup", "divorce", "fired",
)  # fmt: skip

# The wish to die, harm and violence, where the seed's list is silent ("你觉得活着累吗？" is its own example of a cry).
CRISIS = (
    "想死", "自残", "轻生", "结束生命", "活着累", "活着好累", "活着没意思",
    "want to die", "kill me", "kill myself", "end my life", "end it all", "self-harm", "cut myself", "hurt myself",
    "wish i was dead", "wish i were dead", "tired of living", "no reason to live", "better off dead", "raped", "hit me",
)  # fmt: skip


def has_strong_emotion(texts: Sequence[str]) -> bool:
    """Whether any text holds a keyword of either list, in any case and script, and with either apostrophe; or is a cry
    in other words, or in disguise."""
    plain = straighten("\n".join(texts).casefold())
    return any(keyword in plain for keyword in (*STRONG_EMOTION, *CRISIS)) or any(speak_of_crisis(texts))
