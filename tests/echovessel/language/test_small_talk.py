"""Greetings, thanks and praise, and what a message tells besides."""

from echovessel.language.small_talk import gist_of
from tests.table import each_row

NAMES = ["Mira", "Caroline"]


@each_row(
    "text",
    [
        "Hi!",
        "Hey Mira, good morning!",
        "Thanks!",
        "Thank you so much, Caroline.",
        "Wow, that's awesome!",
        "Bye, take care!",
        "That's so cool, Caro!",
        "I'm so happy for you!",
        "You're so kind.",
        "Congrats! Great job!",
        "Good night, talk to you soon.",
        "It's great to see you!",
        "Haha!",
        "You're welcome, anytime.",
        "Sounds great! See you later!",
        "😊",
        "!!!",
        "你好！",
        "谢谢你！",
        "太好了，真为你高兴！",
        "晚安。",
        "哈哈哈",
        "加油！",
        "恭喜恭喜！",
        "不客气。",
        "你真厉害！",
    ],
)
def test_small_talk_tells_nothing(text: str) -> None:
    assert gist_of(text, NAMES) == ("", "")


@each_row(
    "text",
    [
        "Yes.",
        "No, never.",
        "I'm proud of my dad.",
        "It was amazing.",
        "Thanks to my sister I moved to Rome.",
        "I love you.",
        "My mother died.",
        "I have 2 cats.",
        "Happy birthday to my son Leo!",
        "Not great.",
        "I feel sad.",
        "Milo.",
        "7:30",
        "Great Wall of China",
        "On Tuesday.",
        "Good news: I got the job.",
        "¡Hola!",
        "Привет",
        "好多了。",
        "没有。",
        "我爸爸去世了。",
        "我有两只猫。",
        "谢谢你送我的书。",
        "我很难过。",
        "周三。",
        "豆豆真可爱。",
        "我喜欢你的画。",
    ],
)
def test_what_tells_something_is_no_small_talk(text: str) -> None:
    assert gist_of(text, NAMES).whole == text


@each_row(
    ("text", "statement", "question"),
    [
        ("Wow, Caroline! I moved to Lyon.", "… I moved to Lyon.", ""),
        ("Thanks, Mira! I paint. How about you? Take care!", "… I paint.", "How about you? …"),
        ("That's great! When do you sing?", "", "… When do you sing?"),
        ("Where is it?", "", "Where is it?"),
        ("I paint. Do you? I also sing.", "I paint. Do you? I also sing.", ""),
        ("Hi! I paint.", "Hi! I paint.", ""),
        ("太好了！黄酒呢？", "", "…黄酒呢？"),
        ("谢谢你！我搬到里昂了。你呢？", "…我搬到里昂了。", "你呢？"),
        ("你去过吗", "", "你去过吗"),
        ("", "", ""),
        ("   ", "", ""),
    ],
)
def test_a_message_is_what_it_tells_and_what_it_asks(text: str, statement: str, question: str) -> None:
    assert gist_of(text, NAMES) == (statement, question)


@each_row(
    ("text", "whole"),
    [
        ("吓人。现在好点了吗？", "吓人。现在好点了吗？"),
        ("I paint.  And you?", "I paint. And you?"),
        ("Thanks! I paint. And you? Bye!", "… I paint. And you? Bye!"),
    ],
)
def test_what_it_tells_and_asks_is_written_as_the_language_is(text: str, whole: str) -> None:
    assert gist_of(text, NAMES).whole == whole
