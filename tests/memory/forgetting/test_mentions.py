"""Other messages that mention forgotten content are listed, each with a choice, and a name does not come back."""

from datetime import timedelta
from typing import Any

import pytest

from chat.models import Message, Session
from echovessel.outbox import events
from memory import forgetting
from memory.curation.restatements import is_common, is_telling_alone
from memory.forgetting import Choice, Target, plan
from memory.models import ConceptNode, Entity, Question, Receipt
from memory.store import checks
from persona import mood
from persona.models import CoreBlock, Persona
from tests.memory.forgetting.life import NOW, entity, node, quoting, say
from tests.memory.forgetting.totals import rows_of, totals, went

pytestmark = pytest.mark.django_db


def target_of(row: Any) -> Target:
    kinds: dict[type, Any] = {Message: "message", ConceptNode: "node", Entity: "entity", Session: "session"}
    return Target(kinds[type(row)], row.pk)


def forget(*targets: Target, **choice: Any) -> Receipt:
    return forgetting.forget(plan(targets, Choice(**choice)), None, NOW)


def list_mentions(*targets: Target, **choice: Any) -> dict[str, tuple[str, str | None]]:
    return {item.text: (item.why, item.mode) for item in plan(targets, Choice(**choice)).mentioned}


def contents() -> set[str]:
    return set(Message.objects.values_list("content", flat=True))


def reply_to(message: Message) -> Message:
    return Message.objects.get(turn=message.turn, role="persona")


@pytest.fixture
def parrot(mira: Persona) -> ConceptNode:
    """A memory of an entity with a name, and messages of two sessions that repeat the name."""
    message = say(mira, "My parrot Quetzal flew away on Sunday.", "Oh no. Quetzal sounded like a lovely bird!")
    say(mira, "What shall I have for dinner?", "Something warm, perhaps soup.", minutes=1)
    say(mira, "I still put out seeds for Quetzal.", "That is a kind habit.", minutes=2)
    flew = node(mira, "Ana's parrot Quetzal flew away.", message.session, quoting(message))
    entity(mira, "Quetzal", flew, kind="pet")
    Session.objects.filter(pk=message.session_id).update(status="closed", summary="About dinner.")
    say(mira, "Good morning!", "Good morning. Any news of Quetzal?", minutes=3_000)
    return flew


def test_messages_that_say_a_name_that_goes_are_listed_and_go_along(parrot: ConceptNode) -> None:
    assert list_mentions(target_of(parrot)) == {
        "I still put out seeds for Quetzal.": ("names_it", "forget"),
        "Good morning. Any news of Quetzal?": ("names_it", "forget"),
    }
    before = totals()
    receipt = forget(target_of(parrot))
    assert went(before) == rows_of(receipt.counts)
    assert contents() == {
        "What shall I have for dinner?",
        "Something warm, perhaps soup.",
        "Good morning!",
    }
    assert checks.broken_invariants(NOW) == {}


def test_each_can_be_withheld_or_left(parrot: ConceptNode) -> None:
    seeds = Message.objects.get(content__startswith="I still")
    news = Message.objects.get(content__endswith="news of Quetzal?")
    mentions = frozenset({(seeds.pk, "withhold"), (news.pk, "leave")})
    assert set(list_mentions(target_of(parrot), mentions=mentions).values()) == {
        ("names_it", "withhold"),
        ("names_it", "leave"),
    }
    forget(target_of(parrot), mentions=mentions)
    seeds.refresh_from_db()
    assert seeds.withheld
    assert reply_to(seeds).withheld
    news.refresh_from_db()
    assert not news.withheld


@pytest.mark.parametrize("other", ["leave", "withhold", "forget"])
def test_all_others_follow_one_choice(parrot: ConceptNode, other: Any) -> None:
    assert {mode for _why, mode in list_mentions(target_of(parrot), other_mentions=other).values()} == {other}


def test_with_withhold_nothing_of_the_name_reaches_a_prompt(parrot: ConceptNode) -> None:
    forget(target_of(parrot), messages="withhold")
    assert not Message.objects.shown_to_models().filter(content__contains="Quetzal").exists()
    assert Message.objects.filter(content__contains="Quetzal").count() == 4


def test_a_memory_never_goes_with_a_mention_and_its_message_is_withheld(mira: Persona, parrot: ConceptNode) -> None:
    message = say(mira, "On the day that Quetzal left I started to play the violin.", "A brave start.", minutes=4_000)
    violin = node(mira, "Ana started to play the violin.", message.session, quoting(message, 26))
    assert list_mentions(target_of(parrot))[message.content] == ("names_it", "withhold")
    forget(target_of(parrot))
    assert ConceptNode.objects.filter(pk=violin.pk).exists()
    message.refresh_from_db()
    assert message.withheld


def test_every_text_made_by_the_persona_that_says_the_name_goes(mira: Persona, parrot: ConceptNode) -> None:
    other = say(mira, "Ben came by.", "How is he?", minutes=5_000)
    Session.objects.filter(pk=other.session_id).update(status="closed", summary="Ben asked about Quetzal.")
    ben = entity(mira, "Ben", node(mira, "Ben came by.", other.session, quoting(other)), kind="person")
    Entity.objects.filter(pk=ben.pk).update(description="Ben, who likes Quetzal.", described_by="slow_cycle")
    mood.change(mira, mood.Mood("misses Quetzal", 3, "sad"), other.session.uuid, NOW)
    Question.objects.create(persona=mira, text="Will Quetzal come back?", content_hash="q", asked_at=NOW)
    events.publish(mira.uuid, "chat.session.boundary", closed_session_id=str(other.session.uuid), summary="Quetzal")
    CoreBlock.objects.filter(persona=mira, label="user").update(content="Ana has a parrot, Quetzal.")
    planned = plan([target_of(parrot)])
    assert ("core_block", "written_by_people") in {(item.kind, item.why) for item in planned.untouched}
    forget(target_of(parrot))
    other.session.refresh_from_db()
    ben.refresh_from_db()
    mira.refresh_from_db()
    assert (other.session.summary, ben.description, mira.episodic_state) == ("", "", {})
    assert not Question.objects.exists()


def test_a_rare_word_counts_alone(mira: Persona) -> None:
    """A restatement by the persona in the same session is deleted too; for later messages the owner chooses."""
    message = say(mira, "The doctor says that I have sarcoidosis.", "Sarcoidosis can be frightening. I am here.")
    say(mira, "Thank you for being here, Mira.", "I hear sarcoidosis often heals by itself.", minutes=1)
    say(mira, "My pills for the sarcoidosis make me sleepy.", "Then rest a little.", minutes=2)
    ill = node(mira, "Ana has sarcoidosis.", message.session, quoting(message))
    assert list_mentions(target_of(ill)) == {
        "I hear sarcoidosis often heals by itself.": ("rare_word", "forget"),
        "My pills for the sarcoidosis make me sleepy.": ("rare_word", "leave"),
    }


def test_a_word_that_is_said_all_the_time_is_not_rare(mira: Persona) -> None:
    message = say(mira, "My violin was stolen in Ghent.", "How awful.")
    stolen = node(mira, "Ana's violin was stolen in Ghent.", message.session, quoting(message))
    for number in range(8):
        Session.objects.filter(status="open").update(status="closed")
        say(mira, f"I practised the violin, day {number}.", "Well done.", minutes=2_000 * (number + 1))
    assert list_mentions(target_of(stolen)) == {}


def test_a_rare_word_in_chinese_is_listed(mira: Persona) -> None:
    message = say(mira, "医生说我得了白血病", "白血病的治疗会很辛苦，我陪着你。")
    later = say(mira, "关于白血病的书我看完了", "辛苦了。", minutes=1)
    ill = node(mira, "安娜得了白血病。", message.session, quoting(message))
    assert list_mentions(target_of(ill)) == {later.content: ("rare_word", "leave")}


def test_a_name_and_the_sign_behind_it_are_no_rare_word(mira: Persona) -> None:
    """A memory in the owner's words begins with their name; cut into pairs of signs, it gave the pair 「子我」."""
    Persona.objects.filter(pk=mira.pk).update(user_name="林子", language="zh")
    mira.refresh_from_db()
    message = say(mira, "我对芒果过敏", "记住了。")
    say(mira, "那孩子我见过", "是吗？", minutes=1)
    memory = node(mira, "林子：“我对芒果过敏”", message.session, quoting(message))
    assert list_mentions(target_of(memory)) == {}


def test_the_owners_own_words_elsewhere_are_listed_and_stay(mira: Persona) -> None:
    text = "I should have called my father back that evening"
    first = say(mira, text, "You could not know.")
    Session.objects.filter(pk=first.session_id).update(status="closed")
    second = say(mira, f"{text}.", "I know.", minutes=3_000)
    assert list_mentions(target_of(first)) == {second.content: ("same_words", "leave")}
    receipt = forget(target_of(first))
    assert contents() == {second.content, "I know."}
    assert receipt.choice["kept_elsewhere"] == 1


def test_a_reverted_import_lists_no_mentions(mira: Persona, parrot: ConceptNode) -> None:
    assert plan([target_of(parrot)], Choice("orphan", block_reimport=False)).mentioned == ()


def test_the_names_of_the_two_who_talk_are_no_mention(mira: Persona) -> None:
    message = say(mira, "I, Ana, was robbed in the Marais.", "Poor you, Ana.")
    robbed = node(mira, "Ana was robbed in the Marais.", message.session, quoting(message))
    entity(mira, "Ana", robbed, kind="person")
    say(mira, "Ana is going to bed.", "Sleep well, Ana.", minutes=1)
    assert list_mentions(target_of(robbed)) == {}


def test_a_name_that_stands_everywhere_is_listed_and_left(mira: Persona) -> None:
    message = say(mira, "I got lost in Zagreb.", "Oh dear.")
    memory = node(mira, "Ana got lost in Zagreb.", message.session, quoting(message))
    entity(mira, "Zagreb", memory, kind="place")
    for number in range(26):
        say(mira, f"Weather in Zagreb, {number}.", f"Zagreb, number {number}.", minutes=number + 1)
    assert {mode for _why, mode in list_mentions(target_of(memory)).values()} == {"leave"}


def test_a_confirmed_plan_holds_the_choice_for_each(parrot: ConceptNode) -> None:
    news = Message.objects.get(content__endswith="news of Quetzal?")
    choice = Choice(mentions=frozenset({(news.pk, "leave")}))
    assert plan([target_of(parrot)], choice).digest != plan([target_of(parrot)]).digest
    assert plan([target_of(parrot)], choice).digest == plan([target_of(parrot)], choice).digest
    assert forgetting.forget(plan([target_of(parrot)], choice), None, NOW + timedelta(days=1)).choice["mentions"] == 1


def test_common_words_say_nothing_alone() -> None:
    words = {"mother": (True, False), "garden": (False, False), "sarcoidosi": (False, True), "1987": (True, False)}
    words |= {"白血": (False, False), "一只": (True, False), "我领": (True, False), "今天": (True, False)}
    assert {word: (is_common(word), is_telling_alone(word)) for word in words} == words
