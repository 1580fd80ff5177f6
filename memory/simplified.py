"""The characters in which our lists of Chinese words are written, for lines that are written in the traditional ones.

Only those that the lists hold (`memory.signals`, `memory.consolidation.gate`); a whole conversion would need a
dictionary, for what one simplified character stands for is often several traditional ones.
"""

TRADITIONAL = "記請幫別這個會嗎對還麼謝們來說話點條內幾過剛務應該後讓給許護喲囉樣難簡單輕結沒殘殺潰離禮撐總業號東時為嘍"
SIMPLIFIED = "记请帮别这个会吗对还么谢们来说话点条内几过刚务应该后让给许护哟啰样难简单轻结没残杀溃离礼撑总业号东时为喽"
_TABLE = str.maketrans(TRADITIONAL, SIMPLIFIED)


def simplified(text: str) -> str:
    """`text` with every such character replaced, at its place: the places of words stay what they are.

    >>> simplified("請記住我說的")
    '请记住我说的'
    """
    return text.translate(_TABLE)
