"""Which short lines are worth reading."""

import pytest

from memory.consolidation.telling import tells_something


@pytest.mark.parametrize(
    "line",
    [
        "我养了只白猫,叫小黑。他超调皮,老在半夜跳到我脸上。",
        "I adopted a white cat named Snowball.",
        "hey! I moved to Lisbon last month",
        "My sister Anna is getting married in May.",
        "I’ve been learning to paint with watercolours.",
        "我下个月要搬去上海了",
        "你好呀！我今天收到了大学的录取通知书",
    ],
)
def test_a_statement_about_oneself_is_worth_reading(line: str) -> None:
    assert tells_something(line)


@pytest.mark.parametrize(
    "line",
    [
        "hi",
        "hello there, how are you today?",
        "How's it going",
        "I'm fine, thanks for asking me",
        "ok thanks",
        "lol",
        "",
        "你好",
        "在吗",
        "我很好",
        "你还记得我的猫吗",
        "Do you remember what I told you about my cat?",
        "好的我知道了谢谢你",
        "哈哈哈哈哈哈哈",
        "what is the capital of France",
    ],
)
def test_small_talk_and_questions_are_not(line: str) -> None:
    assert not tells_something(line)
