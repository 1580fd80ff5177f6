"""Whether a line of the user asks that something be forgotten, by pointing at it: "forget that", 「忘了这件事」. Pure.

Nothing is forgotten by it: the page offers a preview. So it is made to be precise. What only speaks of forgetting
("I can't forget that", "don't forget that", 「忘不了」), or means "never mind" ("forget it", 「忘了吧」), asks
for nothing.
"""

import re
from typing import Literal

from echovessel.language.simplified import simplify

LONGEST = 400  # characters; nobody asks for it at the end of a story
QUOTING_LOOKED_AT = 24
Meant = Literal["line_before", "own_line"]

_BREAK = r"(?:^|(?<=[.!?…,;:\n—–。！？，；：、~～]))\s{0,3}"
_END = r"(?=\s{0,3}(?:[.!…\n。！~～)]|$))"
_POLITE_END = r"(?=\s{0,3}(?:[.!?…\n。！？~～,，;；)—–-]|$))"

# --- English ---------------------------------------------------------------------------------------------------------
_THAT = (
    r"(?:(?:that|this)(?: (?:line|message|part|bit|one))?|(?:the|that|this) (?:last )?(?:thing|part|bit) (?:that )?"
    r"i(?:'ve)? (?:just )?(?:said|told you|wrote|mentioned)|(?:my|the) last (?:line|message)|"
    r"what i(?:'ve)?(?: just)? (?:said|told you|wrote|mentioned)(?: just now| a moment ago| to you)?|"
    r"(?:that )?i (?:ever |just )?(?:said|told you|mentioned) (?:that|this|it|anything|so))"
)
_VERBS = (
    rf"(?:forget(?: about)? {_THAT}|(?:erase|delete|unremember) {_THAT}|"
    rf"(?:don't|do not|never) (?:remember|keep|save|store|memori[sz]e|record) {_THAT}|"
    r"(?:erase|delete|remove|strike|wipe|drop) (?:that|this|it) from (?:your )?memory|"
    r"don't (?:write|note) (?:that|this) down)"
)
_NOT_VERBS = rf"(?:not (?:remember|keep|save|store|record)|forget(?: about)?|erase|delete) {_THAT}"
_OPENING = r"(?:(?:oh|ok|okay|hey|no|wait|sorry|actually|and|but|so|well|hm+|hmm+|on second thought)\b[\s,]{1,3}){0,3}"
_ASKING = (
    r"(?:please|pls|(?:can|could|would|will) you(?: please| just| maybe)?|i(?:'d| would) (?:like|prefer|rather)"
    r"(?: for)? you(?: to)?|i (?:want|need) you to|you (?:should|must|have to)|i'd rather you)"
)
_TAIL = (
    r"(?:[\s,]{1,2}(?:please|pls|for me|right now|now|again|at once|forever|for good|completely|ok|okay|thanks|"
    r"thank you|will you|would you)\b){0,3}"
)
_ENGLISH = (
    re.compile(f"{_BREAK}{_OPENING}{_ASKING}[ ,]{{1,2}}(?:{_NOT_VERBS}|{_VERBS}){_TAIL}{_POLITE_END}", re.I),
    re.compile(
        f"{_BREAK}{_OPENING}{_VERBS}[ ,]{{1,2}}(?:please|pls|thanks|thank you|will you|would you){_POLITE_END}", re.I
    ),
    re.compile(f"{_BREAK}{_OPENING}{_VERBS}{_TAIL}{_END}", re.I),
)

# --- Chinese ---------------------------------------------------------------------------------------------------------
_THIS_ZH = (
    r"(?:(?:这|那)(?:个|件事情?|事儿?|句话|句|段话|条|些话|一?点)|(?:我)?(?:刚才|刚刚|上面|前面)(?:我)?(?:说|讲|提|写)的?"
    r"(?:那|这)?(?:个|句|件|些)?(?:话|事情?|内容)?|我(?:说|讲)的(?:这|那)?(?:个|句|件|些)?(?:话|事情?)?|上一(?:句|条)(?:话)?)"
)
_FORGETTING_ZH = r"(?:忘了|忘掉|忘记|删了|删掉|删除|抹掉|清除)"
_ASKING_ZH = (
    r"(?:请你?|麻烦你?|拜托你?|帮我|替我|希望你|想让你|想请你|我要你|你?能不能|你?可不可以|你?可以|你?能|"
    r"你要|你就|你还是)"
)
_OPENING_ZH = r"(?:(?:那|哦|噢|嗯|啊|好吧?|算了|对不起|抱歉|不好意思|还是|就|先)[，,\s]{0,2}){0,3}"
_KEEP_ZH = r"记(?:住|着|下来|下|得|进去|到心里|在心里)?"
_DEED_ZH = (
    rf"(?:(?:{_FORGETTING_ZH}|别{_KEEP_ZH}|不要{_KEEP_ZH}|不用{_KEEP_ZH}|别再{_KEEP_ZH}){_THIS_ZH}|"
    rf"(?:把|将){_THIS_ZH}(?:都|也|全)?(?:给我|彻底|统统|从(?:你的)?(?:记忆|脑子|心)里)?{_FORGETTING_ZH}|"
    rf"(?:别|不要)把{_THIS_ZH}{_KEEP_ZH}|"
    rf"{_THIS_ZH}[，,]?(?:你)?(?:就|还是)?(?:(?:别|不要|不用)(?:再)?{_KEEP_ZH}(?:了)?|{_FORGETTING_ZH}(?=吧)))"
)
_TAIL_ZH = r"(?:[，,\s]{0,2}(?:吧|啦|哦|啊|呀|了|好吗|好不好|可以吗|行吗|行不行|谢谢你?|拜托了?|好嘛)){0,3}"
_CHINESE = (
    re.compile(f"{_BREAK}{_OPENING_ZH}{_ASKING_ZH}[，,\\s]{{0,2}}(?:先|就|都|也|再)?{_DEED_ZH}{_TAIL_ZH}{_POLITE_END}"),
    re.compile(f"{_BREAK}{_OPENING_ZH}你?{_DEED_ZH}(?:吧|好吗|好不好|可以吗|行吗|谢谢你?){_POLITE_END}"),
    re.compile(f"{_BREAK}{_OPENING_ZH}{_DEED_ZH}{_TAIL_ZH}{_END}"),
)

_QUOTING = re.compile(
    r"(?:\b(?:said|says|say|saying|told (?:me|us|him|her|them)|asked (?:me|us|him|her|them)(?: to)?|wrote)|"
    r"说|讲|写道|告诉我|叫我|让我|劝我)[,:，：“\"「\s]{0,3}$",
    re.I,
)
_IDLE = re.compile(
    r"\b(?:ok|okay|oh|no|well|sorry|please|wait|hey|actually|hm+)\b|算了|对不起|抱歉|好的|好吧|不好意思|嗯|哦|那", re.I
)


def asked_to_forget(line: str) -> Meant | None:
    """What `line` asks to have forgotten: the line before, or what it says itself before it asks.

    >>> asked_to_forget("Please forget that."), asked_to_forget("I kissed Tom. Forget I said that!")
    ('line_before', 'own_line')
    >>> asked_to_forget("Don't forget that."), asked_to_forget("忘不了这件事")
    (None, None)
    """
    plain = simplify(line.replace("\u2019", "'"))
    if len(plain) > LONGEST:
        return None
    found = [match for pattern in (*_ENGLISH, *_CHINESE) for match in pattern.finditer(plain)]
    asked = [
        match
        for match in found
        if not _QUOTING.search(plain[max(0, match.start() - QUOTING_LOOKED_AT) : match.start()])
    ]
    if not asked:
        return None
    before = _IDLE.sub(" ", plain[: min(match.start() for match in asked)])
    return "own_line" if sum(map(str.isalnum, before)) > 1 else "line_before"
