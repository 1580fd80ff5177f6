"""How heavy words weigh that tell of a life without a word of feeling."""

from echovessel.language.plain_text import write_out
from echovessel.llm.offline.feeling import impact_of
from tests.table import each_row

HEAVY, GLAD = -4, 4


@each_row(
    "text",
    [
        "would people notice if someone just stopped showing up", "some days i dont see the point of getting up",
        "nobody would miss me for a week", "Sarah and I split last month, anyway", "we're not together any more",
        "they're not keeping me on after the summer", "my hours got cut to nothing", "I got the sack lol",
        "dad's back on the ward, as usual", "mum doesn't always know who I am now", "didn't get the job, moving on",
        "my visa got refused", "I owe nine grand", "my sister won't talk to me", "I haven't left the flat in two weeks",
        "I spent Christmas on my own", "I drink on my own most nights", "the old dog had to be put down",
        "要是我不在了，过几天才有人发现", "人老了是不是就没用了，净给人添麻烦", "我跟陆川分了",
        "公司不续签了", "孩子没留住",
        "我爸又住进去了，老毛病", "房东要卖房，我们得搬", "签证被拒了", "我妹把我拉黑了",
        "两个星期没出门了", "他有别人了",
        "不知道起床是为了什么", "他又动手了", "他动了手", "we split after ten years", "we separated in March",
    ],
)  # fmt: skip
def test_what_is_bad_weighs_though_it_is_waved_away(text: str) -> None:
    assert impact_of(write_out(text)) <= HEAVY


@each_row(
    "text",
    [
        "we open the bakery on june 6", "they said yes to the loan", "our offer was accepted",
        "the tests came back clear", "six months sober today", "my book's coming out in May",
        "I got the flat!", "we open on Monday", "贷款批下来了", "店开起来了", "评上了", "书要出版了",
    ],
)  # fmt: skip
def test_what_is_good_weighs_though_it_is_played_down(text: str) -> None:
    assert impact_of(write_out(text)) >= GLAD


@each_row(
    "text",
    [
        "we split, half each", "we split after lunch", "we separated in the shop", "he got the part fixed",
        "I got the flat tyre fixed", "We open on Monday as usual", "他动了手术很成功", "他动手了，饭很香",
        "I split the bill with Tom", "we split the cake", "the shop shuts at six", "I got the sack of potatoes",
        "did anyone notice the new sign", "I don't see the point of ties", "would you notice if I changed my name",
        "does anyone notice if I change the font", "we moved the sofa out", "he took his coat",
        "我跟同事分了个苹果", "东西搬走了，明天粉刷", "店里关灯了", "我有别的事", "黄了的香蕉",
        "两个星期没下雨了", "她把我的书搬走了",
    ],
)  # fmt: skip
def test_what_only_sounds_alike_weighs_nothing(text: str) -> None:
    assert HEAVY < impact_of(write_out(text)) < GLAD
