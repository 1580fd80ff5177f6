"""Memory mode asked about lives that were told to it: what it was told is found, and what it was not is not made up."""

import json
import re
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from echovessel.llm import offline
from memory.consolidation import runner
from persona.onboarding.creation import create_persona
from tests.journeys.exchange_runs import NAMES, replies_to
from tests.memory.sessions import Clock, talk

HONEST = re.compile(
    r"haven't told me|isn't in my memory|language model|don't remember|nothing about|"
    r"没跟我说过|记忆里没有|语言模型|没有印象|没有找到"
)


def judge(answer: str, reply: str) -> str:
    """Return "right", "honest" (it does not know) or "wrong". A no that shows the answer as the closest is right."""
    if answer and answer in reply:
        return "right"
    return "honest" if HONEST.search(reply) else "wrong"


# Its bounded twin is `test_exchanges`: other people, fewer questions, the same promise.
@pytest.mark.campaign
@pytest.mark.real_embeddings
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_told_life_is_answered_from_and_nothing_is_made_up(
    language: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what was told at most one question in thirty misses; of what was not, none is answered with something else."""
    settings.LLM_PROVIDER = "offline"
    monkeypatch.setattr(offline, "PAUSE_S", 0)
    lives = json.loads((Path(__file__).parent / "lives" / f"{language}.json").read_text("utf-8"))
    judged: Counter[tuple[str, str]] = Counter()
    rows = []
    for number, life in enumerate(lives):
        persona = create_persona(
            User.objects.create_user(f"person{number}"),
            NAMES[language],
            user_name=life["who"],
            language=language,
            blocks={"user": life["about"]},
        )
        at = timezone.now() - timedelta(days=3)
        assert runner.run(talk(persona, *life["told"], at=at).pk, Clock(at + timedelta(hours=1))) == "closed"
        questions, answers = zip(*life["asked"], strict=True)
        for answer, exchange in zip(answers, replies_to(persona, questions), strict=True):
            verdict = judge(answer, exchange.reply)
            judged["told" if answer else "untold", verdict] += 1
            rows.append((verdict, exchange.line, answer, exchange.reply))
    misses = [row for row in rows if row[0] != ("right" if row[2] else "honest")]
    told = sum(count for (kind, _), count in judged.items() if kind == "told")
    assert judged["told", "right"] >= 0.95 * told, misses
    assert judged["told", "wrong"] + judged["untold", "wrong"] <= 0.03 * len(rows), misses
