"""The feelings that a text mentions, by their words in English and Chinese. Pure.

A wish says "when I'm sad"; at such a moment people say "everything feels empty". Both map to one feeling here, although
they share no word. A word for several feelings ("upset", 难受) is listed under each of them.
"""

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

_ENGLISH = {
    "sad": r"sad|sorrow|cry(?:ing)?\b|cried|tears|weep|wept|sobb|heartbr|grie[fv]|mourn|miserabl|empty|emptiness|"
    r"hollow|numb|hopeless|gloom|unhapp|depress|despair|devastat|meaningless|pointless|what's the point|melanchol|"
    r"upset|"
    r"f[ae]ll(?:ing)? apart|break(?:ing)? down|dark place|rough (?:day|night|time|patch|week)|"
    r"(?:bad|awful|terrible|horrible|shitty|crappy) (?:day|night|week|mood)|"
    r"(?:feel(?:ing|s)?|i'm|i am|am|so|a bit|really) (?:so |really |very |a bit |kind of |pretty )?"
    r"(?:down|low|blue|bad|awful|terrible|horrible|nothing|lost|broken)\b|miss (?:him|her|them|my)\b|"
    r"nothing (?:matters|helps|makes sense)",
    "anxious": r"anxi|nervous|worr(?:y|ied|ies)|panic|scared|afraid|frighten|fear|dread|on edge|uneas|restless|"
    r"terrif|insecure|overthink|(?:mind|thoughts|heart)(?: is| are|'s)? racing|freak(?:ing|ed)? out|"
    r"can'?t breathe|jitter|upset|what if",
    "angry": r"angry|anger|mad\b|furious|annoy|pissed|rage|raging|frustrat|fed up|sick of|irritat|livid|outrag|"
    "resent|"
    r"upset|hate (?:him|her|them|this)\b|so unfair|had it with",
    "stressed": r"stress|pressure|swamped|overload|overwhelm|too much|deadlines?|burn(?:ed|t|ing)? ?out|drowning|"
    r"can'?t cope|can'?t keep up|buried in|frazzled",
    "tired": r"tired|exhaust|drained|worn out|wiped|sleepy|no energy|fatigue|weary|burn(?:ed|t|ing)? ?out|knackered|"
    r"can'?t sleep|insomnia|haven't slept|didn't sleep|barely slept",
    "lonely": r"lonel|(?:all|so|feel(?:ing)?|be|am|i'm|always) alone|isolated|left out|"
    r"(?:nobody|no ?one) (?:ever |really |even |here )?(?:to talk|cares|calls|understands|is there|asks)|"
    r"abandon|unloved",
    "ashamed": r"asham|guilt|embarrass|worthless|useless|failure|failing|failed|hate myself|so stupid|good enough|"
    r"humiliat|regret",
    "happy": r"happ(?:y|ier|iness)|glad|joyful|overjoyed|excited|thrilled|over the moon|delighted|(?:great|"
    "good) news|"
    r"proud|celebrat|elated|best day",
    "unwell": r"(?:i'm|am|feel(?:ing)?|got|get|be|been) (?:so |really |a bit )?(?:sick|ill)\b(?! of)|in pain|aching|"
    r"headache|hurts\b|fever|nause|migraine|unwell|throwing up|flu\b",
    "hurt": r"(?:feel(?:ing)?|i'm|am|so|got|deeply) hurt|betray|rejected|let (?:me )?down\b|disappoint|dumped|"
    "broke up",
}
_CHINESE = {
    "sad": "难过|难受|伤心|悲伤|悲痛|悲哀|低落|哭|流泪|眼泪|空虚|空荡|空落|空空的|失落|"
    "绝望|心碎|抑郁|忧郁|忧伤|郁闷|沮丧|不开心|不高兴|不快乐|"
    "麻木|没意思|没意义|没什么意思|委屈|心酸|心里堵|心痛|情绪不好|心情不好|心情很差|心情差|心情糟|好丧|很丧|emo",
    "anxious": "焦虑|紧张|担心|担忧|害怕|恐惧|恐慌|发慌|心慌|好慌|很慌|不安|好怕|很怕|忐忑|胡思乱想|喘不过气|难受",
    "angry": "生气|愤怒|气死|气炸|火大|恼火|恼怒|好烦|很烦|烦死|烦躁|心烦|受够|发火|不爽|发脾气",
    "stressed": "压力|崩溃|忙不过来|喘不过气|撑不住|焦头烂额|应付不来|扛不住|忙疯",
    "tired": "好累|很累|太累|累死|累了|累的|累坏|疲惫|疲倦|困了|好困|没力气|精疲力尽|筋疲力尽|没精神|睡不着|失眠|乏",
    "lonely": "孤独|孤单|寂寞|没人(?:陪|理|懂|关心|说话)|没有人(?:陪|理|懂|关心)|一个人(?:待|在|好|很|过)|被抛弃",
    "ashamed": "羞愧|羞耻|内疚|愧疚|自责|丢脸|没用|失败|讨厌自己|不够好|后悔",
    "happy": "开心|高兴|快乐|兴奋|激动|好消息|太棒|自豪|幸福",
    "unwell": "生病|病了|不舒服|头疼|头痛|胃疼|肚子疼|发烧|恶心|感冒|疼得",
    "hurt": "受伤|背叛|被拒|失望|被冷落|分手",
}
FEELINGS = tuple(_ENGLISH)
# Feelings so similar that a wish for one fits the other.
_NEAR = {
    "sad": {"lonely", "hurt", "ashamed"},
    "lonely": {"sad"},
    "hurt": {"sad"},
    "anxious": {"stressed"},
    "stressed": {"anxious"},
}
# Single characters are feelings only if somebody has them.
_HAVING = "(?:我|好|很|太|真|又|得|到|觉|有点)"
_SINGLE = {"tired": "累|困|乏", "angry": "烦|气(?!质|候|温|味)", "anxious": "慌|怕", "sad": "丧"}
_FAMILIES = {
    family: re.compile(
        rf"\b(?:{english})|{_CHINESE[family]}" + (rf"|{_HAVING}(?:{_SINGLE[family]})" if family in _SINGLE else ""),
        re.IGNORECASE,
    )
    for family, english in _ENGLISH.items()
}
_DENIED = re.compile(
    r"(?:\b(?:not|never|no longer|isn't|wasn't|aren't|don't feel|didn't feel|don't be)(?: (?:so|very|really|that|"
    r"feeling|too))?\s|"
    r"(?:不|没有|没|别)(?:太|很|那么|再|会|是)?)$",
    re.IGNORECASE,
)
MAX_LOOKED_AT = 2_000  # characters
_WHEN_LAST = re.compile(
    r"\bwhen (?:did|have|had|was|were) (?:i|the last time|it last)\b[^?.!]{0,50}|"
    r"\b(?:last|previous) time (?:i|that i)\b|"
    r"\bhave i (?:ever )?(?:felt|been) (?:like this|this way|this|so)\b|\bfelt (?:like this|this way) before\b|"
    "(?:我)?上(?:一)?次[^，。！？?]{0,14}(?:是)?(?:什么时候|何时|哪天|啥时候)|(?:什么时候|何时)[^，。！？?]{0,6}也?(?:有过|这样过|"
    "这么[^，。！？?]{1,4}过)|以前(?:有没有|也)?[^，。！？?]{0,4}(?:这样|这么|这种感觉)",
    re.IGNORECASE,
)
_FEELING_ASKED = re.compile(
    r"\bfe(?:el|lt|eling)\b|\blike this\b|\bthis way\b|\b(?:this|so|that) \w+\b|感觉|心情|这样|这么|这种|那么",
    re.IGNORECASE,
)


def feelings_in(text: str) -> frozenset[str]:
    """The feelings that `text` mentions without negation.

    >>> sorted(feelings_in("Everything feels empty.")), sorted(feelings_in("我好累"))
    (['sad'], ['tired'])
    >>> feelings_in("I'm not sad")
    frozenset()
    """
    plain = straighten(text[:MAX_LOOKED_AT])
    return frozenset(
        family
        for family, words in _FAMILIES.items()
        if any(not _DENIED.search(plain[max(0, match.start() - 24) : match.start()]) for match in words.finditer(plain))
    )


def are_alike(first: frozenset[str], other: frozenset[str]) -> bool:
    """Whether any of the `first` feelings is among `other`, or similar to one of them."""
    return any(feeling in other or not _NEAR.get(feeling, set()).isdisjoint(other) for feeling in first)


def asks_when_last(text: str) -> bool:
    """Whether the owner asks when they last felt so.

    >>> asks_when_last("When did I last feel like this?"), asks_when_last("When did I last see Tom?")
    (True, False)
    """
    plain = straighten(text[-MAX_LOOKED_AT:])
    return bool(_WHEN_LAST.search(plain) and _FEELING_ASKED.search(plain))
