"""What is made without a model of what somebody brings: a diary, and drafts of who the two are."""

from typing import Any

from echovessel.llm.offline.diary import imported
from echovessel.llm.offline.portrait import drafted
from tests.table import each_row


def diary(*entries: str, language: str = "en", **rest: Any) -> dict[str, Any]:
    names = {"en": ("Mira", "Ana"), "zh": ("阿澜", "小雨")}[language]
    lines = [
        {"id": f"m{number}", "role": "user", "content": entry, "at": f"2024-01-{5 + number:02}T12:00:00+08:00"}
        for number, entry in enumerate(entries)
    ]
    told = {"language": language, "persona_name": names[0], "user_name": names[1], "timezone": "Asia/Shanghai"}
    return imported(told | {"now": "2026-03-05T09:00:00+00:00", "lines": lines, "prose": True} | rest)


def talk(*lines: tuple[str, str], language: str = "en") -> list[tuple[str, str, str]]:
    names = {"en": ("Mira", "Ana"), "zh": ("阿澜", "小雨")}[language]
    said = [
        {"id": f"m{number}", "role": role, "content": content, "at": "2024-01-05T12:00:00+08:00"}
        for number, (role, content) in enumerate(lines)
    ]
    answer = drafted({"language": language, "persona_name": names[0], "user_name": names[1], "lines": said})
    contents = {one["id"]: one["content"] for one in said}
    for one in answer["drafts"]:
        assert all(cited["quote"] in contents[cited["message_id"]] for cited in one["evidence"])
    return [(one["label"], one["text"], one["evidence"][0]["quote"]) for one in answer["drafts"]]


def days(answer: dict[str, Any]) -> list[str | None]:
    return [event["event_time"] and event["event_time"]["start"] for event in answer["events"]]


def test_what_happened_in_an_entry_happened_on_its_day_and_yesterday_is_the_day_before() -> None:
    answer = diary("My sister Anna got engaged yesterday!", "My dog Otto died. I cried for hours.")
    assert [event["description"] for event in answer["events"]] == [
        "Ana's sister Anna got engaged on 2024-01-04!",
        "Ana's dog Otto died.",
        "Ana cried for hours.",
    ]
    assert days(answer) == ["2024-01-04", "2024-01-06", "2024-01-06"]


def test_a_chinese_diary_is_read_alike() -> None:
    answer = diary("今天小黑生病了，我很难过。", "昨天我被裁了。", language="zh")
    assert days(answer) == ["2024-01-05", "2024-01-05"]
    assert all(
        event["evidence"][0]["quote"] in "今天小黑生病了，我很难过。昨天我被裁了。" for event in answer["events"]
    )


def test_what_holds_for_long_has_no_day() -> None:
    assert days(diary("I have a cat named Milo.", "My brother lives in Rome.")) == [None, None]


def test_of_an_undated_text_nothing_has_a_day_and_no_word_becomes_one() -> None:
    answer = diary("My sister Anna got engaged yesterday!", dated=False)
    assert days(answer) == [None]
    assert answer["events"][0]["description"] == "Ana's sister Anna got engaged yesterday!"


def test_two_things_of_an_entry_are_kept_and_twelve_of_a_text() -> None:
    heavy = "My dog died. My father died. I lost my job. I cried for hours."
    assert len(diary(heavy)["events"]) == 2
    friends = ["Tom", "Ben", "Kim", "Lea", "Max", "Ida", "Ron", "Sue", "Ray", "Liz", "Jon", "Eva", "Dan", "Amy", "Joe"]
    assert len(diary(*[f"My friend {name} died." for name in friends])["events"]) == 12


def test_a_thought_rests_on_an_event_and_without_weight_there_is_none() -> None:
    answer = diary("My dog Otto died.", "We drank tea.")
    [thought] = answer["thoughts"]
    assert thought["filling"] == [0]
    assert diary("We drank tea.")["thoughts"] == []
    assert diary()["events"] == []


def test_a_talk_that_was_brought_is_read_as_a_talk() -> None:
    answer = diary("My dog Otto died.", prose=False)
    assert "thoughts" not in answer
    assert answer["session_mood_signal"]


def test_what_others_said_is_nothing_to_remember() -> None:
    line = {"id": "", "role": "system", "speaker": "Kim", "content": "I lost my job.", "at": "2024-01-05T12:00:00Z"}
    assert diary("We met.", lines=[line])["events"] == []
    assert diary("We met.", lines=[line], prose=False)["events"] == []


# --- drafts ---------------------------------------------------------------------------------------------------------
def test_what_both_say_of_themselves_is_drafted_of_the_right_one() -> None:
    assert talk(("user", "I'm a nurse. It rained."), ("persona", "I love the rain. How are you?")) == [
        ("user", "Ana is a nurse.", "I'm a nurse."),
        ("persona", "Mira loves the rain.", "I love the rain."),
    ]
    assert talk(("user", "我是护士。今天下雨。"), ("persona", "我喜欢下雨天。"), language="zh") == [
        ("user", "小雨是护士。", "我是护士。"),
        ("persona", "阿澜喜欢下雨天。", "我喜欢下雨天。"),
    ]


def test_a_wish_about_the_tone_is_of_style_and_nothing_else() -> None:
    assert talk(("user", "Please don't call me Annie.")) == [
        ("style", "Please don't call Ana Annie.", "Please don't call me Annie.")
    ]


@each_row(
    "line", ["I'm a bit tired.", "Am I a nurse?", "I am an AI language model.", "我是人工智能。", "It rained.", ""]
)
def test_what_passes_and_what_is_asked_is_no_draft(line: str) -> None:
    assert talk(("persona", line), ("user", line)) == []


def test_how_long_her_lines_are_is_told_by_the_one_in_the_middle() -> None:
    brief = talk(*[("persona", words) for words in ("Mhm.", "Go on, tell me.", "Nice to hear from you again, dear.")])
    assert brief == [("style", "Mira speaks in short lines, a sentence or two.", "Go on, tell me.")]
    wordy = talk(*[("persona", f"{number} " + "and then the wind came up again " * 12) for number in range(3)])
    assert [text for _, text, _ in wordy] == ["Mira speaks at length, in whole paragraphs."]
    assert talk(("persona", "Mhm."), ("persona", "Yes.")) == []


def test_the_same_is_drafted_once_and_no_more_than_a_few() -> None:
    assert len(talk(*[("user", "I am a nurse.")] * 5)) == 1
    assert len(talk(*[("user", f"I work for company {number}.") for number in range(20)])) == 8
