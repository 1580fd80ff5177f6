"""A cry and the gates of memory: none drops it, whatever its disguise; imports and forgetting leave no trace of it."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat import prompt, turn
from chat.lines import take_line
from chat.models import CrisisFlag, Session, Turn
from echovessel.outbox.models import OutboxEvent
from memory import afterwards
from memory.consolidation import runner
from memory.consolidation.gate import has_strong_emotion, is_trivial
from memory.consolidation.lines import Line
from memory.forgetting import Target, forget, plan
from memory.signals import scan
from persona.models import Persona
from tests.chat import cries
from tests.memory import archives
from tests.memory.talks import NOW, Clock, talk
from tests.scripted import Script

DISGUISED = ("s u i c i d e", "想自鲨", "自 杀", "k!ll myself", "want to d1e", "不\u200b想\u200b活了", "ＫＭＳ")


def line(content: str) -> Line:
    return Line(1, "user", content, NOW, 5)


def test_no_gate_drops_a_cry() -> None:
    lines = [*cries.lines(cries.CRIES_EN), *cries.lines(cries.CRIES_ZH), *DISGUISED]
    assert [words for words in lines if is_trivial([line(words)]) or not scan(words)] == []


def test_an_idiom_alone_is_no_signal() -> None:
    assert [words for words in ("killing it", "笑死我了", "dying to see you") if has_strong_emotion([words])] == []


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["s u i c i d e", "想自鲨"])
def test_a_disguised_cry_is_read_early_and_is_no_trivial_talk(
    mira: Persona, model: Script, clock: Clock, words: str
) -> None:
    said = take_line(mira, words, None, "web", NOW).message
    assert said.turn is not None
    Turn.objects.update(status="done")
    afterwards.after_turn(said.turn.pk, NOW)
    assert Session.objects.get().reading_asked_at == NOW
    session = talk(mira, words)
    assert runner.run(session.pk, clock) == "closed"
    assert model.requests


@pytest.mark.django_db
def test_what_is_imported_raises_nothing(ana: User, tmp_path: Path) -> None:
    archives.imported(
        tmp_path,
        ana,
        archives.HEADER,
        archives.PERSONA,
        archives.session("s1"),
        archives.message("m1", "I want to die"),
    )
    assert not CrisisFlag.objects.exists()
    assert Persona.objects.get().care_until is None


@pytest.mark.django_db
def test_of_a_cry_that_is_forgotten_nothing_is_told_any_more(mira: Persona, settings: Any) -> None:
    settings.CHAT_CONTEXT = [path for path in settings.CHAT_CONTEXT if path.startswith("chat.")]
    cry = take_line(mira, "I want to die.", None, "web", NOW).message
    answered(mira, NOW)
    soon, later = NOW + timedelta(minutes=5), NOW + timedelta(hours=2)
    assert "guidance" in prompt_for(mira, soon).xray
    answered(mira, soon)
    forget(plan([Target("message", cry.pk)]), None, later)
    assert not CrisisFlag.objects.exists()
    assert not OutboxEvent.objects.filter(data__has_key="care").exists()
    left = str(list(Turn.objects.values_list("xray", flat=True)))
    assert "crisis" not in left
    assert str(cry.uuid) not in left
    assert "guidance" not in prompt_for(mira, later).xray


def prompt_for(persona: Persona, at: datetime) -> prompt.Prompt:
    take_line(persona, "Hello there.", None, "web", at)
    (waiting,) = Turn.objects.collecting().select_related("persona__owner", "session")
    return prompt.assemble(waiting, at)


def answered(persona: Persona, at: datetime) -> None:
    claimed = turn.claim(persona.pk, at)
    assert claimed is not None
    xray = prompt.assemble(claimed, at).xray
    turn.finish(claimed, "I am with you.", stopped=False, first_token_at=at, xray=xray, now=at)
