"""Questions about what is stored, put as people put them, get the memory that answers them or an honest no."""

from echovessel.llm.offline.reply import replied
from tests.table import each_row

KEPT_ZH = (
    "小雨去了海边玩。", "小雨妹妹叫小云，今年考上了北京大学。", "小雨对花生过敏。",
    "小雨下个月要搬到里斯本。", "小雨的生日是5月4日。",
    "小雨爸爸是医生。", "小雨不吃香菜。",
    "豆豆是小雨的猫，最近生病了。", "小雨在成都出生。", "小雨男朋友叫阿杰，是厨师。",
)  # fmt: skip
KEPT_EN = (
    "Ana went to the sea.", "Ana's mom's name is Carol.", "Ana's sister Anna lives in Berlin.",
    "Ana is 29 and they work as a nurse in Leeds.", "Ana was born in 1990.", "Ana's cat Milo died on 2026-03-04.",
    "Ana's wedding is on May 4th.", "Ana's boyfriend's name is Jack and he's a chef.", "Ana's brother Tom is 12.",
)  # fmt: skip


def answer(question: str, *kept: str, zh: bool = False, lines: tuple[str, ...] = ()) -> str:
    events = [{"text": text, "layer": "L3", "speaker": None} for text in kept]
    said = [{"text": text, "layer": "L2", "speaker": "user"} for text in lines]
    return replied(
        {
            "language": "zh" if zh else "en",
            "persona_name": "阿澜" if zh else "Mira",
            "user_name": "小雨" if zh else "Ana",
            "lines": [question],
            "recollections": [*events, *said],
            "recent": [],
        }
    )


@each_row(
    ("question", "told"),
    [
        ("我妹妹叫什么？", "小云"),
        ("我对什么过敏？", "花生"),
        ("我要搬到哪里？", "里斯本"),
        ("我什么时候搬家", "下个月"),
        ("我生日是哪天？", "5月4日"),
        ("我爸爸是做什么的？", "医生"),
        ("我不吃什么？", "香菜"),
        ("豆豆怎么样了", "生病"),
        ("我在哪儿出生的", "成都"),
        ("我男朋友是谁", "阿杰"),
        ("阿杰是谁", "厨师"),
        ("我们聊过什么", "海边"),
        ("我叫什么", "小雨"),
    ],
)
def test_plain_chinese_questions_are_answered(question: str, told: str) -> None:
    assert told in answer(question, *KEPT_ZH, zh=True)


@each_row(
    ("question", "told"),
    [
        ("Who is Carol?", "mom"),
        ("Who's Jack?", "chef"),
        ("Where does my sister live?", "Berlin"),
        ("Where do I live?", "Leeds"),
        ("How old am I?", "29"),
        ("When was I born?", "1990"),
        ("what happened to my cat?", "died"),
        ("when is the wedding?", "May 4th"),
        ("What do you know about me?", "sea"),
        ("Tell me about my brother", "Tom"),
        ("What do I do for work?", "nurse"),
        ("What's my name?", "Ana"),
    ],
)
def test_plain_english_questions_are_answered(question: str, told: str) -> None:
    assert told in answer(question, *KEPT_EN)


@each_row(
    ("line", "word"),
    [("Please forget that.", "confirm"), ("忘了这件事", "确认"), ("把这件事忘了吧", "确认")],
)
def test_who_asks_that_it_be_forgotten_is_not_told_that_it_is_remembered(line: str, word: str) -> None:
    said = answer(line, zh=word == "确认")
    assert ("remember" in said, "记住" in said) == (False, False)
    assert word in said or "decide" in said or "决定" in said


@each_row("line", ["I can't forget that day at the sea.", "Don't forget that I moved.", "别忘了这件事"])
def test_who_cannot_forget_asks_for_nothing(line: str) -> None:
    assert "decide" not in answer(line)
    assert "决定" not in answer(line)


def test_one_relative_is_not_passed_off_as_another() -> None:
    assert "没有印象" in answer("我姐姐在哪里工作", *KEPT_ZH, zh=True) or "什么都不知道" in answer(
        "我姐姐在哪里工作", *KEPT_ZH, zh=True
    )
    lost = answer("Where is my car?", "Ana's mom's name is Carol.", "Ana went to the sea.")
    assert "no memory of that" in lost or "don't know anything about that" in lost


@each_row("question", ["Who is Carol?", "Where do I live?", "我妹妹叫什么？", "豆豆怎么样了"])
def test_what_was_never_told_is_honestly_not_remembered(question: str) -> None:
    reply = answer(question)
    assert any(word in reply for word in ("don't remember", "nothing about that", "没有印象", "没有找到"))


@each_row("question", ["What is the capital of France?", "今天天气怎么样？", "What should I do?"])
def test_other_questions_are_left_to_a_model(question: str) -> None:
    assert any(word in answer(question) for word in ("model", "模型"))


@each_row(
    ("line", "quote"),
    [
        ("My ex hit me last night", "My ex hit me"),
        ("我被裁了怎么办？", "我被裁了"),
        ("My mom has cancer, what should I do?", "has cancer"),
    ],
)
def test_a_heavy_thing_is_met_before_any_question(line: str, quote: str) -> None:
    reply = answer(line, *KEPT_EN)
    assert quote in reply
    assert any(word in reply for word in ("hear you", "so sorry", "沉了下去", "这真的很重"))


def test_after_a_death_the_question_is_gentle() -> None:
    reply = answer("Do you remember my grandma?", "Ana's grandmother died on 2026-03-04.")
    assert "2026-03-04" in reply
    assert "these days?" not in reply
    assert "mischief" not in reply


def test_a_greeting_recites_no_sorrow() -> None:
    reply = answer("hello", "Ana wants to kill themselves.", "Ana went to the sea.")
    assert "kill" not in reply
    assert "sea" in reply


def test_the_sentence_that_matters_most_is_taken_up() -> None:
    assert "nurse" in answer("Hi! I'm Ana, I'm 29 and I work as a nurse in Leeds.")


def test_small_talk_is_no_memory() -> None:
    assert "tea" in answer("do you remember what I said?", lines=("hi", "fine thanks", "I like tea"))


@each_row(("line", "words"), [("ok bye", ("next time", "See you")), ("好的 拜拜", ("下次", "晚点见"))])
def test_a_goodbye_after_an_ok_is_a_goodbye(line: str, words: tuple[str, str]) -> None:
    assert any(word in answer(line, zh="拜" in line) for word in words)


@each_row(
    ("question", "kept", "told", "zh"),
    [
        (
            "Where does my sister live?",
            "Ana: “My sister Rosa lives in Lisbon.”",
            "“My sister Rosa lives in Lisbon.”",
            False,
        ),
        ("我对什么过敏？", "小雨：“我对花生过敏。”", "“我对花生过敏。”", True),
    ],
)
def test_words_that_were_remembered_as_they_stand_are_told_as_they_stand(
    question: str, kept: str, told: str, zh: bool
) -> None:
    said = answer(question, kept, zh=zh)
    assert told in said
    assert "You: “" not in said
    assert "你：“" not in said


def test_her_own_words_are_no_memory_of_what_she_was_told() -> None:
    assert "sister" not in answer("Where does my sister live?", "Mira: “I would love to meet your sister.”")
