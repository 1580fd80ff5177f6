"""What memory mode is given in tests."""

from typing import Any

from echovessel.llm.offline.extraction import extract
from echovessel.llm.offline.reply import reply

NAMES = {"en": ("Mira", "Ana"), "zh": ("阿澜", "小雨")}
MORNING = "2026-03-05T09:00:00+00:00"


def session(*lines: str, language: str = "en", at: str = MORNING, **changes: Any) -> dict[str, Any]:
    """The material of an extraction; a line that begins with ">" is the persona's."""
    persona, user = NAMES[language]
    return {
        "language": language,
        "persona_name": persona,
        "user_name": user,
        "timezone": "Asia/Shanghai",
        "lines": [
            {"id": f"m{number}", "role": "persona" if line[:1] == ">" else "user", "content": line, "at": at}
            for number, line in enumerate(lines)
        ],
    } | changes


def kept(*lines: str, language: str = "en", **changes: Any) -> list[str]:
    """The descriptions of what is remembered, without the name before them."""
    events = extract(session(*lines, language=language, **changes))["events"]
    return [event["description"].removeprefix(NAMES[language][1]).lstrip(":： ") for event in events]


def talk(*lines: str, language: str = "en", memories: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    """The material of a reply."""
    persona, user = NAMES[language]
    return {
        "language": language,
        "persona_name": persona,
        "user_name": user,
        "lines": list(lines),
        "recollections": [{"text": text, "layer": "L3", "speaker": None} for text in memories],
        "recent": [],
    } | changes


def answer(*lines: str, **changes: Any) -> str:
    return reply(talk(*lines, **changes))
