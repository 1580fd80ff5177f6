"""Whether a sentence asks, by its form: with its mark or without, in English and Chinese.

An interrogative alone asks nothing: 几天前 and 谁都 tell, and so does "When I was a child, …".
"""

import re

from echovessel.llm.offline.text import CJK, clauses

MARK = re.compile(r"[?？][?？!！~～”」』\"')）\s]*$")

SUBJECTS = "i|you|we|they|he|she|it|my|your|our|his|her|their|the|there|this|that|these|those|any|anyone|anybody"
AUXILIARY = (
    r"(?:am|is|are|was|were|do|does|did|can|could|will|would|shall|should|have|has|had|may|might|must|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|haven't|hasn't)"
)
LEAD_IN = r"(?:(?:so|and|but|well|hey|hi|hello|ok|okay|oh|please|also)\s+)*"
ASKS_EN = re.compile(
    rf"^{LEAD_IN}(?:"
    rf"(?!do\s+(?:your|it|this|that|the|my|his|her)\b){AUXILIARY}\s+(?:{SUBJECTS})\b"
    r"|(?:is|are|was|were|does|did|has)\s+\w+\s+\w+"
    rf"|(?:what|who|whom|whose|where|when|why|how|which)(?:'s|'re|'d|'ll|\s+{AUXILIARY})\b"
    rf"|(?:what|which|whose|how)\s+(?!(?:{SUBJECTS}|a|an)\b)\w+\s+(?:\w+\s+)?{AUXILIARY}\b"
    r"|(?:what|how)\s+(?:about|happened|come)\b"
    rf"|(?:who|why)\s+(?!(?:{SUBJECTS})\b)\w+"
    r"|(?:remember|know)\s+(?:my|me|what|who|when|where)\b"
    r")",
    re.I,
)
ORDERS_EN = re.compile(
    rf"^{LEAD_IN}(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?"
    r"(?:tell|show|give|help|remind|explain|teach|write|sing|read)\b.*\b(?:me|us)\b",
    re.I,
)

# What looks like a question word and asks nothing.
INDEFINITE_ZH = re.compile(
    "(?:什么|谁|哪里|哪儿|哪个|哪|怎么|多少|几时|啥)[^，。？?]{0,4}(?:都|也)|"
    "(?:没|没有|不是|不怎|不|别)(?:什么|怎么|多少|谁|哪|啥)|没几|不几|哪怕|几乎|(?<!做)(?<!干)(?<!学)什么的|"
    "谁知道|怎么说呢?|"
    "有(?:什么|谁|点什么)|多少(?:有点|还是|次都)|(?:好|十|百|千|这|那|前|后|近|有)几|几(?:天|年|周|次|个|位|只|"
    "条|本|句|分|十|百|千)|"
    "(什么|谁|哪里|哪儿|怎么)[^，。？?]{0,4}就[^，。？?]{0,4}(?:什么|谁|哪里|哪儿|怎么)"
)
UNKNOWN_ZH = re.compile(
    "(?:不知道|没人知道|不知|不明白|不懂|不记得|忘了|忘记|不清楚|不确定|不管|无论|不在乎|没想到|想起)[^，。？?]*$"
)
HOW_MANY_ZH = "几(?:岁|号|点|月|口|年级|时)|(?:星期|周|礼拜|第)几"
ASKS_ZH = re.compile(
    f"什么|怎么|为何|为什么|谁|哪|多少|多大|多久|多高|多长|多远|几时|啥|咋|何时|{HOW_MANY_ZH}|"
    "是不是|有没有|要不要|会不会|能不能|好不好|记不记得|知不知道|对不对|可不可以|想不想|该不该"
)
PARTICLE_ZH = re.compile("(?:吗|(?<!什)(?<!怎)(?<!这)(?<!那)么|来着)[。.!！~～\\s]*$")
AND_YOU_ZH = re.compile("^(?:那|你|您|我的)[^，,]{0,5}呢[。.!！~～\\s]*$")
ORDERS_ZH = re.compile(
    "^(?:请|请你|麻烦你?|你)?(?:告诉我|(?:跟|和|给)我(?:说说|讲讲|讲|说)|提醒我|帮我|教我(?!的)|说说我|讲讲)"
)


def is_question(sentence: str) -> bool:
    """Whether `sentence` asks or orders: marked so, or in its first or its last clause.

    >>> is_question("我什么时候搬家"), is_question("几天前我妈妈去世了"), is_question("When I was ten, my dad died.")
    (True, False, False)
    """
    if MARK.search(sentence.strip()):
        return True
    parts = [sentence[start:end] for start, end in clauses(sentence)]
    return bool(parts) and (asks(parts[-1]) or (not CJK.search(parts[0]) and asks(parts[0])))


def asks(clause: str) -> bool:
    """Whether one clause asks or orders by its form, whatever mark stands behind it."""
    bare = clause.strip().replace("’", "'")
    return bool(ASKS_EN.search(bare) or ORDERS_EN.search(bare) or _asks_zh(bare))


def _asks_zh(clause: str) -> bool:
    if not CJK.search(clause):
        return False
    if PARTICLE_ZH.search(clause) or AND_YOU_ZH.search(clause) or ORDERS_ZH.search(clause):
        return True
    return not UNKNOWN_ZH.search(clause) and ASKS_ZH.search(INDEFINITE_ZH.sub(" ", clause)) is not None
