"""Disputes: messages that say that something is wrong or over, but not what is right: "no, that's wrong about my
sister", "that's no longer true", 「我妹妹的事你记错了」. Pure; English and Chinese."""

from echovessel.language import lazy_re as re

MAX_LENGTH = 120  # characters; a longer message states something
_WRONG = (
    r"(?:(?:all|quite|completely|totally|simply|just|so) )?"
    r"(?:wrong|incorrect|false|inaccurate|untrue|mistaken|mixed up|backwards|"
    r"not (?:\w+ )?(?:right|true|correct|accurate|so|like that|what i (?:said|told you|meant)|"
    r"how (?:it|that) (?:was|is|went|happened)))"
)
_IS = r"(?:'s| is| was| are| were)"
_OUTDATED = (
    r"(?:no longer (?:true|right|correct|so|accurate|valid|current|the case|like that)|"
    r"not (?:true|right|correct|so|valid|the case|like that) any ?more|out of date|outdated|obsolete)(?: now)?"
)
_IS_NOT = r"(?: isn't| wasn't| aren't|(?:'s| is| was| are) not)(?: \w+)? (?:right|true|correct|accurate|so)"
_THAT = r"(?:that|this|it|(?:what|the way) you (?:said|say|remember(?:ed)?|wrote|have|told me)|your memory)"
_ABOUT = r"(?:about|on|with|regarding|concerning)"
_TOPIC = r"[\w'. -]{1,60}?"
_LEAD = (
    r"(?:(?:oh|no+|nope|nah|hey|wait|hm+|well|um|uh|ah|sorry|but|and|actually|ok|okay|honestly|please|i think|"
    r"i'm afraid|i believe|listen)\b[\s,.!…–—-]*)*"
)
_ENGLISH = re.compile(
    rf"{_LEAD}(?:"
    rf"(?:what you (?:said|say|remember|know|wrote|told me) )?{_ABOUT} (?P<before>{_TOPIC})"
    rf"(?:[,:–—-]+ ?(?:{_THAT}|you(?:'re| are))?)?(?:{_IS}? ?{_WRONG}|{_IS_NOT})|"
    rf"(?:{_THAT}(?:{_IS} (?:{_WRONG}|{_OUTDATED})|{_IS_NOT}(?: any ?more)?)|{_WRONG}|"
    rf"you(?:'re| are) (?:wrong|mistaken|confused|misremembering|mixing (?:things|that|it|them) up)|"
    rf"you(?:'ve| have)? (?:got|get|have|had|remember(?:ed)?) (?:that|it|this|them|something|things|the facts) "
    rf"(?:all )?(?:wrong(?:ly)?|incorrectly|mixed up|backwards)|"
    rf"you(?:'ve| have)? (?:misremember(?:ed)?|misunderstood|(?:mixed|muddled) (?:that|it|them|things) up|"
    rf"confused (?:that|it|them|things|something)|made a mistake)|"
    rf"i never said (?:that|so|it)|i didn't say (?:that|so|it)|that never happened)(?: {_ABOUT} (?P<after>{_TOPIC}))?|"
    rf"you(?:'ve| have)? (?:got|have|remember(?:ed)?) (?P<object>{_TOPIC}) (?:all )?wrong(?:ly)?|"
    rf"you(?:'re| are)? (?:mix(?:ed|ing)? up|confus(?:ed|ing)) (?P<mixed>{_TOPIC})"
    r")(?:[\s,.!…]|\b(?:again|though|at all|please|you know|no|sorry|actually)\b)*",
    re.IGNORECASE,
)
_LEAD_ZH = (
    r"(?:不是|不对|不|等等|等一下|其实|抱歉|不好意思|我觉得|我想|好像|可是|但是?|没有|"
    r"[啊呀吧哦的嗯呃诶哎唉喂，,。！!…、\s])*"
)
_MISTAKEN_ZH = r"(?:是不是|好像|肯定|又|可能|都|全|应该|大概)*(?:记|搞|弄|说|想|理解|听)(?:错|混|反|岔)(?:了|啦)?"
_WRONG_ZH = (
    r"(?:都|可|并|全|根本|好像|完全)*(?:不对|不是真的|不准确|不正确|错了?|有误|不是这样(?:子)?的?|"
    r"不是这么回事|没有?这回事)"
)
_OUTDATED_ZH = (
    r"(?:已经|早就|早已|现在|如今|其实|都)*(?:不再?(?:是(?:这样(?:子)?|那样|真的|事实)?|对|成立|适用|算数)的?了|"
    r"过时了?|过期了?)"
)
_TOPIC_ZH = r"[^，。！？,!?]{1,24}?"
_MATTER_ZH = r"的(?:那|这)?件?事情?|(?:这|那)件?事情?|(?:这|那)个|(?:这|那)条|(?:这|那)段"
_CHINESE = re.compile(
    rf"{_LEAD_ZH}(?:"
    rf"(?:关于|说到)(?P<about>{_TOPIC_ZH})(?:{_MATTER_ZH})?[，,]?(?:[你您妳]?{_MISTAKEN_ZH}|{_WRONG_ZH})|"
    rf"[你您妳]?把(?P<object>{_TOPIC_ZH})(?:{_MATTER_ZH})?{_MISTAKEN_ZH}|"
    rf"(?P<before>(?![你您妳这那]){_TOPIC_ZH})(?:{_MATTER_ZH})[，,]?(?:[你您妳]?{_MISTAKEN_ZH}|{_WRONG_ZH})|"
    rf"[你您妳]{_MISTAKEN_ZH}(?P<after>{_TOPIC_ZH})(?:{_MATTER_ZH})了?|"
    rf"[你您妳]?{_MISTAKEN_ZH}|"
    rf"(?:[你您妳](?:说|记得?|讲)的)?(?:这|那)?(?:个|件事|话|些|条)?{_WRONG_ZH}|(?:这|那)(?:个|件事|些|条)?{_OUTDATED_ZH}|不对|才不是(?:这样)?"
    r")(?:[吧啊呀哦呢啦的了，,。！!…\s]|不对|不是这样的?|[记搞]?错了)*",
)


def read_dispute(text: str) -> str | None:
    """The subject of a message that only disputes something, in its own words; "" if it names none; None if the message
    states more, or something else.

    >>> read_dispute("No, that's not right."), read_dispute("不对，记错了")
    ('', '')
    >>> read_dispute("That's wrong about my sister."), read_dispute("我妹妹的事你记错了")
    ('my sister', '我妹妹')
    >>> read_dispute("No, she lives in York."), read_dispute("不对，是约克。"), read_dispute("What is wrong?")
    (None, None, None)
    """
    words = text.replace("’", "'").strip(" \t\n.。!！…")
    if not words or len(words) > MAX_LENGTH or re.search(r"[?？]|[吗么]$", words):
        return None
    match = _ENGLISH.fullmatch(words) or _CHINESE.fullmatch(words)
    return None if match is None else next((topic.strip() for topic in match.groups() if topic), "")


_IS_PAST = re.compile(
    rf"\W*(?:(?:that|this|it)\b\W*)?(?:(?:'?s|is|was)\s+)?(?:isn't (?:true|right|so|the case) any ?more|{_OUTDATED}|"
    r"(?:not any ?more|(?:all )?over|old news|(?:all )?in the past|history|ended|finished)(?: now)?)[^\w?？]*|"
    rf"\W*(?:这|那|它)?(?:个|件事|条)?(?:{_OUTDATED_ZH}|(?:已经|早就|早已|现在|都)*"
    r"(?:过去了|结束了|变了|没有?了|不存在了|是(?:以前|过去|从前)的(?:事情?)?了?))[^\w?？]*",
    re.IGNORECASE,
)


def is_told_as_over(text: str) -> bool:
    """Whether the words say of something only that it no longer holds; not whether they ask that.

    >>> is_told_as_over("no longer true"), is_told_as_over("已经不是这样了"), is_told_as_over("I no longer live there")
    (True, True, False)
    """
    return _IS_PAST.fullmatch(text.replace("’", "'")) is not None
