"""A message worded anew, and other answers: one version stands, the others reach no model."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.prompt import assemble
from chat.sessions import close
from chat.turns import turn as turns
from chat.turns import versions
from chat.turns.versions import VersionRefused
from echovessel.outbox.models import OutboxEvent
from persona.models import Persona
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)


def say(persona: Persona, words: str, replaces: UUID | None = None) -> Message:
    return receive_message(persona, words, uuid4(), "web", timezone.now(), replaces=replaces).message


def answer(persona: Persona, words: str, **kwargs: Any) -> Turn:
    """Finish the waiting turn with these words."""
    running = turns.claim(persona.pk, timezone.now())
    assert running is not None
    arguments = {"stopped": False, "first_token_at": None, "xray": {}, "now": timezone.now()} | kwargs
    assert turns.finish(running, words, **arguments)
    return running


def answer_again(persona: Persona, first: Turn, words: str) -> Turn:
    turns.create_other_answer(persona, first.uuid)
    return answer(persona, words)


def shown(persona: Persona) -> list[str]:
    """What models may read, in order."""
    messages = Message.objects.filter(persona=persona).shown_to_models().order_by("id")
    return list(messages.values_list("content", flat=True))


def test_the_first_answer_stands_until_the_other_is_chosen(mira: Persona) -> None:
    say(mira, "Tell me of the sea.")
    first = answer(mira, "It is wide.")
    second = answer_again(mira, first, "It is deep.")
    assert shown(mira) == ["Tell me of the sea.", "It is wide."]
    assert Session.objects.get().message_count == 3, "what was said is counted"
    for chosen, standing in ((second, "It is deep."), (second, "It is deep."), (first, "It is wide.")):
        versions.choose(mira, chosen.uuid)
        assert shown(mira) == ["Tell me of the sea.", standing]
    third = answer_again(mira, second, "It is cold.")
    assert third.original_id == first.pk, "an answer to another answer answers the same messages"
    versions.choose(mira, third.uuid)
    say(mira, "And then?")
    assert [one.content for one in assemble.window_before(Turn.objects.order_by("id").last() or third)] == [
        "Tell me of the sea.",
        "It is cold.",
    ]


def test_another_answer_is_asked_with_the_same_prompt(mira: Persona) -> None:
    say(mira, "Before.")
    answer(mira, "Then.")
    say(mira, "Tell me of the sea.")
    first = answer(mira, "It is wide.")
    now = timezone.now()
    again = turns.create_other_answer(mira, first.uuid)
    prompts = [assemble.assemble(one, now) for one in (Turn.objects.get(pk=first.pk), again)]
    assert prompts[0].user == prompts[1].user
    assert "It is wide." not in prompts[1].user
    later = say(mira, "One more thing.")
    assert later.turn != again, "what is said meanwhile waits in a turn of its own"


def test_another_answer_that_comes_to_nothing_leaves_the_first_alone(mira: Persona) -> None:
    say(mira, "Hello")
    first = answer(mira, "Hello you.")

    def killed(running: Turn) -> None:
        assert turns.abandon(timezone.now() + timedelta(days=1)) == 1

    endings: dict[str, Callable[[Turn], Any]] = {
        "failed": lambda running: turns.fail(running, "timeout", "It is", timezone.now()),
        "killed": killed,
        "stopped before its first word": lambda running: turns.finish(
            running, "", stopped=True, first_token_at=None, xray={}, now=timezone.now()
        ),
        "the same words": lambda running: turns.finish(
            running, " Hello you.", stopped=False, first_token_at=None, xray={}, now=timezone.now()
        ),
    }
    for name, end in endings.items():
        turns.create_other_answer(mira, first.uuid)
        running = turns.claim(mira.pk, timezone.now())
        assert running is not None
        end(running)
        assert list(Turn.objects.values_list("pk", flat=True)) == [first.pk], name
        assert shown(mira) == ["Hello", "Hello you."], name
    last = OutboxEvent.objects.filter(name="chat.message.done").order_by("-id")[0]
    assert (last.data["same"], last.data["original_turn_id"]) == (True, str(first.uuid))


def test_a_message_worded_anew_takes_the_place_of_the_old_and_back(mira: Persona) -> None:
    say(mira, "I am called Ana.")
    answer(mira, "Hello Ana.")
    old = say(mira, "I live in Leeds.")
    answer(mira, "Leeds!")
    new = say(mira, "I live in York.", replaces=old.uuid)
    assert turns.claim(mira.pk, timezone.now()) is not None
    prompt = assemble.assemble(Turn.objects.running().get(), timezone.now())
    assert "Leeds" not in prompt.user
    Turn.objects.running().update(status="collecting")
    answer(mira, "York!")
    told = ["I am called Ana.", "Hello Ana."]
    assert shown(mira) == [*told, "I live in York.", "York!"]
    assert old.turn
    assert new.turn
    for _round in range(2):
        versions.choose(mira, old.turn.uuid)
        assert shown(mira) == [*told, "I live in Leeds.", "Leeds!"]
        versions.choose(mira, new.turn.uuid)
        assert shown(mira) == [*told, "I live in York.", "York!"]


def test_each_of_several_wordings_can_be_chosen(mira: Persona) -> None:
    lines = [say(mira, "One.")]
    answer(mira, "First.")
    for words, reply in (("Two.", "Second."), ("Three.", "Third.")):
        lines.append(say(mira, words, replaces=lines[-1].uuid))
        answer(mira, reply)
    told = [["One.", "First."], ["Two.", "Second."], ["Three.", "Third."]]
    for place in (0, 2, 0, 1, 2, 1, 0):
        turn = lines[place].turn
        assert turn
        versions.choose(mira, turn.uuid)
        assert shown(mira) == told[place]
        aside = Message.objects.filter(withheld=True)
        assert set(aside.values_list("replaced_by", flat=True)) == {turn.pk}


def test_choosing_an_old_wording_shows_its_chosen_answer(mira: Persona) -> None:
    old = say(mira, "Hello")
    first = answer(mira, "One.")
    versions.choose(mira, answer_again(mira, first, "Two.").uuid)
    say(mira, "Hello!", replaces=old.uuid)
    answer(mira, "Three.")
    assert shown(mira) == ["Hello!", "Three."]
    versions.choose(mira, first.uuid)
    assert shown(mira) == ["Hello", "Two."]


def test_a_failed_message_worded_anew_is_not_tried_again(mira: Persona) -> None:
    old = say(mira, "Helo")
    running = turns.claim(mira.pk, timezone.now())
    assert running is not None
    turns.fail(running, "timeout", "", timezone.now())
    say(mira, "Hello", replaces=old.uuid)
    assert not turns.retry(mira, running.uuid)
    answer(mira, "Hi.")
    assert shown(mira) == ["Hello", "Hi."]


def test_versions_of_earlier_foreign_and_closed_turns_are_refused(mira: Persona, otto: Persona) -> None:
    early = say(mira, "Early.")
    early_turn = answer(mira, "Yes?")
    last = say(mira, "Late.")
    last_turn = answer(mira, "Well.")
    again = answer_again(mira, last_turn, "Hm.")
    theirs = say(otto, "Not yours.")

    def refused(action: Callable[[], Any]) -> str:
        try:
            action()
        except VersionRefused as error:
            return error.code
        return ""

    rows: list[tuple[str, Callable[[], Any], str]] = [
        ("an earlier message", lambda: say(mira, "x", replaces=early.uuid), "not_last"),
        ("another's message", lambda: say(mira, "x", replaces=theirs.uuid), "not_open"),
        ("nobody's message", lambda: say(mira, "x", replaces=uuid4()), "not_open"),
        ("an earlier answer", lambda: turns.create_other_answer(mira, early_turn.uuid), "not_last"),
        ("another's turn", lambda: turns.create_other_answer(otto, last_turn.uuid), "not_open"),
    ]
    for name, action, code in rows:
        assert refused(action) == code, name
    Message.objects.filter(turn=last_turn).update(withheld=True)  # "don't remember that"
    assert refused(lambda: versions.choose(mira, again.uuid)) == "withheld"
    assert refused(lambda: say(mira, "x", replaces=last.uuid)) == "withheld"
    Message.objects.filter(turn=last_turn).update(withheld=False)
    close.close(last.session, "explicit", timezone.now())
    assert refused(lambda: versions.choose(mira, again.uuid)) == "not_open"
    assert refused(lambda: turns.create_other_answer(mira, last_turn.uuid)) == "not_open"


def test_so_many_answers_and_no_more(mira: Persona, settings: Any) -> None:
    settings.KNOBS = {"chat.answers_per_turn": 2}
    say(mira, "Hello")
    first = answer(mira, "One.")
    answer_again(mira, first, "Two.")
    with pytest.raises(VersionRefused, match="enough"):
        turns.create_other_answer(mira, first.uuid)
    say(mira, "Busy?")
    with pytest.raises(VersionRefused, match="not_last"):
        turns.create_other_answer(mira, first.uuid)


def test_a_reply_stopped_before_its_first_word_can_be_asked_for_after_all(mira: Persona) -> None:
    say(mira, "Hello")
    stopped = answer(mira, "", stopped=True)
    assert turns.retry(mira, stopped.uuid)
    answer(mira, "Hi.")
    assert not turns.retry(mira, stopped.uuid)
    assert shown(mira) == ["Hello", "Hi."]


async def test_two_pages_see_the_same_version(mira: Persona, scripted: Script) -> None:
    scripted.says("It is wide.", "It is deep.")
    async with Page(mira.owner, mira) as left, Page(mira.owner, mira) as right:
        await left.say("Tell me of the sea.")
        first = (await left.until("chat.message.done"))["data"]
        await left.send(type="another_answer", turn_id=first["turn_id"])
        for page in (left, right):
            other = (await page.until("chat.message.done", content="It is deep."))["data"]
            assert other["original_turn_id"] == first["turn_id"]
        await right.send(type="choose", turn_id=other["turn_id"])
        for page in (left, right):
            chosen = (await page.until("chat.turn.chosen"))["data"]
            assert chosen["turn_id"] == other["turn_id"]
            assert chosen["withheld_ids"] == [first["message_id"]]
            assert chosen["message_ids"] == [other["message_id"]]
        await left.send(type="another_answer", turn_id=str(uuid4()))
        assert (await left.until("error"))["data"]["code"] == "not_open"
