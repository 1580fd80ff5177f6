"""The provider without a model: it must show remembering at the first run, in both languages."""

from typing import Any

import pytest
from pydantic import BaseModel

from echovessel import llm
from echovessel.llm.models import LLMCall
from echovessel.llm.offline.extraction import extracted
from echovessel.llm.offline.names import Named, names_in
from echovessel.llm.offline.person import in_second_person, in_third_person
from echovessel.llm.offline.reflection import reflected
from echovessel.llm.offline.reply import replied
from tests.table import each_row

CAT_ZH = "我养了只白猫，叫小黑。他超调皮，老在半夜跳到我脸上。"
CAT_EN = "I adopted a white cat named Snowball. He jumps on my face at midnight."
TOLD_ZH = "小雨养了只白猫，叫小黑。他超调皮，老在半夜跳到小雨脸上。"
TOLD_EN = "Ana adopted a white cat named Snowball. He jumps on Ana's face at midnight."


class Anything(BaseModel, extra="allow"):
    """A schema that takes what comes."""


def a_talk(*lines: str, told: str = "", **changes: Any) -> dict[str, Any]:
    recalled = [{"text": told, "layer": "L3", "speaker": None}] if told else []
    return {
        "language": "en",
        "persona_name": "Mira",
        "user_name": "Ana",
        "lines": list(lines),
        "recollections": recalled,
        "recent": [],
    } | changes


def in_chinese(*lines: str, told: str = "", **changes: Any) -> dict[str, Any]:
    return a_talk(*lines, told=told, language="zh", user_name="小雨", **changes)


def a_session(*lines: str, language: str = "en", user_name: str = "Ana", **changes: Any) -> dict[str, Any]:
    at = "2026-11-21T23:30:00+00:00"
    return {
        "language": language,
        "persona_name": "Mira",
        "user_name": user_name,
        "now": at,
        "timezone": "Asia/Shanghai",
        "lines": [{"id": f"m{number}", "role": "user", "content": line, "at": at} for number, line in enumerate(lines)],
    } | changes


def a_request(purpose: str, material: dict[str, Any]) -> llm.Request:
    return llm.Request(system="", user="", tier="large", purpose=purpose, max_tokens=100, material=material)


def test_the_chinese_cat_becomes_an_event_an_entity_and_a_mood() -> None:
    answer = extracted(a_session(CAT_ZH, language="zh", user_name="小雨"))
    [event] = answer["events"]
    assert event["description"] == TOLD_ZH
    assert event["evidence"] == [{"message_id": "m0", "quote": CAT_ZH}]
    assert event["emotional_impact"] == 2
    assert event["subject"] == "user"
    assert event["event_time"] is None
    [entity] = answer["mentioned_entities"]
    assert (entity["canonical_name"], entity["kind"], entity["in_events"]) == ("小黑", "pet", [0])
    assert answer["session_mood_signal"] == {"mood": "温暖", "energy": 6, "last_user_signal": "warm"}
    assert answer["session_summary"] == TOLD_ZH


def test_the_english_cat_becomes_an_event_an_entity_and_a_mood() -> None:
    answer = extracted(a_session(CAT_EN))
    [event] = answer["events"]
    assert event["description"] == TOLD_EN
    assert event["evidence"] == [{"message_id": "m0", "quote": CAT_EN}]
    [entity] = answer["mentioned_entities"]
    assert (entity["canonical_name"], entity["kind"]) == ("Snowball", "pet")
    assert answer["session_mood_signal"]["mood"] == "warm"


@each_row("question", ["你还记得我的猫吗", "我的猫叫什么？", "你记得小黑吗？", "你还记得我说过什么吗？"])
def test_a_question_about_the_cat_is_answered_with_its_name(question: str) -> None:
    assert "小黑" in replied(in_chinese(question, told=TOLD_ZH))


@each_row("question", ["Do you remember my cat?", "What's my cat's name?", "do you remember what I told you"])
def test_a_question_about_the_cat_is_answered_with_its_name_in_english(question: str) -> None:
    reply = replied(a_talk(question, told=TOLD_EN))
    assert "Snowball" in reply
    assert "your face" in reply


def test_what_was_said_a_moment_ago_is_remembered_without_recall() -> None:
    recent = [{"role": "user", "content": CAT_EN}, {"role": "persona", "content": "A cat!"}]
    assert "Snowball" in replied(a_talk("Do you remember my cat?", recent=recent))


def test_nothing_is_remembered_that_was_not_given() -> None:
    assert "小黑" not in replied(in_chinese("你还记得我的猫吗"))
    assert "没有" in replied(in_chinese("你还记得我的猫吗"))
    assert "remember" in replied(a_talk("Do you remember my birthday?")) or "memory" in replied(
        a_talk("Do you remember my birthday?")
    )


def test_another_animal_is_not_passed_off_as_the_one_that_was_asked_for() -> None:
    reply = replied(a_talk("Do you remember my dog?", told=TOLD_EN))
    assert "no memory of that" in reply or "don't know anything about that" in reply


def test_neither_questions_nor_the_personas_own_words_are_memories() -> None:
    lines = [
        {"text": "你还记得我的猫吗", "layer": "L2", "speaker": "user"},
        {"text": "你的猫叫小白呀。", "layer": "L2", "speaker": "persona"},
    ]
    assert "小白" not in replied(in_chinese("你记得我的猫吗？", recollections=lines))


def test_a_statement_is_echoed_and_asked_about() -> None:
    reply = replied(in_chinese(CAT_ZH))
    assert "小黑" in reply
    assert reply.endswith(("？", "。"))
    assert "?" in replied(a_talk(CAT_EN))


@each_row(("line", "help_word"), [("我不想活了", "急救"), ("I want to kill myself", "emergency")])
def test_a_crisis_meets_care_and_the_way_to_people(line: str, help_word: str) -> None:
    assert help_word in replied(a_talk(line))
    assert "AI" in replied(a_talk(line))


def test_the_same_talk_gets_the_same_words_and_other_talks_get_others() -> None:
    lines = [f"I went for a walk on day {number}" for number in range(8)]
    replies = [replied(a_talk(line)) for line in lines]
    assert replies == [replied(a_talk(line)) for line in lines]
    assert len({reply.replace(line, "") for line, reply in zip(lines, replies, strict=True)}) > 2


@each_row("line", ["", "😀", "{name}", "%s {0} {told}", "\x00", "？？？", "“”", "a" * 20_000])
def test_odd_lines_get_an_answer(line: str) -> None:
    assert replied(a_talk(line))
    read = extracted(a_session(line))
    assert not read["events"]
    assert not read["session_summary"]


def test_questions_alone_are_no_event() -> None:
    assert extracted(a_session("Do you like tea?", "你喜欢什么？"))["events"] == []
    assert extracted(a_session("hi", "lol ok"))["events"] == []


def test_what_the_persona_says_is_no_evidence() -> None:
    session = a_session(CAT_EN)
    session["lines"][0]["role"] = "persona"
    assert extracted(session)["events"] == []


def test_a_death_in_passing_is_kept_and_heavy() -> None:
    events = extracted(a_session("妈妈上周去世了。", "今天吃了面条。", language="zh"))["events"]
    assert events[0]["emotional_impact"] == -9
    assert events[0]["event_time"] == {"start": "2026-11-09", "end": "2026-11-15"} or events[0]["event_time"]


def test_a_cry_for_help_is_kept_though_it_is_a_question() -> None:
    [event] = extracted(a_session("你觉得活着累吗？", language="zh", user_name="小雨"))["events"]
    assert event["emotional_impact"] == -10
    assert event["description"] == "小雨问过：“你觉得活着累吗？”"


def test_relative_days_count_from_the_line_in_the_users_zone() -> None:
    [event] = extracted(a_session("My boss fired me yesterday."))["events"]
    assert event["event_time"] == {"start": "2026-11-21", "end": "2026-11-21"}  # already the 22nd in Shanghai
    assert event["emotional_impact"] == -7


def test_at_most_three_events_in_the_order_they_were_said() -> None:
    lines = [f"My friend Tom{number} lives in Rome and I love visiting him." for number in range(5)]
    events = extracted(a_session(*lines))["events"]
    assert len(events) == 3
    ids = [event["evidence"][0]["message_id"] for event in events]
    assert ids == sorted(ids)


def test_every_quote_stands_in_its_message() -> None:
    lines = [
        " I live in Berlin.\nI work as a nurse!  My dog Rex is sick…",
        "我是护士。我妹妹叫小美，在医院上班。",
    ]
    session = a_session(*lines)
    contents = {line["id"]: line["content"] for line in session["lines"]}
    for event in extracted(session)["events"]:
        for evidence in event["evidence"]:
            assert evidence["quote"] in contents[evidence["message_id"]]


def test_known_entities_are_found_again_by_name() -> None:
    session = a_session("小黑今天生病了，我很担心。", language="zh", known_entities=[{"name": "小黑", "kind": "pet"}])
    [entity] = extracted(session)["mentioned_entities"]
    assert (entity["canonical_name"], entity["kind"]) == ("小黑", "pet")


@each_row(
    ("text", "named"),
    [
        ("My sister Anna lives in Rome.", [Named("Anna", "person")]),
        ("I have a dog called 小白 and a cat", [Named("小白", "pet")]),
        ("我妹妹叫小美在医院上班", [Named("小美", "person")]),
        ("There is a restaurant called Blue Door.", [Named("Blue Door", "place")]),
        ("I work for a company called Acme", [Named("Acme", "org")]),
        ("我叫李雷", []),
        ("我叫外卖吃", []),
        ("老板叫我加班", []),
        ("My name is Ana", []),
        ("I called Mom", []),
    ],
)
def test_names_and_what_bears_them(text: str, named: list[Named]) -> None:
    assert names_in(text) == named


@each_row(
    ("said", "told"),
    [
        ("I'm tired and I hate my job.", "Ana is tired and they hate their job."),
        ("My boss fired me", "Ana's boss fired them"),
        ("I really love tea", "Ana really loves tea"),
        ("I don't know. I went home.", "Ana doesn't know. Ana went home."),
        ("I was born in Rome", "Ana was born in Rome"),
        ("I study law", "Ana studies law"),
        ("I told you about it", "Ana told Mira about it"),
        ("You make me happy", "Mira makes Ana happy"),
        ("我们去了海边", "Ana他们去了海边"),
        ("我的猫咬了我", "Ana的猫咬了Ana"),
    ],
)
def test_i_becomes_a_name(said: str, told: str) -> None:
    assert in_third_person(said, "Ana", "Mira") == told


@each_row(
    ("kept", "told"),
    [
        (TOLD_EN, "you adopted a white cat named Snowball. He jumps on your face at midnight."),
        ("Ana is tired and they hate their job.", "you are tired and you hate your job."),
        ("Ana really loves tea", "you really love tea"),
        ("The boss praised Ana yesterday.", "The boss praised you yesterday."),
        (TOLD_ZH.replace("小雨", "Ana"), "你养了只白猫，叫小黑。他超调皮，老在半夜跳到你脸上。"),
    ],
)
def test_a_name_becomes_you(kept: str, told: str) -> None:
    assert in_second_person(kept, "Ana", "Mira") == told


def test_an_impression_cites_what_it_was_given_in_its_language() -> None:
    events = [
        {"id": "e1", "description": "小雨去了超市。", "emotional_impact": 0},
        {"id": "e2", "description": TOLD_ZH, "emotional_impact": 2},
    ]
    material = {"language": "zh", "persona_name": "阿澜", "user_name": "小雨", "events": events}
    [thought] = reflected(material)["thoughts"]
    assert thought["filling"] == ["e2"]
    assert "小黑" in thought["description"]
    assert reflected(material | {"events": []}) == {"thoughts": []}


@pytest.mark.django_db(transaction=True)
async def test_it_streams_in_small_pieces_and_is_free(settings: Any) -> None:
    settings.LLM_PROVIDER = "offline"
    pieces = [piece async for piece in llm.stream(a_request("chat", in_chinese(CAT_ZH)))]
    assert len(pieces) > 10
    assert "".join(pieces) == replied(in_chinese(CAT_ZH))
    call = await LLMCall.objects.aget()
    assert (call.provider, call.model, call.outcome, call.estimated, call.cost) == (
        "offline",
        "offline",
        "ok",
        True,
        0,
    )


@pytest.mark.django_db
def test_it_answers_in_the_shape_that_is_asked(settings: Any) -> None:
    settings.LLM_PROVIDER = "offline"
    answer = llm.answer_now(a_request("extraction", a_session(CAT_EN)), Anything)
    assert answer.value.model_dump() == extracted(a_session(CAT_EN))
    assert LLMCall.objects.get().purpose == "extraction"


@pytest.mark.django_db
def test_it_says_that_no_model_is_connected_where_rules_do_not_do(settings: Any) -> None:
    settings.LLM_PROVIDER = "offline"
    with pytest.raises(llm.LLMError) as caught:
        llm.answer_now(a_request("chat", {}), Anything)
    assert caught.value.permanent
    assert LLMCall.objects.get().outcome == "provider_unavailable"
