"""Which short messages are worth reading."""

from memory.consolidation.self_statements import tells_something
from tests.table import each_row


@each_row(
    "text",
    [
        "我养了只白猫,叫小黑。他超调皮,老在半夜跳到我脸上。",
        "I adopted a white cat named Snowball.",
        "hey! I moved to Lisbon last month",
        "My sister Anna is getting married in May.",
        "I’ve been learning to paint with watercolours.",
        "我下个月要搬去上海了",
        "你好呀！我今天收到了大学的录取通知书",
        "I'm back in hospital with cancer",
        "I'm good, but my boss yelled at me and I cried all day",
        "Yes I'm ok but my husband hit me last night",
        "I don't know why I keep crying",
        "我在医院里陪我妈妈做手术",
        "我回来了,今天跟老公吵架然后哭了一天",
        "我很好奇为什么我总是失败",
        "I have a cat called 小黑, 他很可爱",
        "我的cat叫Snowball today ok",
        "我家的猫叫Milo",
        "I'm pregnant",
        "Hi, I’m pregnant!",
        "I lost my job",
        "我怀孕了",
        "我失业了",
        "My cat is Bob.",
    ],
)
def test_a_statement_about_oneself_is_worth_reading(text: str) -> None:
    assert tells_something(text)


@each_row(
    "text",
    [
        "hi",
        "hello there, how are you today?",
        "How's it going",
        "I'm fine, thanks for asking me",
        "I'm good, thank you so much",
        "I'm back",
        "I don't know",
        "hey, I'm sorry",
        "ok bye",
        "ok thanks",
        "lol",
        "",
        "你好",
        "在吗",
        "我很好",
        "我在",
        "我先走了",
        "我知道了",
        "你还记得我的猫吗",
        "Do you remember what I told you about my cat?",
        "好的我知道了谢谢你",
        "哈哈哈哈哈哈哈",
        "what is the capital of France",
    ],
)
def test_small_talk_and_questions_are_not(text: str) -> None:
    assert not tells_something(text)
