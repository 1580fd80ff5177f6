"""Words of dialects, in the words of our Chinese patterns."""

from echovessel.language.dialects import in_standard_words
from echovessel.language.sentences import is_question
from tests.table import each_row


@each_row(
    ("text", "standard"),
    [
        ("佢喺边度住", "他在哪里住"), ("我個女讀邊間學校", "我女儿读哪间学校"), ("边个嚟咗", "谁来了"),
        ("仲未食饭", "还未吃饭"), ("你仲记唔记得", "你还记不记得"), ("下礼拜三", "下星期三"), ("四个礼拜", "四个星期"),
        ("记得食药", "记得吃药"), ("明儿去", "明天去"), ("咋整", "怎么整"), ("俾我睇", "给我看"),
    ],
)  # fmt: skip
def test_words_of_dialects_are_written_in_standard_words(text: str, standard: str) -> None:
    assert in_standard_words(text) == standard


@each_row(
    "text",
    [
        "我在海边度假", "一边度假一边工作", "在湖边度过一周", "路边日日有人摆摊", "江边间隔种着柳树", "周边个人商户",
        "这边位置不错", "在婚礼拜堂等你", "申请仲裁了", "杜仲泡酒", "俾斯麦的传记", "他直咋舌", "饮食药物都要记",
        "小明儿子上学了",
    ],
)  # fmt: skip
def test_standard_words_that_contain_a_word_of_a_dialect_stay(text: str) -> None:
    assert in_standard_words(text) == text
    assert not is_question(in_standard_words(text))


@each_row(
    ("text", "is_asked"),
    [
        ("我刚吃了几片药", False), ("我喝了几杯", False), ("几瓶啤酒而已", False), ("买了几瓶水", False),
        ("吃了几口就饱了", False), ("医生说不", False), ("我当然不", False), ("他死活不", False),
        ("每天吃几片药", True), ("你喝了几杯", True), ("家里几口人", True), ("你还抽烟不", True),
    ],
)  # fmt: skip
def test_a_few_and_a_refusal_are_no_questions(text: str, is_asked: bool) -> None:
    assert is_question(text) == is_asked
