"""Requests to remember, and the words to be remembered. Pure.

A request to remember counts if it is made to the persona: at the beginning of a sentence or clause, as an order, a wish
or a polite question. Sentences that only mention remembering ("do you remember", "I can't remember", 「我记得」,
「记住密码好难」) ask for nothing. Precision comes first: what is missed here is still read when the session is
consolidated.

Only the text around a few key words is searched, with patterns of bounded length, so that the time grows linearly with
the message: below 10 ms for the longest possible message (measured 2026-11-21).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from echovessel.language import lazy_re as re
from echovessel.language.requests.clauses import is_other_voice
from echovessel.language.requests.possible import condition_of
from echovessel.language.requests.types import ALWAYS, Request, RequestKind

SENTENCE_LOOKED_AT = 400  # characters in which the end of a sentence is searched
AROUND_LOOKED_AT = 400
LEADING, TRAILING = 120, 40  # the longest distance from a key word to the beginning and to the end of its request
MAX_LOOKED_AT = 60  # key words; after this many without a request the rest is not searched

_KEY = re.compile(r"remember|memori|memory|forget|mind|note|down|[记忘]", re.IGNORECASE)
_BREAK = r"(?:^|(?<=[.!?…,;:\n\r—–(。！？，；：、~～（])|(?<=时候)|(?<=的话))[^\S\n]{0,3}"

# --- English ---------------------------------------------------------------------------------------------------------
_LEADS = (
    r"(?:(?:and|but|so|also|oh|ok|okay|hey|hi|well|now|then|just|please|pls|always|listen|look|by the way|btw|"
    r"(?:hey|hi|dear) \w{1,20}|one (?:more )?thing(?: (?:that )?(?=you))?)\b[\s,]{1,3}){0,4}"
)
_ASKING = (
    r"(?:(?:can|could|would) you(?: also| just| maybe)? |it would be (?:nice|good|great|lovely) if you(?: could|"
    r" would)? |i'd (?:love|like) it if you(?: could| would)? |i(?:'d like| would like| want| need) you to |"
    r"(?:you (?:should|must|have to|need to)(?: know and)?|(?:make|be) sure (?:you|to)|try to) )?(?:please |always |"
    r"also )?"
)
_VERBS = (
    r"(?:(?P<plain>(?:one (?:more )?thing|something) (?:for you )?to (?:remember|note|keep in mind)(?=\s{0,2}:)|"
    r"remember|memori[sz]e|remembered(?= (?:that|i|my)\b)|note(?= that\b|:)|(?:keep|bear) in mind|(?:make|"
    r"take) a (?:mental )?note(?: of)?|(?:don't|do not|never)(?: you)?(?: ever)?(?: let me)? forget)|"
    r"(?P<pointing>(?:keep|bear|have) (?:this|that|it) in mind|(?:write|jot|note) (?:this|that|it) down|(?:save|add|"
    r"commit|store|put) (?:this|that|it) (?:to|in|into) (?:your )?memory))(?![\w'])"
)
_ENGLISH = re.compile(f"{_BREAK}(?P<request>{_LEADS}{_ASKING}{_VERBS})", re.IGNORECASE)
_POLITE_ENGLISH = re.compile(r"\b(?:please|pls|like you to|want you to|need you to|sure (?:you|to))\b", re.IGNORECASE)
_ABLE_ENGLISH = re.compile(r"\b(?:can|could|would) you\b", re.IGNORECASE)
_TAIL = (
    r"(?:[\s,]{1,2}(?:for me|for later|for next time|next time|from now on|for the future|in (?:the )?future|forever|"
    r"always|please|pls|ok|okay|alright|thanks|thank you|will you|would you|too|as well|about me|though|well)\b){0,3}"
)
_POINTS_ENGLISH = re.compile(
    r"\s{0,2}(?:this|that|it|these|the following|this fact|one thing|two things|something(?: important| about me)?|"
    r"what i(?: just)? (?:said|told you|wrote)|these things)\b" + _TAIL + r"(?=\s{0,3}(?:[.!?…:,;—–\n)]|$))",
    re.IGNORECASE,
)
_NOTHING_MORE = re.compile(_TAIL + r"(?=\s{0,3}(?:[.!?…:,;—–\n)]|$))", re.IGNORECASE)
_CLAUSE = re.compile(r"(?: for me\b)?\s{0,2}(?:[:—–]|,?\s{0,2}that\b|,)?\s{0,3}(?=\S)", re.IGNORECASE)
_TELLS_THE_TALE = (
    r"(?!(?:told|said|mentioned|asked|used to|talked|spoke|showed|sent|(?:was|were) (?:tell|say|talk)ing)\b)"
)
_THAT_CLAUSE = re.compile(
    rf"(?:(?:i|we)(?:'\w{{1,2}})? {_TELLS_THE_TALE}\w|(?:my|our|he|she|they|it|his|her|their|the|there|tomorrow|on|"
    r"next|every|nobody|no one|i'\w+|it's|[A-Z]\w{1,20} (?:is|was|has|had|will|can't|doesn't|likes|loves|hates|"
    r"lives))\b(?! time\b| day\b| night\b))",
    re.IGNORECASE,
)
_BARE_CLAUSE = re.compile(
    r"(?:i'm|i am|i've|i have|i (?:do not|don't|can't|cannot|won't|never|always|only|also|really|hate|love|like|"
    r"prefer|need|want|work|live|take|eat|drink|sleep|go|get|stopped|quit|moved)|we're|we are|we (?:live|moved|don't|"
    r"can't)|(?:my|our) (?:[\w'-]{1,30} ){1,4}(?:is|isn't|are|aren't|was|has|have|had|will|can't|doesn't|died|likes|"
    r"loves|hates|lives|works|starts|comes|goes|gets))\b",
    re.IGNORECASE,
)
_ERRAND = re.compile(r"\s{0,2}to (?:ask|remind|tell|wish|check|congratulate)\b", re.IGNORECASE)
_NO_MATTER = re.compile(
    r"\s{0,2}(?:to\b|when (?:we|i|you)\b|the (?:time|day|night) (?:we|i|you|when)\b|(?:about )?(?:me|us|you)\b(?! )|"
    r"(?:about )?(?:me|us)(?:$|[.!,…])|how to\b|who\b|what (?:happened|you)\b)",
    re.IGNORECASE,
)

# --- Chinese ---------------------------------------------------------------------------------------------------------
_LEADS_ZH = (
    r"(?:(?:你?得?知道并且?|(?:有)?一[点件](?:事)?|我想让你|我想请你|我希望你|我要你|想让你|想请你|希望你|能不能|"
    r"可不可以|可以|麻烦你?|拜托你?|请|帮我|替我|帮忙|一定|千万|务必|必须|应该|以后|永远|好好|对了|还有|另外|顺便|所以|"
    r"那么|那|好|嗯|哦|喂|先|再|也|就|都|你们|你|您|能|得|要)[，,\s]{0,2}){0,6}"
)
_POINTED_ZH = (
    r"(?:这个|这一点|这点|这件事|这事|这句话|这些话|这些|这条|下面(?:这些|这个|的话|这件事)?|以下(?:内容|几点|这些)?|"
    r"一件事|几件事|它|(?:我)?(?:刚才|刚刚|上面)?说的(?:话|这些|这个|事)?)"
)
_CHINESE = re.compile(
    f"{_BREAK}(?P<request>(?P<leads>{_LEADS_ZH})"
    rf"(?:(?P<plain>记住|记好|记牢|牢记|记着|记一下|记录一下|记下来|记下|记个事|记件事|记(?=[：:])|"
    rf"(?:别|不要|不能|不许)(?:再)?(?:忘了|忘记|忘))|(?P<pointing>把{_POINTED_ZH}(?:都|也|好好|帮我|给我)?"
    rf"记(?:住|下来|下|一下|着|好|牢))|(?P<recall>记得(?:提醒我)?)(?!住|很|清|不|起|吗|么|没)))"
    r"(?P<mood>了?[哦喔噢啊呀哈啦喽哟嘛吧]{0,2})"
)
_POLITE_ZH = re.compile("麻烦|拜托|请|帮我|替我|帮忙|希望你|让你|要你")
_STRONG_ZH = re.compile("请|帮我|替我|要|得|必须|应该|一定|千万|务必|以后|希望你|让你|拜托|麻烦")
_TAIL_ZH = (
    r"(?:[，,\s]{0,2}(?:好吗|好不好|好嘛|行吗|行不行|可以吗|可不可以|谢谢[你您啦]?|拜托了?|就行|就好|ok吗?)){0,2}"
)
_POINTS_ZH = re.compile(
    rf"(?:一下)?{_POINTED_ZH}?[哦喔噢啊呀哈啦喽哟嘛吧]{{0,2}}{_TAIL_ZH}(?=\s{{0,3}}(?:[。！？，；：、…,.!?:;—\n）"
    rf")~～]|$))"
)
_SELF_ZH = re.compile("我|咱|俺")
_WHEN_ZH = re.compile("我|咱|俺|明天|后天|今天|今晚|下周|这周|下个?月|[0-9一二三四五六七八九十]{1,3}[月号]")
# 「记住我的名字很难」 says how hard it is.
_HARD_ZH = re.compile("[好太真很挺有不](?:难|容易|简单|累|点难)|才能|就得")
_ONLY_ME_ZH = re.compile(r"(?:我|我们|咱|咱们|俺)[哦喔噢啊呀哈啦喽哟嘛吧了]*$")
_ASKS_ZH = re.compile(r"[?？]|[吗么没]\s*[。！!~～]*$|(?:没有|了没)\s*$")
_TAG_AT_END = re.compile(
    r"[，,\s]{0,2}(?:好吗|好不好|好嘛|行吗|行不行|可以吗|知道吗|谢谢[你您啦]?|"
    r",? ?(?:ok|okay|alright|please|thanks|thank you|will you))\s{0,2}[?？。.!！~～]{0,3}\s{0,3}$",
    re.IGNORECASE,
)

# --- both ------------------------------------------------------------------------------------------------------------
_SENTENCE_END = re.compile(r"[.!?。！？\n]|$")
_IDLE = re.compile(
    r"\b(?:hi|hey|hello|ok|okay|yes|no|oh|well|so|and|but|please|dear|thanks|thank you|by the way|btw|one more thing|"
    r"listen|look|right|sure)\b|对了|还有|另外|好的|好吧|知道了|谢谢你?|是的|嗯|哦|对|好|那|喂",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\u3400-\u9fff]+(?:['-]\w+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")
_SPACE_AND_SIGNS = " \t\r\n:：,，、;；—–-.。!！?？"


_CONDITION = re.compile(
    r"(?:^|[.!?。！？\n,，])\s*(?P<c>(?:(?:when(?:ever)?|if|every ?time|each time|any ?time|next time|once|in case) "
    r"[^,.!?:;\n]{2,120}|(?:下次|每次|每当|如果|要是|只要|一旦|当|等|以后)[^，,。！？：\n]{0,40}|我[^，,。！？\n]{1,30}"
    r"(?:的时候|时|的话)))(?:[,，:：]|(?<=时候)|(?<=的话))\s*$",
    re.IGNORECASE,
)
# "Next time I panic remember …" is read as if it had a comma.
_UNMARKED = re.compile(
    r"(?:^|[.!?\n]\s)(?:when(?:ever)?|if|every ?time|next time|any ?time) (?:i|i'm|we|my|it|"
    r"things)\b[^,.!?:;\n]{2,80}?(?P<gap> )(?=(?:please |pls |just )?(?:remember|keep in mind|don't forget)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Place:
    start: int
    end: int


@dataclass(frozen=True)
class _RememberRequest:
    """A request to remember: its position with everything that belongs to it, and the position of the words to be
    remembered; without any, the message before is meant."""

    all: _Place
    words: _Place | None
    request: int  # position of the verb


def read_remember_request(plain: str) -> Request | None:
    """The first request to remember in a prepared text. "Next time I panic, remember: …" keeps its condition."""
    if unmarked := _UNMARKED.search(plain):
        plain = f"{plain[: unmarked.start('gap')]},{plain[unmarked.end('gap') :]}"
    english = (_after_english(plain, request) for request in _requests(_ENGLISH, plain))
    chinese = (_after_chinese(plain, request) for request in _requests(_CHINESE, plain))
    first = [first_request for group in (english, chinese) if (first_request := next(filter(None, group), None))]
    first_request = min(first, key=lambda request: request.all.start, default=None)
    if first_request is None or is_other_voice(plain, first_request.request):
        return None
    start, end = first_request.all.start, first_request.all.end
    if first_request.words is None:
        return Request(RequestKind.REMEMBER, start, end, "")
    begins, ends = first_request.words.start, first_request.words.end
    before = _CONDITION.search(plain, max(0, first_request.request - 200), first_request.request)
    condition = ALWAYS
    if before and begins > before.end():
        words = before["c"]
        condition = condition_of(words)
        start = min(start, before.start("c"))
    return Request(RequestKind.REMEMBER, start, end, plain[begins:ends], condition=condition, subject_start=begins)


def _requests(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Possible requests: occurrences of key words."""
    for start, end in _around_keys(text):
        yield from pattern.finditer(text, start, end)


def _around_keys(text: str) -> list[tuple[int, int]]:
    """The parts of `text` around key words, with everything that may belong to a request; they do not overlap."""
    pieces: list[tuple[int, int]] = []
    for key in islice(_KEY.finditer(text), MAX_LOOKED_AT):
        start, end = max(0, key.start() - LEADING), key.end() + TRAILING
        if pieces and start <= pieces[-1][1]:
            start = pieces.pop()[0]
        pieces.append((start, end))
    return pieces


def _after_english(text: str, request: re.Match[str]) -> _RememberRequest | None:
    """The request of an English verb that may ask to remember, by the words after it."""
    end, words = request.end(), request["request"]
    polite = bool(_POLITE_ENGLISH.search(words))
    able = bool(_ABLE_ENGLISH.search(words))
    points = (_NOTHING_MORE if request["pointing"] else _POINTS_ENGLISH).match(text, end)
    if points is None and request["plain"] and polite:
        points = _NOTHING_MORE.match(text, end)
    if points:
        politely_put = (
            polite or _has_tag(points[0]) or (able and (request["pointing"] or "for me" in points[0].lower()))
        )
        if _is_question(text, points.end()) and not politely_put:
            return None
        return _pointed_at(text, request.start("request"), points.end())
    clause = _CLAUSE.match(text, end)
    if clause is None or (not _ERRAND.match(text, end) and _NO_MATTER.match(text, end)):
        return None
    if _asks_for_clause(text, end, clause, polite=polite, able=able):
        return _following(text, request.start("request"), clause.end())
    return None


def _asks_for_clause(text: str, verb_end: int, clause: re.Match[str], *, polite: bool, able: bool) -> bool:
    begins, joint = clause.end(), clause[0].strip()
    if polite or _ERRAND.match(text, verb_end):
        return True
    if able:
        return joint.endswith("that") or joint in (":", "—", "–")
    if _is_question(text, begins):
        return False
    if joint in (":", "—", "–"):
        return True
    return bool((_THAT_CLAUSE if joint.endswith("that") else _BARE_CLAUSE).match(text, begins))


def _after_chinese(text: str, request: re.Match[str]) -> _RememberRequest | None:
    end, leads = request.end(), request["leads"]
    polite = bool(_POLITE_ZH.search(leads))
    if request["recall"] and not (_STRONG_ZH.search(leads) or _CONDITION.search(text, 0, request.start("request"))):
        return None
    perfective = request["mood"] == "了" and request["plain"] and not request["plain"].endswith("忘")
    points = _POINTS_ZH.match(text, end)
    if points:
        wholly_said = perfective and text[points.end() : points.end() + 1] not in ("，", ",", "：", ":")
        if wholly_said or (_is_question(text, points.end()) and not polite and not _has_tag(points[0])):
            return None
        return _pointed_at(text, request.start("request"), points.end())
    sentence = _sentence(text, end)
    if (
        perfective
        or sentence.startswith(("呢", "来了", "来过"))
        or _ONLY_ME_ZH.match(sentence.strip("。！？，.!?,~～… "))
    ):
        return None
    if not _asks_for_sentence(request, sentence, polite=polite):
        return None
    return _following(text, request.start("request"), end)


def _asks_for_sentence(request: re.Match[str], sentence: str, *, polite: bool) -> bool:
    asks = bool(_ASKS_ZH.search(sentence)) and not _TAG_AT_END.search(sentence)
    if asks and not polite:
        return False
    if request["recall"] or (request["plain"] or "").find("忘") > 0:
        return bool(_SELF_ZH.search(sentence))
    if polite:
        return True
    states = _WHEN_ZH.match(sentence) or (
        (request["plain"] or "").endswith("一下") and re.search(r"[是在叫有]|\d", sentence)
    )
    return bool(states) and not _HARD_ZH.search(sentence)


def _pointed_at(text: str, start: int, end: int) -> _RememberRequest | None:
    """ "Remember this": the words after a colon, otherwise those before it, otherwise those after it, otherwise the
    message before."""
    before, after = _before(text, start), text[end : end + AROUND_LOOKED_AT]
    if after.lstrip()[:1] in (":", "：", "，", ",", "—", "–") and _says_something(after, least=1):
        return _following(text, start, end)
    if _says_something(before):
        words = _trimmed(text, 0, start)
        return _RememberRequest(_Place(words.start, end), words, start) if words else None
    if _says_something(after):
        return _following(text, start, end)
    return _RememberRequest(_Place(start, end), None, start)


def _following(text: str, start: int, end: int) -> _RememberRequest | None:
    words = _trimmed(text, end, len(text))
    if words is None:
        return None
    return _RememberRequest(_Place(start if _says_something(_before(text, start)) else 0, words.end), words, start)


def _trimmed(text: str, start: int, end: int) -> _Place | None:
    """The words between two positions, without punctuation around them except at the end of a sentence."""
    words = text[start:end]
    if tag := _TAG_AT_END.search(words, max(0, len(words) - 40)):
        words = words[: tag.start()]
    begins = start + len(words) - len(words.lstrip(_SPACE_AND_SIGNS))
    ends = start + len(words.rstrip(" \t\r\n,，、:：;；—–"))
    return _Place(begins, ends) if begins < ends else None


def _before(text: str, start: int) -> str:
    return text[max(0, start - AROUND_LOOKED_AT) : start]


def _says_something(text: str, least: int = 2) -> bool:
    """Whether `text` is more than a greeting, a name or a yes."""
    plain = _IDLE.sub(" ", text)
    return len(_WORD.findall(plain)) >= least or len(_HAN.findall(plain)) > least


def _sentence(text: str, start: int) -> str:
    """The rest of the sentence, with its punctuation."""
    end = _SENTENCE_END.search(text, start, start + SENTENCE_LOOKED_AT)
    return text[start : end.end() if end else start + SENTENCE_LOOKED_AT].strip()


def _is_question(text: str, start: int) -> bool:
    sentence = _sentence(text, start)
    return sentence.endswith(("?", "？")) and not _TAG_AT_END.search(sentence)


def _has_tag(text: str) -> bool:
    return bool(_TAG_AT_END.search(text))
