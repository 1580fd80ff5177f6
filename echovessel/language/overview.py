"""Whether a text asks what is known of the owner in general: "What do you know about me?" Pure; English and Chinese."""

import re

_OVERVIEW = re.compile(
    r"\bwhat (?:all |else |exactly |things )?(?:(?:do|did|have|can) you )?(?:\w+ )?(?:know|remember|learn(?:ed|t)?|"
    r"gather(?:ed)?|got|have|kept|keep|stored?|say|tell me) (?:about|of|on) (?:me|myself)(?: so far| by now| already|"
    r" yet| these days)?\W*$|"
    r"\b(?:everything|anything|all|what|much|a lot) (?:that )?you (?:\w+ )?(?:know|remember|have|keep|kept) "
    r"(?:about|of|on) me\b(?! and)|"
    r"\b(?:know|remember) (?:anything|something|much|a lot|things|stuff) (?:about|of) me\W*$|"
    r"\bhow (?:well|much) do you (?:\w+ )?know (?:me|about me)\W*$|"
    r"\bwhat (?:have|did) i (?:tell|told)(?: you)? (?:so far|about (?:me|myself)|until now|up to now)\W*$|"
    r"\b(?:describe|summari[sz]e|sum up) (?:me|who i am|what you know)\b|"
    r"\bwho (?:do you think )?am i to you\b|\bwhat (?:kind|sort) of person am i\b|\btell me about (?:me|myself)\W*$|"
    r"你[^，。？]{0,3}(?:知道|了解|记得|记住|晓得|清楚)[了过得]?(?:关于|有关)?我的?(?:些|哪些|多少|什么|啥)?(?:什么|啥)?子?(?:事情?|东西)?"
    r"[呢啊吗呀么]?[?？。!！]*$|对我的?(?:了解|认识)(?:多少|多深|吗|有多少)?[?？。!！]*$|(?:关于|有关)我[^，。]{0,4}你都?(?:知道|记得|了解)|"
    r"我[^，。]{0,6}是个?(?:什么样|怎样|怎么样)的人|总结一下我",
    re.I,
)


def asks_for_overview(text: str) -> bool:
    """Whether a text asks what is known of the owner in general, and about nothing in particular.

    >>> asks_for_overview("What do you know about me?"), asks_for_overview("你都知道我些什么？")
    (True, True)
    >>> asks_for_overview("What do you know about my dog?"), asks_for_overview("你知道我妹妹在哪吗？")
    (False, False)
    """
    return any(_OVERVIEW.search(text_line.strip()) for text_line in text.splitlines())
