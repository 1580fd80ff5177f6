"""Dialects and traditional characters in the words of our Chinese patterns: 「邊度」 and 「搁哪儿」 ask where. Pure.

For comparison only, never for display. Listed are the small words of Cantonese, and of the dialects of Sichuan,
Shanghai, Henan and the north-east, that decide what a sentence asks or says; words that mean something else elsewhere
are left out.
"""

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

_STANDARD: dict[str, str] = dict(
    pair.split(":")
    for pair in re.findall(
        r"\S+",
        """
    边度:哪里 边间:哪间 边个:谁 边位:谁 边日:哪天 咩:什么 乜嘢:什么 几多:多少 几时:什么时候 点解:为什么
    点样:怎么样 而家:现在 听日:明天 寻日:昨天 琴日:昨天 今日:今天 今儿:今天 明儿:明天 昨儿:昨天 喺度:在 喺:在
    嘅:的 佢:他 唔:不 冇:没有 系咪:是不是 钟意:喜欢 食咗:吃了 食紧:吃 食饭:吃饭 食药:吃药 食嘢:吃东西 咗:了
    睇:看 嚟:来 攰:累 俾:给 嗰边:那边 嗰:那 我个女:我女儿 我个仔:我儿子 仲:还 啥子:什么 啥:什么 咋个:怎么
    咋:怎么 没得:没有 晓得:知道 搁哪:在哪 侬:你 阿拉:我们 礼拜:星期 俺:我 恁:你
    """,
    )
)
# Standard words that contain one of these: 「海边度假」, 「路边个人」, 「婚礼拜堂」, 「杜仲」, 「咋舌」.
# 「唔，好」 only hesitates.
_SIDE = "(?<![一两身海湖江河路旁周外里这那左右上下东西南北前后])"
_SPELLINGS = {
    "边度": f"{_SIDE}边度(?![假过日])",
    "边间": f"{_SIDE}边间(?!隔)",
    "边个": f"{_SIDE}边个",
    "边位": f"{_SIDE}边位(?![置于])",
    "边日": f"{_SIDE}边日",
    "唔": "唔(?=[\u3400-\u9fff])",
    "仲": "(?<!杜)仲(?=[未有系要想喺冇唔记住识会可去])",
    "礼拜": "(?<![敬婚做])礼拜(?!堂)",
    "食饭": "(?<![饮零])食饭",
    "食药": "(?<![饮零])食药",
    "食嘢": "(?<![饮零])食嘢",
    "明儿": "(?<!小)明儿(?!子)",
    "咋": "咋(?!舌)",
    "俾": "俾(?!斯)",
}
_WORD = re.compile("|".join(_SPELLINGS.get(word, word) for word in _STANDARD))


def in_standard_words(text: str) -> str:
    """`text` with simplified characters, straight apostrophes, and the words of dialects as in our patterns.

    >>> in_standard_words("我個女讀邊間學校？"), in_standard_words("I’m in")
    ('我女儿读哪间学校？', "I'm in")
    """
    return text if text.isascii() else _WORD.sub(lambda word: _STANDARD[word[0]], straighten(text))
