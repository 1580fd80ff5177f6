"""What is remembered of a talk without a model: weight, names, days, corrections, in both languages."""

from datetime import date
from typing import Any

from echovessel.language.dates import days_in
from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.dates import dated
from echovessel.llm.offline.extraction import extracted
from echovessel.llm.offline.feeling import weighed
from echovessel.llm.offline.names import names_in
from echovessel.llm.offline.person import in_second_person, in_third_person
from echovessel.llm.offline.smalltalk import is_small_talk
from tests.table import each_row

TODAY = date(2026, 3, 5)


def told(*lines: str, user_name: str = "Ana") -> dict[str, Any]:
    at = "2026-03-05T09:00:00+00:00"
    return extracted(
        {
            "language": "en",
            "persona_name": "Mira",
            "user_name": user_name,
            "now": at,
            "timezone": "Asia/Shanghai",
            "lines": [
                {"id": f"m{number}", "role": "user", "content": line, "at": at} for number, line in enumerate(lines)
            ],
        }
    )


def named(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entity["canonical_name"], entity["kind"]) for entity in answer["mentioned_entities"]]


def test_the_same_sentence_forty_times_is_one_event() -> None:
    assert len(told(*["My sister Anna lives in Rome."] * 40)["events"]) == 1


@each_row(
    ("line", "description", "impact"),
    [
        ("几天前我妈妈去世了", "几天前Ana妈妈去世了", -9),
        ("我妈妈去世了，我该怎么办呢？", "Ana妈妈去世了", -9),
        ("我被裁了怎么办？", "Ana被裁了", -7),
        ("My mom has cancer, what should I do?", "Ana's mom has cancer", -7),
        ("When I was a child my dad died.", "When Ana was a child their dad died.", -9),
        ("Did I tell you I got engaged?", "Ana got engaged", 7),
        ("Help me, I lost my baby", "Ana lost their baby", -9),
    ],
)
def test_a_weighty_thing_is_kept_though_it_stands_in_a_question(line: str, description: str, impact: int) -> None:
    [event] = told(line)["events"]
    assert (event["description"], event["emotional_impact"]) == (description, impact)
    assert event["evidence"][0]["quote"] in line


@each_row(
    "line",
    [
        "我什么时候搬家",
        "我之前跟你说过我的猫叫什么来着",
        "Tell me about my brother",
        "please remind me of my sister's birthday",
        "我妹妹去哪了",
        "我男朋友是谁",
        "When is my wedding?",
        "如果我搬到巴黎，你会想我吗？",
        "Do you remember when my dad died?",
        "我是做什么的",
    ],
)
def test_what_only_asks_or_orders_is_no_event(line: str) -> None:
    assert is_question(line)
    assert told(line)["events"] == []


@each_row("line", ["Remember this.", "Please remember that for me!", "记住这个", "请帮我记住这件事哦"])
def test_the_wish_that_something_be_remembered_is_itself_nothing_to_remember(line: str) -> None:
    said = told("My sister Rosa lives in Lisbon.", line)
    assert [event["description"] for event in said["events"]] == ["Ana's sister Rosa lives in Lisbon."]


@each_row(
    "line",
    ["谁都不理我", "哪怕下雨我也去", "我不知道该怎么办", "我在上班呢", "What a day!", "Will called me yesterday",
     "Have a nice day", "没什么", "Do your best", "我想吃什么就吃什么", "我几乎崩溃", "I don't know what to do"],
)  # fmt: skip
def test_question_words_alone_ask_nothing(line: str) -> None:
    assert not is_question(line)


@each_row(
    ("line", "description", "entity"),
    [
        ("我的猫叫Snowball, he is 3 years old.", "Ana的猫叫Snowball, he is 3 years old.", "Snowball"),
        ("I have a cat called 小黑, 他很可爱", "Ana has a cat called 小黑, 他很可爱", "小黑"),
    ],
)
def test_mixed_languages_speak_of_the_user_in_both(line: str, description: str, entity: str) -> None:
    answer = told(line)
    assert answer["events"][0]["description"] == description
    assert named(answer) == [(entity, "pet")]
    assert "Ana" not in in_second_person(description, "Ana", "Mira")


@each_row(
    "line",
    ["我男朋友走了，去美国读书。", "我的钱包没了", "就这些，没了", "My phone died.", "I died laughing at that show",
     "Nobody died, luckily.", "饿死了", "笑死了", "车走了", "I'm engaged in a project", "The news hit me hard",
     "He beat me at chess", "我朋友打我电话", "我被打断了", "I'm not suicidal"],
)  # fmt: skip
def test_sayings_weigh_nothing(line: str) -> None:
    assert weighed(line).impact == 0


@each_row(
    ("line", "low", "high"),
    [
        ("同事都走了，就剩我一个人加班。", -3, 0),
        ("累死了", -3, 0),
        ("没人爱我", -8, -4),
        ("我爸喜欢喝酒打我", -10, -7),
        ("I can't say I'm happy", -4, 0),
        ("I had a good cry", -5, -1),
        ("I lost, they won", -5, 0),
        ("I was raped", -10, -8),
        ("My ex hit me last night", -10, -8),
        ("my dad beats me", -10, -8),
        ("我被打了", -10, -8),
        ("家暴", -10, -8),
        ("I lost my baby", -10, -8),
        ("He had a heart attack", -10, -7),
        ("昨天出了车祸", -10, -7),
        ("我奶奶上周走了", -10, -8),
        ("小黑死了", -10, -8),
        ("Ana wants to kill themselves", -10, -9),
        ("I never felt so happy", 3, 6),
        ("高兴死了", 3, 6),
        ("可爱死了", 1, 4),
        ("癌症痊愈了", 5, 10),
        ("cancer free!", 5, 10),
    ],
)
def test_the_sign_and_size_of_a_weight(line: str, low: int, high: int) -> None:
    assert low <= weighed(line).impact <= high


@each_row(
    ("wrong", "right", "name"),
    [
        ("我的狗叫旺财。", "不对，它其实叫来福，我说错了。", "来福"),
        ("My dog is called Rex.", "Actually, no, his name is Max.", "Max"),
        ("My dog is called Rex.", "Oops, I meant Max.", "Max"),
    ],
)
def test_a_name_that_was_taken_back_is_the_right_one_from_the_start(wrong: str, right: str, name: str) -> None:
    answer = told(wrong, right)
    [event] = answer["events"]
    assert name in event["description"]
    assert "旺财" not in event["description"]
    assert "Rex" not in event["description"]
    assert [evidence["quote"] for evidence in event["evidence"]] == [wrong, right]
    assert named(answer) == [(name, "pet")]


def test_a_correction_about_someone_else_renames_nobody() -> None:
    answer = told("My dog is called Rex.", "Actually, my sister Anna lives in Rome.")
    assert sorted(named(answer)) == [("Anna", "person"), ("Rex", "pet")]


def test_a_name_that_comes_a_line_later_belongs_to_whom_it_names() -> None:
    answer = told("I have a daughter.", "Her name is Mia.")
    [event] = answer["events"]
    assert event["description"] == "Ana has a daughter. Her name is Mia."
    assert named(answer) == [("Mia", "person")]


@each_row(
    ("text", "start", "end"),
    [
        ("十二天前", "2026-02-21", None),
        ("二十天后", "2026-03-25", None),
        ("大前天", "2026-03-02", None),
        ("大后天", "2026-03-08", None),
        ("上上周", "2026-02-16", "2026-02-22"),
        ("下下周", "2026-03-16", "2026-03-22"),
        ("下周三", "2026-03-11", None),
        ("去年5月4号", "2025-05-04", None),
        ("明年5月4日", "2027-05-04", None),
        ("next year on May 4th", "2027-05-04", None),
        ("two weeks ago", "2026-02-16", "2026-02-22"),
        ("my birthday is may 4", "2026-05-04", None),
        ("I was born in 1990", "1990-01-01", "1990-12-31"),
    ],
)
def test_days_that_are_said_plainly(text: str, start: str, end: str | None) -> None:
    days = days_in(text, TODAY)
    assert days is not None
    assert days.as_json() == {"start": start, "end": end or start}


@each_row("text", ["日本周边的小岛", "last nightmare", "We may 5 of us go", "99999 days ago", "9999年前"])
def test_no_day_is_read_where_none_is_said(text: str) -> None:
    assert days_in(text, TODAY) is None


def test_words_for_a_day_become_the_day_and_the_quote_stays() -> None:
    [event] = told("My grandmother died yesterday.")["events"]
    assert event["description"] == "Ana's grandmother died on 2026-03-04."
    assert event["evidence"][0]["quote"] == "My grandmother died yesterday."
    assert dated("我昨天搬家了，since yesterday", TODAY) == "我2026-03-04搬家了，since 2026-03-04"


@each_row(
    ("said", "kept"),
    [
        ("I'm Ana, I'm 29", "Ana is 29"),
        ("Mira, I got a dog", "Ana got a dog"),
        ("Remember this: I hate tea", "Ana hates tea"),
        ("你好，我叫Ana，今年28岁，在杭州做程序员。", "Ana今年28岁，在杭州做程序员。"),
        ("Please remember that my dog is Rex", "Ana's dog is Rex"),
        ("See https://me.com/?my=1 or me@my.com", "See https://me.com/?my=1 or me@my.com"),
        ("I love you, you are my best friend", "Ana loves Mira, Mira is their best friend"),
    ],
)
def test_what_is_only_said_to_the_hearer_is_dropped(said: str, kept: str) -> None:
    assert in_third_person(said, "Ana", "Mira") == kept


def test_a_name_that_is_a_word_is_a_name_only_with_its_capital() -> None:
    assert in_second_person("Will said he will come", "Will", "Mira") == "you said he will come"
    assert in_second_person("Ana loves Mira, Mira is Ana's friend", "Ana", "Mira") == "you love me, I am your friend"


@each_row(
    ("text", "names"),
    [
        ("My boss Mr. Lee announced it", ["Mr. Lee"]),
        ("I have two cats called Tom and Jerry.", ["Tom", "Jerry"]),
        ("我养了两只猫，叫小黑和小白", ["小黑", "小白"]),
        ("We have two kids, Leo and Mia.", ["Leo", "Mia"]),
        ("我家有只狗叫得很大声", []),
        ("我朋友叫王大力他很胖", ["王大力"]),
        ("My friend Monday was bad", []),
        ("My boss Just fired me", []),
        ("My cat is 3. He is called Bo.", ["Bo"]),
    ],
)
def test_names_end_where_they_end(text: str, names: list[str]) -> None:
    assert [one.name for one in names_in(text)] == names


@each_row("line", ["ok bye", "好的 拜拜", "hi", "fine thanks", "晚安", "嗯嗯"])
def test_small_talk_is_told_from_what_tells(line: str) -> None:
    assert is_small_talk(line)
    assert not is_small_talk("Thanks to my sister I moved to Rome")


def test_no_longer_is_no_verb() -> None:
    assert in_third_person("I no longer hate cilantro.", "Ana", "Mira") == "Ana no longer hates cilantro."


def test_a_piece_of_a_talk_in_which_nothing_was_told_has_no_summary() -> None:
    assert told("Hm.", "It rained a bit.")["session_summary"] == ""


# --- a day that is put right ----------------------------------------------------------------------------------------
@each_row(
    ("lines", "description"),
    [
        (("我周四有个面试。", "不对，是周五。"), "Ana周五有个面试。"),
        (("我周四有个面试。不对，是周五。",), "Ana周五有个面试。"),
        (("My interview is on Thursday.", "Sorry, I meant Friday."), "Ana's interview is on Friday."),
        (("My interview is tomorrow.", "No, the day after tomorrow."), "Ana's interview is the day after tomorrow."),
        (("I have an interview tomorrow.", "No, Friday."), "Ana has an interview Friday."),
    ],
)
def test_a_day_that_is_put_right_in_the_same_talk_is_the_only_one(lines: tuple[str, ...], description: str) -> None:
    [event] = told(*lines)["events"]
    assert event["relational_tags"][0] == "correction"
    assert len(event["evidence"]) == 2
    assert {quote["message_id"] for quote in event["evidence"]} == {f"m{number}" for number in range(len(lines))}
    assert event["supersedes"] == []


def correcting(line: str, *known: str, before: str = "") -> list[tuple[str, list[str]]]:
    at = "2026-03-05T09:00:00+00:00"
    lines = [("persona", before), ("user", line)] if before else [("user", line)]
    answer = extracted(
        {
            "language": "en",
            "persona_name": "Mira",
            "user_name": "Ana",
            "now": at,
            "timezone": "Asia/Shanghai",
            "known": [{"id": f"e{number}", "description": one} for number, one in enumerate(known)],
            "lines": [
                {"id": f"m{number}", "role": role, "content": said, "at": at}
                for number, (role, said) in enumerate(lines)
            ],
        }
    )
    return [(event["description"], event["supersedes"]) for event in answer["events"]]


def test_a_known_event_whose_day_is_put_right_is_superseded() -> None:
    dentist, interview = "Ana sees the dentist on Thursday.", "Ana's interview is on Thursday."
    assert correcting("No, it's on Friday.", interview, "Ana has a cat.") == [("Ana's interview is on Friday.", ["e0"])]
    assert correcting("不对，是周五", "Ana周四有个面试。") == [("Ana周五有个面试。", ["e0"])]
    spoken_of = correcting("No, Friday.", dentist, interview, before="Your interview is on Thursday!")
    assert spoken_of == [("Ana's interview is on Friday.", ["e1"])]
    assert correcting("No, the interview is on Friday.", dentist, interview) == [
        ("Ana's interview is on Friday.", ["e1"])
    ]
    assert correcting("No, it's on Friday.", "Ana has a cat.") == []
    [(told_otherwise, replaced)] = correcting("说错了，是后天", "Ana2026-03-06有个面试。")
    assert (told_otherwise, replaced) == ("Ana2026-03-07有个面试。", ["e0"])
