"""Cries that come over several messages, and harmless sessions, by a hand that saw neither rules nor lines.

The even sessions chose the thresholds of what the messages before add; the odd ones measure.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from chat.care import speaks_of_crisis
from chat.care.flags import MESSAGES_BEFORE

SESSIONS = Path(__file__).parent / "aside" / "sessions"
# Of the odd half: cries heard at their message, and messages of harmless sessions taken for cries.
BOUNDS = {"en": (14, 9), "zh": (15, 7)}


def sessions(kind: str, language: str) -> list[dict[str, Any]]:
    rows = (SESSIONS / f"{language}_{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row) for row in rows[1::2]]


def heard(lines: Sequence[str], at: int) -> bool:
    return speaks_of_crisis(lines[at], lambda: lines[max(0, at - MESSAGES_BEFORE) : at])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_cry_among_other_messages_is_heard_and_few_harmless_messages_are(language: str) -> None:
    least, most = BOUNDS[language]
    cries = [one for one in sessions("cries", language) if heard(one["lines"], one["cry"])]
    lines = [(one["lines"], at) for one in sessions("harmless", language) for at in range(len(one["lines"]))]
    false = [told[at] for told, at in lines if heard(told, at)]
    assert len(cries) >= least
    assert len(false) <= most, false
