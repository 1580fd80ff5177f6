"""Crisis messages: no gate drops one, in any disguise; imports and forgetting leave no trace of one."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.care import flags, speak_of_crisis
from chat.messages import receive_message
from chat.models import CrisisFlag, Message, Session, Turn
from chat.prompt import assemble
from chat.turns import turn
from echovessel.outbox.models import OutboxEvent
from memory import turn_hooks
from memory.consolidation import runner
from memory.consolidation.gate import has_strong_emotion, is_trivial
from memory.consolidation.messages import PromptMessage
from memory.forgetting import Target, forget, plan
from persona.models import Persona
from tests.chat.care import cries
from tests.memory.archive import archives
from tests.memory.sessions import NOW, Clock, extraction, talk
from tests.scripted import Script

DISGUISED = ("s u i c i d e", "想自鲨", "自 杀", "k!ll myself", "want to d1e", "不\u200b想\u200b活了", "ＫＭＳ")


def create_message(content: str) -> PromptMessage:
    return PromptMessage(1, "user", content, NOW, 5)


def test_no_gate_drops_a_cry() -> None:
    texts = [*cries.lines(cries.CRIES_EN), *cries.lines(cries.CRIES_ZH), *DISGUISED]
    speak_of_crisis(texts)  # together they take a third of the time, and each result is cached
    assert [words for words in texts if is_trivial([create_message(words)]) or not has_strong_emotion([words])] == []


def test_an_idiom_alone_is_no_signal() -> None:
    assert [words for words in ("killing it", "笑死我了", "dying to see you") if has_strong_emotion([words])] == []


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["s u i c i d e", "想自鲨"])
def test_a_disguised_cry_is_read_early_and_is_no_trivial_session(
    mira: Persona, model: Script, clock: Clock, words: str
) -> None:
    message = receive_message(mira, words, None, "web", NOW).message
    assert message.turn is not None
    Turn.objects.update(status="done")
    turn_hooks.after_turn(message.turn.pk, NOW)
    assert Session.objects.get().early_consolidation_requested_at == NOW
    session = talk(mira, words)
    assert runner.run(session.pk, clock) == "closed"
    assert model.requests


@pytest.mark.django_db
def test_what_is_imported_raises_nothing(ana: User, tmp_path: Path) -> None:
    archives.import_lines(
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
    cry = receive_message(mira, "I want to die.", None, "web", NOW).message
    answer_turn(mira, NOW)
    soon, later = NOW + timedelta(minutes=5), NOW + timedelta(hours=2)
    assert "guidance" in prompt_for(mira, soon).xray
    answer_turn(mira, soon)
    forget(plan([Target("message", cry.pk)]), None, later)
    assert not CrisisFlag.objects.exists()
    assert not OutboxEvent.objects.filter(data__has_key="care").exists()
    xrays = str(list(Turn.objects.values_list("xray", flat=True)))
    assert "crisis" not in xrays
    assert str(cry.uuid) not in xrays
    assert "guidance" not in prompt_for(mira, later).xray


QUIET = "The cat goes to my sister on Sunday. I have sorted everything, so nobody has to do it for me afterwards."


def read_with(model: Script, session: Session, clock: Clock, *message_ids: str) -> None:
    model.answers(extraction(crisis_messages=list(message_ids)))
    assert runner.run(session.pk, clock) == "closed"


def late_help() -> list[dict[str, Any]]:
    return list(OutboxEvent.objects.filter(name="chat.message.care").values_list("data", flat=True))


@pytest.mark.django_db
def test_the_model_may_raise_help_beside_a_message(mira: Persona, model: Script, clock: Clock, client: Client) -> None:
    session = talk(mira, QUIET, "> Why?", "No reason, I just like things to be in order before the winter.")
    message = session.messages.order_by("id")[0]
    read_with(model, session, clock, f"m{message.pk}")
    flag = CrisisFlag.objects.get()
    assert (flag.message, flag.by_detector, flag.by_model, flag.raised_at) == (message, False, True, clock())
    (event,) = late_help()
    assert event["message_id"] == str(message.uuid)
    assert "findahelpline.com" in event["care"]["texts"][0]
    mira.refresh_from_db()
    assert mira.care_until == message.created_at + timedelta(hours=48)
    assert flags.recent_crisis_messages(mira, clock(), None) == flags.crisis_messages_of([message]) == [message]
    client.force_login(mira.owner)
    assert "findahelpline.com" in client.get(f"/chat/{mira.uuid}/").content.decode()
    forget(plan([Target("message", message.pk)]), None, clock())
    assert not CrisisFlag.objects.exists()
    assert not late_help()


@pytest.mark.django_db
def test_the_model_raises_help_beside_nothing_else_and_takes_none_back(
    mira: Persona, otto: Persona, model: Script, clock: Clock
) -> None:
    foreign = talk(otto, QUIET).messages.get()
    session = talk(mira, QUIET, "> I want to die.", "My neighbour wrote me a very long letter about his roses today.")
    first, reply, last = session.messages.order_by("id")
    Message.objects.filter(pk=last.pk).update(withheld=True)
    CrisisFlag.objects.create(message=first, by_detector=True, raised_at=NOW)
    read_with(model, session, clock, f"m{foreign.pk}", f"m{reply.pk}", f"m{last.pk}", f"m{first.pk}", "m", "m99999", "")
    flag = CrisisFlag.objects.get()
    assert (flag.message, flag.by_detector, flag.by_model) == (first, True, False)
    assert not late_help()
    read_with(model, talk(mira, f"{QUIET} ", at=NOW + timedelta(hours=1)), clock)
    assert CrisisFlag.objects.get() == flag


@pytest.mark.django_db
@pytest.mark.parametrize("imported", ["session", "message"])
def test_of_an_import_the_model_raises_nothing(
    mira: Persona, model: Script, clock: Clock, imported: str, settings: Any
) -> None:
    session = talk(mira, QUIET, "> Why?", "No reason, I just like things to be in order before the winter.")
    message = session.messages.order_by("id")[0]
    if imported == "session":
        Session.objects.filter(pk=session.pk).update(close_reason=Session.CloseReason.IMPORT)
    else:
        session.messages.update(import_uuid=mira.uuid)
    read_with(model, session, clock, f"m{message.pk}")
    assert model.requests
    assert not CrisisFlag.objects.exists()
    assert not late_help()


@pytest.mark.django_db
def test_a_flag_that_a_person_raised_shows_help_once_the_model_agrees(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, QUIET, "> Why?", "No reason, I just like things to be in order before the winter.")
    message = session.messages.order_by("id")[0]
    flags.raise_flag(message, mira.owner, NOW)
    assert flags.help_of_message(message) == ()
    read_with(model, session, clock, f"m{message.pk}")
    flag = CrisisFlag.objects.get()
    assert (flag.raised_by, flag.by_model, len(late_help())) == (mira.owner, True, 1)


def prompt_for(persona: Persona, at: datetime) -> assemble.Prompt:
    receive_message(persona, "Hello there.", None, "web", at)
    (waiting,) = Turn.objects.collecting().select_related("persona__owner", "session")
    return assemble.assemble(waiting, at)


def answer_turn(persona: Persona, at: datetime) -> None:
    claimed = turn.claim(persona.pk, at)
    assert claimed is not None
    xray = assemble.assemble(claimed, at).xray
    turn.finish(claimed, "I am with you.", stopped=False, first_token_at=at, xray=xray, now=at)
