"""What the provider without a model makes of things between talks, and what it says first or in a hard hour."""

from typing import Any

import pytest

from echovessel import llm
from echovessel.llm.offline.describing import described
from echovessel.llm.offline.extraction import extracted
from echovessel.llm.offline.first_word import spoken_first
from echovessel.llm.offline.reply import replied
from echovessel.llm.offline.slow_cycle import wondered
from memory.slow_cycle.answer_schema import EntityAnswer, SlowCycleAnswer
from proactive.outreach.write import FirstWord

pytestmark = pytest.mark.django_db

MONDAY = "2026-03-02T04:00:00+00:00"
RESULT_EN = "Ana gets the result of their job interview by Friday."
RESULT_ZH = "小雨周五要出面试结果。"


def told(
    description: str, impact: int = 0, *tags: str, day: str = "", at: str = MONDAY, key: str = "e1"
) -> dict[str, Any]:
    return {
        "id": key,
        "description": description,
        "emotional_impact": impact,
        "relational_tags": list(tags),
        "event_time": {"start": day, "end": day} if day else None,
        "told_at": at,
    }


def between(*events: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "language": "en",
        "persona_name": "Mira",
        "user_name": "Ana",
        "now": MONDAY,
        "timezone": "Asia/Shanghai",
        "events": list(events),
        "thoughts": [],
        "awaited": [],
        "questions": [],
    } | changes


def expecting(description: str, due: str | None = "2026-03-06") -> list[dict[str, Any]]:
    return [{"id": "e9", "kind": "expectation", "description": description, "due": due}]


def in_chinese(*events: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return between(*events, language="zh", user_name="小雨", persona_name="阿澜", **changes)


# --- what lies ahead ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("description", "day", "due"),
    [
        (RESULT_EN, "", "2026-03-06"),
        ("Ana will hear from the landlord next Thursday.", "", "2026-03-05"),
        ("Ana flies to Rome on 2026-03-20.", "2026-03-20", "2026-03-20"),
        (RESULT_ZH, "", "2026-03-06"),
        ("小雨下周五去上海旅行。", "2026-03-13", "2026-03-13"),
    ],
)
def test_what_lies_ahead_is_expected_by_its_day(description: str, day: str, due: str) -> None:
    [expected] = wondered(between(told(description, day=day)))["expectations"]
    assert (expected["due"], expected["filling"]) == (due, ["e1"])
    assert description in expected["description"]


@pytest.mark.parametrize(
    ("description", "day", "at"),
    [
        ("Ana moved house on Sunday.", "", MONDAY),
        ("Ana was in Rome on 2026-02-20.", "2026-02-20", MONDAY),
        ("Ana adopted a cat.", "", MONDAY),
        ("Ana asked: “Will it rain by Friday?”", "", MONDAY),
        ("小雨上周五去爬山了。", "", MONDAY),
        ("Ana was born on 1990-05-04.", "1990-05-04", MONDAY),
        ("Ana will retire on 2055-05-04.", "2055-05-04", MONDAY),
        (RESULT_EN, "", "2026-02-16T04:00:00+00:00"),
    ],
)
def test_what_is_past_asked_or_far_away_is_not_expected(description: str, day: str, at: str) -> None:
    assert wondered(between(told(description, day=day, at=at)))["expectations"] == []


def test_the_next_two_are_expected_and_nothing_twice() -> None:
    ahead = [told(f"Ana goes to {city} on {day}.", day=day, key=key) for city, day, key in (
        ("Rome", "2026-03-20", "e1"), ("Oslo", "2026-03-08", "e2"), ("Bern", "2026-03-09", "e3"),
    )]  # fmt: skip
    answer = wondered(between(*ahead))
    assert [one["due"] for one in answer["expectations"]] == ["2026-03-08", "2026-03-09"]
    known = expecting(f"I expect to hear how this turns out: {RESULT_EN}")
    assert wondered(between(told(RESULT_EN), awaited=known))["expectations"] == []


@pytest.mark.parametrize(
    "description",
    [
        "小雨2026-03-02去面试了一家公司，周五出结果。",
        "Ana had an interview on 2026-03-02 and gets the result by Friday.",
    ],
)
def test_what_has_just_been_may_have_a_sequel(description: str) -> None:
    [expected] = wondered(between(told(description, day="2026-03-02")))["expectations"]
    assert expected["due"] == "2026-03-06"


def test_who_goes_somewhere_on_a_day_is_waited_for() -> None:
    [expected] = wondered(between(told("Ana's mother goes to hospital on Thursday.")))["expectations"]
    assert expected["due"] == "2026-03-05"


# --- how it ended ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("awaited", "said", "outcome"),
    [
        (RESULT_EN, "The result of the interview came: Ana got the job!", "fulfilled"),
        (RESULT_EN, "Ana passed the interview and is starting the job in May.", "fulfilled"),
        (RESULT_EN, "Ana didn't get the job after the interview.", "violated"),
        (RESULT_EN, "The interview result was a rejection.", "violated"),
        ("Ana may move to Lisbon in March.", "Ana finally moved to Lisbon.", "fulfilled"),
        ("Ana may move to Lisbon in March.", "The move to Lisbon fell through.", "violated"),
        (RESULT_ZH, "面试结果出来了，小雨被录取了！", "fulfilled"),
        (RESULT_ZH, "小雨的面试没通过，结果让人难过。", "violated"),
    ],
)
def test_a_plain_word_on_what_was_expected_is_its_outcome(awaited: str, said: str, outcome: str) -> None:
    answer = wondered(between(told("Ana has a cat.", key="e2"), told(said), awaited=expecting(awaited)))
    assert answer["outcomes"] == [{"of": "e9", "outcome": outcome, "evidence": ["e1"]}]


@pytest.mark.parametrize(
    ("awaited", "said"),
    [
        (RESULT_EN, "Ana is still waiting for the result of the interview."),
        (RESULT_EN, "Ana hopes the interview result is good and that they passed."),
        (RESULT_EN, "Ana got new shoes."),
        (RESULT_EN, "Ana asked: “Did I get the job after the interview?”"),
        (RESULT_EN, "Ana is nervous about the interview result."),
        (RESULT_ZH, "面试结果还没出来。"),
        (RESULT_ZH, "小雨希望面试结果能通过。"),
        (RESULT_ZH, "小雨收到了新鞋子。"),
    ],
)
def test_hopes_questions_and_other_things_settle_nothing(awaited: str, said: str) -> None:
    assert wondered(between(told(said), awaited=expecting(awaited)))["outcomes"] == []


def test_the_names_of_the_two_and_the_weekday_are_nothing_in_common() -> None:
    said = told("Ana got a letter from Mira on Friday, and it came today.")
    assert wondered(between(said, awaited=expecting("Ana tells Mira of the ballet on Friday.")))["outcomes"] == []


# --- thoughts and questions -----------------------------------------------------------------------------------------
def test_a_thought_comes_only_where_something_weighs() -> None:
    assert wondered(between(told("Ana bought shoes.", 1)))["thoughts"] == []
    [thought] = wondered(between(told("Ana bought shoes.", 1), told("Ana's mother died.", -9, key="e2")))["thoughts"]
    assert thought["filling"] == ["e2"]
    assert -9 < thought["emotional_impact"] < 0
    again = wondered(between(told("Ana's mother died.", -9), thoughts=[{"id": "e7"} | thought]))
    assert again["thoughts"] == []


def test_what_is_unresolved_gives_one_question_that_a_later_event_answers() -> None:
    argued = told("Ana argued with their sister Lena about the house.", -3, "unresolved")
    [question] = wondered(between(told("Ana has a cat.", key="e2"), argued))["salient_questions"]
    assert question["about"] == ["e1"]
    open_one = [{"id": "q3", "text": question["text"]}]
    assert wondered(between(argued, questions=open_one))["salient_questions"] == []
    answer = wondered(between(told("Ana and Lena sold the house together.", key="e5"), questions=open_one))
    assert answer["answered_questions"] == [{"question": "q3", "by": "e5"}]
    assert wondered(between(told("Ana has a cat."), questions=open_one))["answered_questions"] == []


def test_nothing_new_gives_nothing_and_the_same_gives_the_same() -> None:
    assert not any(wondered(between()).values())
    much = in_chinese(told(RESULT_ZH, -3), told("小雨的妈妈去世了。", -9, key="e2"), awaited=expecting(RESULT_ZH))
    assert wondered(much) == wondered(much)


def test_the_answers_are_what_the_slow_cycle_reads() -> None:
    much = between(
        told("The result of the interview came: Ana got the job!", 5),
        told("Ana's mother died.", -9, key="e2"),
        told("Ana flies to Rome on 2026-03-20.", day="2026-03-20", key="e3"),
        awaited=expecting(RESULT_EN),
        questions=[{"id": "q1", "text": "How has it been for Ana since then: Ana waits for the interview result."}],
    )
    request = llm.Request("", "", tier="medium", purpose="slow_cycle", max_tokens=100, material=much)
    answer = llm.answer_now(request, SlowCycleAnswer).value
    kinds = (answer.thoughts, answer.salient_questions, answer.expectations, answer.outcomes, answer.answered_questions)
    assert all(kinds)
    assert answer.dropped == 0


# --- who somebody is ------------------------------------------------------------------------------------------------
def test_somebody_is_described_by_how_they_were_introduced_and_what_weighs_most() -> None:
    events = [
        told("Ana adopted a white cat named Snowball", 2, key="e1"),
        told("Snowball ate a sock.", 1, key="e2"),
        told("Snowball was very ill.", -6, key="e3"),
        told("Snowball got well again.", 5, key="e4"),
        told("Ana asked: “Where is Snowball?”", -9, key="e5"),
    ]
    material = between(*events, name="Snowball", kind="pet", description="")
    request = llm.Request("", "", tier="medium", purpose="entity", max_tokens=100, material=material)
    answer = llm.answer_now(request, EntityAnswer).value
    assert answer.description == (
        "Ana adopted a white cat named Snowball. Snowball was very ill. Snowball got well again."
    )
    assert answer.filling == ["e1", "e3", "e4"]


def test_a_description_never_exceeds_400_characters() -> None:
    long = [told(f"小黑{'很长' * 60}", key=f"e{number}") for number in range(5)]
    answer = described({"name": "小黑", "events": long})
    assert len(answer["description"]) <= 400
    assert len(answer["filling"]) == 3
    assert len(described({"name": "小黑", "events": [told("小黑" * 300)]})["description"]) == 400


def test_a_thought_about_what_has_no_name_is_still_a_sentence() -> None:
    [english] = wondered(between(told("Ana broke down.", impact=-8)))["thoughts"]
    assert english["description"] == "What Ana told me will stay with Ana for a while, I think."
    [chinese] = wondered(in_chinese(told("小雨心碎了。", impact=-8)))["thoughts"]
    assert chinese["description"] == "这件事，大概会在小雨心里留一阵子。"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("My flight to Lisbon leaves on Friday.", "flight to Lisbon leaves on Friday"),
        ("I had a haircut today. I get the result by Friday.", "the result by Friday"),
        ("我在等验血结果，周四出来。", "等验血结果，周四出来"),
    ],
)
def test_what_a_weekday_is_to_bring_is_kept(line: str, words: str) -> None:
    material = {
        "language": "en",
        "persona_name": "Mira",
        "user_name": "Ana",
        "timezone": "UTC",
        "lines": [{"id": "m1", "role": "user", "at": MONDAY, "content": line}],
    }
    assert any(words in event["description"] for event in extracted(material)["events"])


# --- the first word -------------------------------------------------------------------------------------------------
def first_word(trigger: str, about: str = "", **changes: Any) -> str:
    material = {
        "language": "en",
        "persona_name": "Mira",
        "user_name": "Ana",
        "trigger": trigger,
        "about": about,
        "about_day": None,
        "today": "2026-03-06",
        "recollections": [],
    } | changes
    request = llm.Request("", "", tier="medium", purpose="proactive", max_tokens=100, material=material)
    assert spoken_first(material) == spoken_first(material)
    return llm.answer_now(request, FirstWord).value.message


def recalled(*texts: str) -> list[dict[str, Any]]:
    return [{"text": text, "layer": "L3", "speaker": None} for text in texts]


@pytest.mark.parametrize(
    ("trigger", "about", "words"),
    [
        ("promise", "Mira will ask Ana about the interview.", "I will ask you about the interview."),
        ("expectation", f"I expect to hear how this turns out: {RESULT_EN}", "You get the result of your job"),
        ("shock", "Ana's mother died.", "Your mother died."),
        ("shock", "Ana got engaged.", "You got engaged."),
        ("silence", "", "You have a cat."),
    ],
)
def test_a_first_word_tells_the_user_what_it_is_about(trigger: str, about: str, words: str) -> None:
    said = first_word(trigger, about, recollections=recalled("Ana has a cat."))
    assert words in said
    assert said.startswith("Ana, ")
    assert said.endswith("?")


@pytest.mark.parametrize(
    ("trigger", "about", "words"),
    [
        ("promise", "阿澜答应周五问小雨面试的事。", "我答应周五问你面试的事。"),
        ("expectation", f"应该很快就有下文了：{RESULT_ZH}", "你周五要出面试结果。"),
        ("shock", "小雨的妈妈去世了。", "你的妈妈去世了。"),
        ("shock", "小雨订婚了。", "你订婚了。"),
        ("silence", "", "你养了只猫。"),
    ],
)
def test_a_first_word_in_chinese(trigger: str, about: str, words: str) -> None:
    said = first_word(
        trigger, about, language="zh", persona_name="阿澜", user_name="小雨", recollections=recalled("小雨养了只猫。")
    )
    assert words in said
    assert said.startswith("小雨，")


def test_after_a_silence_no_sorrow_is_brought_up_and_nobody_is_blamed() -> None:
    sad = recalled("Ana's mother died.")
    assert first_word("silence", recollections=sad) == first_word("silence")
    assert "cat" in first_word("silence", recollections=[*sad, *recalled("Ana has a cat.")])
    for word in ("haven't written", "ignore", "why didn't", "lonely", "miss"):
        assert word not in first_word("silence").casefold()


def test_grief_is_not_smiled_at_and_joy_is_not_mourned() -> None:
    assert "smile" not in first_word("shock", "Ana's mother died.")
    assert "smile" in first_word("shock", "Ana got engaged.")


def test_what_nobody_can_weigh_is_not_smiled_at() -> None:
    assert "smile" not in first_word("shock", "Ana sat with the letter for a long time.")


@pytest.mark.parametrize(
    ("language", "about", "words"),
    [
        ("en", "Ana's cat died on the night of 2026-03-05.", "Your cat died last night."),
        ("en", "Ana had an interview on 2026-03-02.", "You had an interview on Monday."),
        ("en", "Ana was born on 1990-01-02.", "You were born on 2 January 1990."),
        ("zh", "Ana2026-03-05晚上没睡。", "你昨天晚上没睡。"),
        ("zh", "Ana2026-02-01去面试了。", "你2月1日去面试了。"),
    ],
)
def test_days_are_told_as_one_speaks_of_them(language: str, about: str, words: str) -> None:
    assert words in first_word("expectation", about, language=language)


def test_in_a_long_silence_she_does_not_say_the_same_again() -> None:
    cats = recalled("Ana has a cat.")
    first = first_word("silence", recollections=cats)
    said = [{"role": "persona", "content": first}]
    second = first_word("silence", recollections=cats, recent=said)
    third = first_word("silence", recollections=cats, recent=[*said, {"role": "persona", "content": second}])
    assert "cat" not in second + third
    assert len({first, second, third}) == 3


# --- a hard hour ----------------------------------------------------------------------------------------------------
def hard_hour(line: str, **changes: Any) -> str:
    return replied(
        {
            "language": "en",
            "persona_name": "Mira",
            "user_name": "Ana",
            "lines": [line],
            "recollections": recalled("Ana has a cat."),
            "recent": [],
            "crisis": True,
        }
        | changes
    )


@pytest.mark.parametrize("line", ["hello", "k m s", "thanks", "Do you remember my cat?", "tell me a joke", "a dog"])
def test_in_a_hard_hour_the_reply_is_gentle_whatever_is_said(line: str) -> None:
    said = hard_hour(line)
    assert "AI" in said
    assert "emergency number" in said
    assert "crisis line" in said
    assert "cat" not in said
    assert "dog" not in said


def test_a_second_cry_is_not_met_with_the_very_same_words() -> None:
    first = hard_hour("I want to die")
    second = hard_hour("I can't go on", recent=[{"role": "persona", "content": first}])
    assert first != second
    assert "emergency number" in second


@pytest.mark.parametrize("line", ["你好", "谢谢", "我的猫叫什么？"])
def test_in_a_hard_hour_in_chinese(line: str) -> None:
    said = hard_hour(line, language="zh", user_name="小雨")
    assert "AI" in said
    assert "心理援助" in said
    assert "猫" not in said


def test_it_does_not_say_the_same_twice_in_a_row() -> None:
    first = hard_hour("hello")
    second = hard_hour("hello", recent=[{"role": "persona", "content": first}])
    assert first != second


def test_without_a_hard_hour_nothing_of_that_is_said() -> None:
    assert "crisis line" not in hard_hour("hello", crisis=False)
