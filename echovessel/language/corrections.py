"""A day or an hour that the next message corrects: "no, it's Friday", 「不对，是周五」. Pure; English and Chinese.

A message corrects an earlier one only if it says nothing else: it takes something back, names a day or an hour, and its
other words are in the earlier message as well. "No, on Friday I see the dentist" states something new.
"""

from dataclasses import dataclass

from echovessel.language import lazy_re as re
from echovessel.language import tokenizer
from echovessel.language.dates import DAY_MONTH, DAY_WORD, FULL_ZH, ISO, MONTH_DAY

LONGEST = 120  # characters; a longer message states something new

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_HOUR_ZH = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})"
# Each with a first part that a correction may leave out: "next Thursday", 「下周四」, 「下午三点」.
_DAYS = (
    re.compile(rf"(?:\b((?:this|next|last|coming)\s+))?\b{_WEEKDAY}\b", re.I),
    re.compile(r"((?:上上|下下|上|下|这|本)个?)?(?:周|星期|礼拜)[一二三四五六日天](?![一二三四五六日天])"),
    *(re.compile(f"(?P<no_first>(?!))?(?:{dates.pattern})", re.I) for dates in (ISO, FULL_ZH, MONTH_DAY, DAY_MONTH)),
    re.compile(rf"(?P<no_first>(?!))?(?:{DAY_WORD.pattern})", re.I),
    re.compile(r"(\d{1,2}月)?\d{1,2}[号日](?![线楼院店厅])"),
)
_HOURS = (
    re.compile(r"(?P<no_first>(?!))?\b\d{1,2}(?::[0-5]\d)?\s?(?:[ap]\.?m\b|o['’]clock)|\b\d{1,2}:[0-5]\d\b", re.I),
    re.compile(
        rf"((?:早上|上午|中午|下午|傍晚|晚上|凌晨)\s?)?{_HOUR_ZH}点(?:半|[一三]刻|[零〇]?{_HOUR_ZH}分?)?(?!儿|钟头)"
    ),
)
_TAKES_BACK = re.compile(
    r"^\W*(?:(?:oh|oops|ah|hmm+|well|um|uh|hey|ok|okay|hold on|啊|哦|噢|呃|嗯|哎呀?|诶)\b\W*|[啊哦噢呃嗯哎诶]\W*){0,3}"
    r"(?:no\b|nope\b|not\b|wait\b|sorry\b|oops\b|actually\b|correction\b|my (?:bad|mistake)\b|make that\b|"
    r"scratch that\b|that(?:'s| was| is) (?:wrong|not right)\b|it(?:'s| is| was) actually\b|i(?:'m| am) wrong\b|"
    r"i (?:mean|meant|misspoke|was wrong|got (?:it|that|the \w{1,12}) wrong|mixed (?:it|that|them) up)\b|"
    r"不对|不是|不[，,。！!\s]|错了|我?(?:说|记|搞|弄|打|写|看)错|更正|纠正|应该是|其实|准确地?说|等等|等一下|抱歉|不好意思|"
    r"对不起|(?:你|妳|您)(?:说|记|搞|弄)错)",
    re.I,
)
_MOVED = re.compile(
    r"改(?:到|成|为|在)|推迟到|提前到|挪到|\b(?:moved|changed|postponed|rescheduled|pushed(?: back)?|brought forward) "
    r"(?:to|till|until|for)\b",
    re.I,
)
_NOT = re.compile(r"(?:\bnot(?: on| at)?|\binstead of|\brather than|不是|并非|而不是|不在)\s*$", re.I)
# Searched in lower case: most messages have none of these words, and each recall checks dozens of messages.
_OTHERWISE = re.compile("not|instead|rather|moved|changed|postponed|rescheduled|pushed|forward|不|并非|改|推迟|提前|挪")
_ASKS = re.compile(r"[?？]|[吗么]\W*$")
_FILLING = re.compile(
    r"\b(?:no|nope|not|wait|sorry|oops|actually|correction|my|bad|mistake|make|that|scratch|wrong|right|it's|its|it|"
    r"is|was|will|be|should|have|been|said|say|i'm|i|mean|meant|misspoke|got|mixed|up|on|at|the|of|and|but|instead|"
    r"rather|than|oh|ah|well|um|uh|hey|ok|okay|hold|you|remember|moved|changed|postponed|rescheduled|pushed|back|"
    r"brought|forward|to|till|until|for|am|are|in|this|day|one|just|now|really)\b|"
    r"不对|不是|错了|说错|记错|搞错|弄错|打错|写错|看错|更正|纠正|一下|应该|其实|准确地?说|等等|抱歉|不好意思|对不起|"
    r"改到|改成|改为|改在|推迟到|提前到|挪到|并非|而|才对|才是|不|是|在|的|了|啦|啊|哦|噢|呃|嗯|哎呀?|诶|呀|吧|呢|我|你|您|"
    r"那|天|那个|才|又|刚才|刚刚|到|于|会|要",
    re.I,
)


@dataclass(frozen=True)
class _Moment:
    """A day or an hour in a text: where it begins, where the part that must stay begins, and where it ends."""

    start: int
    core: int
    end: int

    def in_(self, text: str) -> str:
        return text[self.start : self.end]

    def is_like(self, text: str, other: str) -> bool:
        """Whether both have the same form, so that a prefix of one can precede the other."""
        core = text[self.core : self.end]
        patterns = (pattern for pattern in (*_DAYS, *_HOURS) if pattern.fullmatch(other))
        return any(pattern.fullmatch(core) or pattern.fullmatch(self.in_(text)) for pattern in patterns)


def apply_correction(earlier_text: str, message: str, *, loosely: bool = False) -> str | None:
    """`earlier_text` as corrected by the later `message`; None if it corrects nothing there. A message that repeats no
    word of the earlier text must name the day in the same form, as a weekday for a weekday, unless it is read
    `loosely`.

    >>> apply_correction("我下周四有个面试。", "不对，是周五")
    '我下周五有个面试。'
    >>> apply_correction("The party is on Sunday.", "Sorry, Saturday!")
    'The party is on Saturday.'
    >>> apply_correction("I run on Thursday.", "No, on Friday I see the dentist.")
    """
    if (
        len(message) > LONGEST
        or not (_OTHERWISE.search(message.lower()) or _TAKES_BACK.match(message))
        or _ASKS.search(message)
    ):
        return None
    for kind in (_DAYS, _HOURS):
        # The moments that the message denies, and those that it states; none if it names none.
        if not (moments := _moments(message, kind)):
            continue
        denied = [moment.in_(message) for moment in moments if _NOT.search(message[: moment.start])]
        stated = [moment.in_(message) for moment in moments if not _NOT.search(message[: moment.start])]
        wrong, right = next(iter(denied), ""), next(iter(stated), "")
        old_moments = [
            moment
            for moment in _moments(earlier_text, kind)
            if moment.in_(earlier_text).casefold() != (right or "").casefold()
        ]
        rest = _rest(message, kind)
        surely = loosely or wrong or rest
        folded = wrong.casefold()
        meant_moments = [
            moment
            for moment in old_moments
            for text in [moment.in_(earlier_text).casefold()]
            if (text.endswith(folded) or folded.endswith(text)) and (surely or moment.is_like(earlier_text, right))
        ]
        if right and meant_moments and (wrong or takes_back(message)) and rest <= set(tokenizer.tokenize(earlier_text)):
            # `right` takes the place of that moment. 「周五」 in the place of 「下周四」 is 「下周五」.
            moment = meant_moments[0]
            is_plain = all(moment.core == moment.start for moment in _moments(right, (*_DAYS, *_HOURS)))
            start = moment.core if is_plain and moment.is_like(earlier_text, right) else moment.start
            return f"{earlier_text[:start]}{right}{earlier_text[moment.end :]}"
    return None


def takes_back(message: str) -> bool:
    """Whether `message` may be a correction: it takes back or moves something, and names a day or an hour."""
    if len(message) > LONGEST or not (_TAKES_BACK.match(message) or _MOVED.search(message)):
        return False
    return bool(_moments(message, _DAYS) or _moments(message, _HOURS))


def _moments(text: str, kind: tuple[re.Pattern[str], ...]) -> list[_Moment]:
    """The days, or the hours, that `text` names, each once, in order."""
    moments = [
        _Moment(match.start(), match.end(1) if match[1] else match.start(), match.end())
        for pattern in kind
        for match in pattern.finditer(text)
    ]
    moments.sort(key=lambda moment: (moment.start, -moment.end, -moment.core))
    distinct_moments: list[_Moment] = []
    for moment in moments:
        if not distinct_moments or moment.start >= distinct_moments[-1].end:
            distinct_moments.append(moment)
    return distinct_moments


def _rest(message: str, kind: tuple[re.Pattern[str], ...]) -> set[str]:
    """The words of `message` besides its days and besides words that only introduce a correction."""
    rest = message
    for moment in reversed(_moments(message, kind)):
        rest = f"{rest[: moment.start]} {rest[moment.end :]}"
    return set(tokenizer.tokenize(_FILLING.sub(" ", rest.replace("’", "'"))))
