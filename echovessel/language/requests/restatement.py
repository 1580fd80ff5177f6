"""Restatements: sentences that differ from a memory in one place. Pure; English and Chinese.

"Nora lives in Oslo now, not Bergen" states "Nora lives in Oslo" and denies "Bergen". Compared with "Nora lives in
Bergen with her cat" it differs in one run of words, and that run changes. The two are aligned word by word. A run
counts only if both have the same words around it and both runs are of one kind: a number for a number, a day for a day,
a noun with its preposition for another. In all other cases nothing is proposed: a wrong proposal is worse than none.

Somebody who needs a visa may need a break as well. If both may hold, as after "need" and 「买」 or in another tense,
the sentence must deny something or take something back: "not a visa", "You got that wrong", 「不对」.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice

from echovessel.language import lazy_re as re
from echovessel.language import tokenizer
from echovessel.language.dates import DAY_WORD
from echovessel.language.requests.clauses import (
    is_asked,
    is_own_voice,
    is_said_to_others,
    is_told_of,
    prepare,
    sentences,
)
from echovessel.language.requests.correcting import ADMITTED, ADMITTED_ZH
from echovessel.language.requests.types import Request, RequestKind

MAX_RUN = 6  # tokens in one place
MAX_SENTENCE = 160  # characters; a longer sentence tells a story
# Limits per message: restatements, each of which is compared with memories, and sentences searched for them.
MAX_RESTATEMENTS, MAX_LOOKED_AT = 3, 12

_I = re.IGNORECASE
_HAN = re.compile(r"[\u3400-\u9fff]")
_NUMBER = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a hundred)"
)
_TOKEN = re.compile(
    r"[£$€¥]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?|[零〇一二两三四五六七八九十百千万半]+|[\u3400-\u9fff]|"
    r"n['’]t\b|['’](?:s|re|m|ve|ll|d)\b|[^\W\d_\u3400-\u9fff]+?(?=n['’]t\b)|[^\W\d_\u3400-\u9fff]+(?:-[^\W\d_]+)*"
)
_SIGN = re.compile(r"[^\w\s'-]")
_TITLES = ("Dr", "Mr", "Mrs", "Ms", "St")
_IS_NUMBER = re.compile(rf"[£$€¥]?\d.*|[零〇一二两三四五六七八九十百千万半]+|{_NUMBER}", _I)
_IS_DAY = re.compile(
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    rf"november|december|{DAY_WORD.pattern}",
    _I,
)
# Ignored on both sides: "Nora now actually lives in Oslo".
_ADVERBS = re.compile(
    r"\b(?:as a matter of fact|in fact|in reality|these days|at the moment|actually|really|now|nowadays|currently|just|"
    r"already|still)\b|快(?=[\d一二两三四五六七八九十])|现在|目前|如今|其实|实际上|已经|早就|早已|一直|应该|今年|刚才|本来|[啦呢啊哦呀嘛]|"
    # Not as a part of another word: 成都, 天才, 了解, 酒吧, 哈尔滨.
    r"(?<![成首京古故])都(?![市会])|(?<![人天口])才(?![能华])|了(?!解)|(?<![酒网书])吧|哈(?![尔密佛])",
    _I,
)
_SAME = {"a": "a", "an": "a"} | dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "'m", "'re"), "be")
_SAME |= dict.fromkeys(("has", "have", "had", "'ve", "got"), "have")
_PRONOUNS = frozenset(("i", "we", "he", "she", "it", "they", "his", "her", "my", "our", "their", "its", "that"))
_PRONOUNS_ZH = frozenset("我他她它")
_FIRST = frozenset(("i", "we", "my", "our", "我"))
_LINKS = frozenset(("be", "have", "it", "that", "there", "'s", "it", "是", "的", "在", "叫", "有"))
# The replaced noun follows one of these, or words that both sides share follow it.
_GOVERNS = frozenset(
    tokenizer.tokenize(
        "a an the my his her our their in on at to from with for of by near since until about as than under over into "
        "called named live work study teach play drive speak learn like love prefer hate cost own eat drink earn run "
        "want need marry meet read sell grow keep lend owe pay see visit use wear bring buy be have name every"
    )
) | {"be", "have", "a", "'s"}
_GOVERNS_ZH = frozenset("在叫是姓属学教养到去住做当开买对和跟从于拉弹爱吃喝说会要第月年周期有数色字戴穿欠给怕读念卖")
# A run that contains one of these does not name a thing: "works too much", 「很开心」.
_NO_NOUN = frozenset(
    tokenizer.tokenize("too very so quite not no been being away out up off down back over only more much rather")
)
_NO_NOUN_ZH = re.compile(
    r"[我你他她它很太不没真挺好个这那么也又吗想会能要就过着被把让得]|有点|非常|睡觉|上班|上课|吃饭|休息|开会|加班|学习|工作|"
    r"洗澡|散步|吵架|打架|迟到|失眠|[睡饱醉乖乱脏空趟]|"
    r"等|做|看|玩|写|跑|哭|忙|聊|路上|外面|家里|昨|明天|今天|后来|以前|一样|可以|喜欢|觉得"
)
_STOPS = frozenset(("last", "next", "this", "every", "since", "and", "but", "who", "which", "ago", "because", "while"))
# The end of the words for a place or a thing: 「昆明|当护士」.
_ENDS_ZH = re.compile(r"[当做读念教学的跟和住养开上工打生认结等，,。”]")
_KIN_ZH = frozenset("妈爸哥弟姐妹子儿公婆友板事奶爷舅姨叔姑猫狗学")
_DETAIL_ZH = re.compile(r"[去今前上下]?[年月周个天]|[\d一二三四五六七八九十]+年?|是")

OPENING = re.compile(
    r"(?:\W*(?:no+|nope|wait|sorry|oops|whoops|oh|ah|well|um|hey|actually|in fact|correction|my (?:bad|mistake)|"
    r"hold on|hang on|make that|(?:that(?:'s| is| was)|you(?:'re| are)) (?:wrong|not right|incorrect|not true|"
    r"mistaken)|i (?:mean|meant|said)|(?:you|i)(?:'ve| have)? (?:got|had) (?:it|that|this) (?:all )?wrong|"
    r"you (?:misremember|misunderstood)|i never said|i didn't say)\b(?! (?:questions?|one|idea|for|till|until|to|"
    r"a)\b)[\s,.:;!–—-]*)+|(?:[\s，,。！!]*(?:不对|错了|不是(?=[，,。！])|不(?=[，,])|啊|哦|呃|嗯|等等|抱歉|不好意思|"
    r"对不起|(?:你|我|是我)?(?:刚才|刚刚|之前|上次|可能|好像)?(?:说|记|搞|弄|打|写|听|理解)(?:错|混|反|岔)了?|"
    r"(?:一个)?更正(?:一下)?|纠正(?:一下)?|准确地?说|我(?:说|指)的是|其实|实际上)[\s，,。！!：:]*)+",
    _I,
)
_TAIL = re.compile(
    r"[\s,，]+(?:actually|in fact|that is|i mean|sorry|(?:you|i)(?:'ve| have)? (?:got|had) (?:it|that) wrong|"
    r"you're wrong|"
    r"(?:是)?(?:你|我|您)?(?:刚才|刚刚|之前|上次)?(?:说|记|搞|弄|打|写|听)(?:错|混|反)了?[啦吧哦]?|才对|不对)[\s.!。！]*$",
    _I,
)
_NOT_AFTER = re.compile(
    r"^(?P<stated>.+?)(?<!\bis)(?<!\bwas)(?<!\bare)(?<!'s)(?<!'re)(?<!'m)(?<!\bam)(?<!\bdo)(?<!\bdid)[\s,;–—-]+"
    r"(?:and |but )?(?:not|instead of|rather than)\s+(?P<denied>[^,;.!]{1,60})$",
    _I,
)
_NOT_BEFORE = re.compile(
    r"^(?P<lead>.{0,60}?)(?:n't|\bnot)\s+(?P<denied>[^,;.!]{1,60}?)\s*(?:[,;.–—]|\s-\s|,?\s+but\b)\s*(?:but |rather )?"
    r"(?P<stated>.{2,90})$",
    _I,
)
_NOT_AFTER_ZH = re.compile(
    r"^(?P<stated>.{2,60}?)[，,\s。]\s*(?:而|并|可|根本)?(?:不|没)(?:是在|是叫|是|叫|在|姓|属|住在?|去|学|养|有)(?P<denied>[^，,。]{1,16})$"
)
_NOT_BEFORE_ZH = re.compile(
    r"^(?P<lead>[^，,]{0,24}?)(?:并|根本)?(?:不|没)(?P<verb>是在|是叫|是|叫|在|姓|属|住在?|去|学|养|有)(?P<denied>[^，,。]{1,16})[，,\s。]\s*"
    r"(?:而是|其实|应该|而|才)*(?:是在|是叫|是|叫|在|姓|属|住在?|去|学|养|有)(?P<instead>[^，,。]{1,16})$"
)
_ADMITTED_BETWEEN = re.compile(
    rf"[,;–—-]\s*{ADMITTED}\s*[,;–—-]\s*|[，,；;]\s*{ADMITTED_ZH}[，,；;]\s*[他她它我]?们?(?:应该|其实)?(?:是|叫|在|姓|住)?",
    _I,
)
_CLEFT = re.compile(r"\s+(?:who|that|which|where)\b.*$", _I)
_MARKED = re.compile(
    r"\b(?:actually|in fact|as a matter of fact|correction)\b|"
    r"其实|实际上|准确地?说|更正|纠正|[说记搞弄打写听](?:错|混|反)|不对",
    _I,
)
_DENIES = re.compile(r"\b(?:not|instead of|rather than)\b|n't\b|(?:不|没)(?:是|叫|在|姓|属|住|去|学|养|有)", _I)
# Those of the openings and tails that take something back. "Well", "oh no" and 「其实」 only open a sentence.
_TAKES_BACK = re.compile(
    r"(?<!oh )(?<!ah )\b(?:no|nope|correction|make that|my (?:bad|mistake)|wrong|not right|incorrect|not true|mistaken|"
    r"meant|i (?:never )?said|say|misremember|misunderstood)\b|"
    r"不对|才对|[说记搞弄打写听解]?[错混反岔]|不是|不(?=[，,])|更正|纠正|准确|[说指]的是",
    _I,
)
# Verbs that hold for one thing, or in one place, for a long time: somebody who lives in Oslo does not live in Bergen.
# With any other verb both may hold: somebody who needs a visa may need a break.
_OF_ONE = frozenset(
    tokenizer.tokenize(
        "live work study learn play drive move born grew meet met marry married divorced allergic engaged called named "
        "weigh cost earn turn retired"
    )
)
_ONLY_PLACED = frozenset(tokenizer.tokenize("meet met"))  # "met in Rome", but not "met Ben"
_OF_ONE_ZH = re.compile(
    r"(?:是|叫|姓|属|[住搬嫁生]在?到?|学|教|(?:家|司|校|店|院|乡|学|礼)在|生日|来自|毕业于|年|的)了?$"
)
# Followed by something done there for a long time: 「在大理|当护士」, 「对芒果|过敏」.
_LONG_ZH = re.compile(r".{0,2}?(?:当|做|教|读|念|开|上班|上学|工作|长大|认识|出生|结婚|过敏)")
_DETERMINERS = frozenset(("a", "the", "my", "our", "his", "her", "their", "to"))
_COUNTED_ZH = re.compile(r"一[个只本件杯碗条张份块台部双辆]$")
# Praise or blame of somebody is neither an occupation nor a kinship.
_PRAISE = re.compile(
    r"\b(?:genius|saint|pain|darling|angel|hero|star|legend|mess|wreck|disaster|nightmare|joke|fool|idiot|monster|gem|"
    r"treasure|sweetheart|delight|menace|clown|coward|dream|mystery|handful|rock|bore|liar|wonder|blessing|sauna|zoo|"
    r"good \w+|bad \w+|morning person|night owl)\b|好人|坏人|好心人|大忙人|天才|英雄|活宝|宝贝|开心果|夜猫子|吃货|"
    r"骗子|笨蛋|傻瓜|胆小鬼|急性子|慢性子|脾气|话痨|麻烦|奇葩|单身|破|心里|[迷狂痴控]$",
    _I,
)
_TENSES = (frozenset(("was", "were", "had")), frozenset(("am", "is", "are", "has", "have", "'m", "'re", "'ve")))
_VERB_ENDING = re.compile(r"(?<=[a-z]{3})(?:ing|ed)$|(?<=[a-z]{2})ied$")


@dataclass(frozen=True)
class Claim:
    """What a sentence states and what it denies; `instead`, if it says outright what replaces that. `takes_back`: it
    says that something was wrong."""

    stated: str
    denied: str = ""
    instead: str = ""
    takes_back: bool = False

    @cached_property
    def stated_tokens(self) -> list["_Token"]:
        return _tokens(self.stated)

    @cached_property
    def denied_tokens(self) -> list["_Token"]:
        return _tokens(self.denied)


@dataclass(frozen=True)
class Change:
    """`memory[start:end]` is replaced by `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class _Token:
    form: str
    start: int
    end: int
    begins: bool  # follows punctuation such as a comma or a quotation mark


def read_restatements(text: str) -> Iterator[Request]:
    """The first sentences of a message that state that something is different. They are corrections only if they
    contradict a memory.

    >>> [one.subject for one in read_restatements("Hi! Nora lives in Oslo, actually. It rained.")]
    ['Nora lives in Oslo, actually']
    """
    plain = prepare(text)
    restating = ((start, end) for start, end in sentences(plain) if _may_restate(plain[start:end]))
    own = (
        (start, end)
        for start, end in islice(restating, MAX_LOOKED_AT)
        if is_own_voice(plain, start, end)
        and not is_asked(plain, start)
        and not is_told_of(plain, start, start, end)
        and not is_said_to_others(plain, start, end)
    )
    for start, end in islice(own, MAX_RESTATEMENTS):
        yield Request(RequestKind.CORRECTION, start, end, text[start:end], sure=False, subject_start=start)


def _may_restate(words: str) -> bool:
    """Whether a sentence opens as a correction, or says that something is different. A sentence that only denies, as "I
    don't like the cold", states nothing that could replace a part of a memory."""
    return len(words) <= MAX_SENTENCE and bool(
        OPENING.match(words) or _MARKED.search(words) or (_DENIES.search(words) and read_claim(words).denied)
    )


def read_claim(text: str) -> Claim:
    """What a correction states and denies.

    >>> read_claim("Actually Nora lives in Oslo now, not Bergen.")
    Claim(stated='Nora lives in Oslo now', denied='Bergen', instead='', takes_back=False)
    >>> read_claim("我老家不是长沙，是株洲")
    Claim(stated='我老家是株洲', denied='长沙', instead='株洲', takes_back=False)
    """
    words = text.replace("’", "'").strip(" \n.!。！~～")
    words = _ADMITTED_BETWEEN.sub(lambda match: "，是" if _HAN.search(match[0]) else ", ", words)
    tail = _TAIL.search(words)
    words = _TAIL.sub("", words)
    opening = OPENING.match(words)
    takes_back = any(match and _TAKES_BACK.search(match[0]) for match in (opening, tail))
    words = words[opening.end() :] if opening and opening.end() < len(words) else words
    stated, denied, instead = _divide(words)
    return Claim(stated, denied, instead, takes_back)


def _divide(words: str) -> tuple[str, str, str]:
    """What is stated, what is denied, and what replaces it."""
    if _HAN.search(words):
        if before := _NOT_BEFORE_ZH.match(words):
            denied, instead = (re.sub(r"[了啦的哦呀啊哈]+$", "", before[side]) for side in ("denied", "instead"))
            while len(denied) > 1 and len(instead) > 1 and denied[-1] == instead[-1] and len(denied) > 2:
                denied, instead = denied[:-1], instead[:-1]  # 不是小军打碎的，是小勇打碎的
            return before["lead"] + before["verb"].removeprefix("并") + instead, denied, instead
        if after := _NOT_AFTER_ZH.match(words):
            return after["stated"], re.sub(r"[了啦的哦呀啊哈]+$", "", after["denied"]), ""
        return words, "", ""
    if after := _NOT_AFTER.match(words):
        return after["stated"], after["denied"], ""
    if before := _NOT_BEFORE.match(words):
        stated = re.sub(r"^(?:it|that)(?:'s| is| was)\s+", "", before["stated"], flags=_I)
        return stated, _CLEFT.sub("", before["denied"]), stated if stated != before["stated"] else ""
    return words, "", ""


def read_change(memory: str, claim: Claim, owner: str = "") -> Change | None:
    """The change of `memory` if the claim holds; None if they are not about the same thing, or if it is not clear what
    replaces what. `owner` is the owner's name in memories.

    >>> read_change("Nora lives in Bergen with her cat.", Claim("Nora lives in Oslo"))
    Change(start=14, end=20, new='Oslo')
    >>> read_change("Nora lives in Bergen.", Claim("Nora lives near the sea"))
    """
    memory_tokens = _tokens(memory)
    weighty = [token.form for token in claim.denied_tokens if not _is_light(token.form)]
    forms = {token.form for token in memory_tokens}
    if claim.denied and not (weighty and weighty[-1] in forms):
        return None
    is_known = all(form in forms for form in weighty)
    weighty = [form for form in weighty if form in forms]
    if change := _aligned(memory, claim, memory_tokens, weighty, owner):
        return change
    return _exchanged(memory, claim, memory_tokens, weighty) if weighty and is_known else None


def _tokens(text: str) -> list[_Token]:
    text = text.replace("’", "'")
    idle = {at for adverb in _ADVERBS.finditer(text) for at in range(*adverb.span())}
    tokens: list[_Token] = []
    last = 0
    for match in _TOKEN.finditer(text):
        if match.start() in idle:
            continue
        word = match[0].lower()
        form = _SAME.get(word) or (word if _is_number(word) else next(iter(tokenizer.tokenize(word)), word))
        if word == "'s":
            form = "be" if tokens and tokens[-1].form in _PRONOUNS | {"there", "who"} else "'s"
        if form == "have" and tokens and tokens[-1].form == "have":
            continue  # "I've got"
        begins = bool(_SIGN.search(text, last, match.start())) and not text[:last].endswith(_TITLES)
        tokens.append(_Token(form, match.start(), match.end(), begins))
        last = match.end()
    return tokens


def _is_light(form: str) -> bool:
    return form in _LINKS or form in _PRONOUNS or form in _PRONOUNS_ZH or tokenizer.is_function_word(form)


def _aligned(
    memory: str, claim: Claim, memory_tokens: Sequence[_Token], denied: Sequence[str], owner: str
) -> Change | None:
    stated, claim_tokens = claim.stated, claim.stated_tokens
    match = SequenceMatcher(
        None, [token.form for token in memory_tokens], [token.form for token in claim_tokens], autojunk=False
    )
    steps = match.get_opcodes()
    runs = []
    for at, (name, first, last, begins, ends) in enumerate(steps):
        if name == "insert" and not all(_is_light(token.form) for token in claim_tokens[begins:ends]):
            return None
        if (
            name == "delete"
            and 0 < at < len(steps) - 1
            and not (denied or _is_detail(memory, memory_tokens, first, last))
        ):
            return None
        if name == "replace":
            if begins == 0 and all(_is_light(token.form) for token in claim_tokens[:ends]):
                if not _is_same_subject(memory, memory_tokens[:last], claim_tokens[:ends], owner):
                    return None
                continue
            runs.append((first, last, begins, ends))
    if len(runs) != 1 or not _speaks_of_the_same(memory_tokens, claim_tokens, steps, is_lenient=bool(denied)):
        return None
    first, last, begins, ends = runs[0]
    while (
        first < last and begins < ends and _is_light(memory_tokens[first].form) and memory_tokens[first].form in _LINKS
    ):
        first += 1  # 「在长沙」 for 「是株洲」
    while begins < ends and claim_tokens[begins].form in _LINKS:
        begins += 1
    is_end = ends == len(claim_tokens)
    is_cut = False
    if all(_is_light(token.form) for token in claim_tokens[:begins]) and not any(
        step[0] == "equal" for step in steps[:1]
    ):
        first = max(first, last - (ends - begins))  # a subject: words for the owner and the relation stay
    if not denied and _may_both_hold(
        claim, memory_tokens[first:last], memory_tokens[last].form if last < len(memory_tokens) else "", begins, ends
    ):
        return None
    if not (denied or claim.takes_back) and _is_of_another_tense(memory, stated, memory_tokens, claim_tokens, steps):
        return None
    at_least = first
    while first and begins > 1 and _can_widen(memory_tokens, claim_tokens, first, begins):
        first, begins = first - 1, begins - 1  # 李皓 for 李浩
    if is_end:
        through = _end_of_noun(memory, memory_tokens, at_least, last, claim_tokens[begins:ends])
        is_cut, last = through < last and not memory_tokens[through].begins, through
    old, new = memory_tokens[first:last], claim_tokens[begins:ends]
    if not old or not new or max(len(old), len(new)) > MAX_RUN:
        return None
    if not _is_of_one_kind(memory, stated, old, new, is_lenient=bool(denied)):
        return None
    if denied and not {token.form for token in old} & set(denied):
        return None
    if is_cut and not denied and _HAN.search(stated) and len(old) != len(new):
        return None  # 「在家休息」 for 「在昆明当护士」
    if not (
        _is_governed(memory_tokens, claim_tokens, first, begins)
        or (not is_end and _is_held_behind(memory_tokens, last, claim_tokens, ends, begins))
    ):
        return None
    if first and begins and memory_tokens[first - 1].form == claim_tokens[begins - 1].form == "a":
        old, new = memory_tokens[first - 1 : last], claim_tokens[begins - 1 : ends]  # "an" with its noun
    return Change(old[0].start, old[-1].end, stated[new[0].start : new[-1].end])


def _may_both_hold(claim: Claim, old: Sequence[_Token], behind: str, begins: int, ends: int) -> bool:
    """Whether the words `old` of a memory may hold together with the words of the sentence in their place, from
    `begins` to `ends`; `behind` is the memory's next word."""
    claim_tokens, stated = claim.stated_tokens, claim.stated
    if not old or begins in (0, ends) or _is_number(claim_tokens[begins].form):
        return False
    lead, new = stated[: claim_tokens[begins].start], stated[claim_tokens[begins].start : claim_tokens[ends - 1].end]
    if _PRAISE.search(new) or (lead.endswith("属") and new[0] == "于"):
        return True
    if claim.takes_back:
        return False
    is_held = ends < len(claim_tokens) and claim_tokens[ends].form == behind
    if _HAN.search(stated):
        rest = stated[claim_tokens[ends].start :] if is_held else ""
        is_long = lead.endswith(("在", "对")) and _LONG_ZH.match(rest)
        return not (is_long or _OF_ONE_ZH.search(lead) or (is_held and _COUNTED_ZH.search(lead)))
    if is_held and not _is_light(behind) and claim_tokens[begins - 1].form in _DETERMINERS:
        return False  # "a green bicycle" for "a red bicycle", "to Elmwood school"
    between: list[_Token] = []
    for at in range(begins - 1, -1, -1):
        form = claim_tokens[at].form
        if form in _OF_ONE:
            return form in _ONLY_PLACED and not (between and all(_is_light(token.form) for token in between))
        if form == "be":
            return not all(_is_light(token.form) or stated[token.start].isupper() for token in between)
        between.append(claim_tokens[at])
    return True


def _is_of_another_tense(
    memory: str,
    stated: str,
    memory_tokens: Sequence[_Token],
    claim_tokens: Sequence[_Token],
    steps: Sequence[tuple[str, int, int, int, int]],
) -> bool:
    """Whether a verb in both has another tense: "is drinking" and "drinks", "was" and "is"."""
    pairs = (
        (memory[first_token.start : first_token.end].lower(), stated[other.start : other.end].lower())
        for name, first, last, begins, ends in steps
        if name == "equal"
        for first_token, other in zip(memory_tokens[first:last], claim_tokens[begins:ends], strict=True)
    )
    for pair in pairs:
        tenses = {at for at, words in enumerate(_TENSES) for word in pair if word in words}
        endings = {match[0] if (match := _VERB_ENDING.search(word)) else "" for word in pair}
        if len(tenses) > 1 or len(endings) > 1:
            return True
    return False


def _can_widen(memory_tokens: Sequence[_Token], claim_tokens: Sequence[_Token], first: int, begins: int) -> bool:
    """Whether a word in both belongs to the differing run: 「李皓」 for 「李浩」, "New Jersey" for "New York"."""
    before = memory_tokens[first - 1]
    is_alike = before.form == claim_tokens[begins - 1].form and not memory_tokens[first].begins
    return (
        is_alike
        and not (
            _is_light(before.form) or _is_number(before.form) or before.form in _GOVERNS or before.form in _GOVERNS_ZH
        )
        and any(
            _is_governed(memory_tokens, claim_tokens, first - step, begins - step)
            for step in (1, 2)
            if min(first, begins) > step
        )
    )


def _is_detail(memory: str, memory_tokens: Sequence[_Token], first: int, last: int) -> bool:
    """Whether the additional words of the memory at one place are only a name or a time, and mean nobody else."""
    words = memory[memory_tokens[first].start : memory_tokens[last - 1].end]
    if _HAN.search(words):
        return bool(_DETAIL_ZH.fullmatch(words)) or (
            first > 0
            and memory_tokens[first - 1].form in _KIN_ZH
            and not any(sign in _KIN_ZH or sign == "的" for sign in words)
        )
    return words[:1].isupper() and not any(token.form == "'s" for token in memory_tokens[first : last + 1])


def _is_same_subject(memory: str, memory_tokens: Sequence[_Token], claim_tokens: Sequence[_Token], owner: str) -> bool:
    """Whether a pronoun can be the subject of the memory: "I" for the owner's name, "he" for any other."""
    if all(token.form in ("the", "my", "our", "a") for token in claim_tokens):
        return memory_tokens[-1].form in ("the", "my", "our", "a")
    if all(token.form in _LINKS for token in claim_tokens):
        return True
    is_first = claim_tokens[0].form in _FIRST
    subject = memory_tokens[-1].form
    if is_first:
        return bool(owner) and memory[memory_tokens[0].start : memory_tokens[-1].end].rstrip("'s的").endswith(owner)
    return subject not in _FIRST and not (owner and memory[: memory_tokens[-1].end].endswith(owner))


def _speaks_of_the_same(
    memory_tokens: Sequence[_Token],
    claim_tokens: Sequence[_Token],
    steps: Sequence[tuple[str, int, int, int, int]],
    *,
    is_lenient: bool,
) -> bool:
    """Whether both share content words; 「我妹妹住」 does not state 「我住」."""
    alike = [(first, begins) for name, first, _last, begins, _end in steps if name == "equal"]
    alike_at_start = bool(alike) and alike[0][1] == 0
    same = [token for name, _f, _l, begins, ends in steps if name == "equal" for token in claim_tokens[begins:ends]]
    if not any(not _is_light(token.form) for token in same) and not (alike_at_start and len(same) > 1):
        return False
    first = alike[0][0]
    if alike_at_start and claim_tokens[0].form in _FIRST and len(claim_tokens) > 1 and not is_lenient:
        return first + 1 < len(memory_tokens) and (
            memory_tokens[first + 1].form == claim_tokens[1].form or claim_tokens[1].form in _LINKS
        )
    return True


def _end_of_noun(memory: str, memory_tokens: Sequence[_Token], first: int, last: int, new: Sequence[_Token]) -> int:
    """The end of the noun that begins at `first` of the memory, if the sentence has no further words."""
    if new and first < last and _is_number(new[-1].form) and _is_number(memory_tokens[first].form):
        return first + 1
    at = first
    while at < last:
        token = memory_tokens[at]
        is_first = at == first
        if not is_first and token.begins:
            break
        if _HAN.match(memory[token.start]):
            if not is_first and _ENDS_ZH.match(memory[token.start]):
                break
        elif any(not _is_light(token.form) for token in memory_tokens[first:at]) and (
            token.form in _STOPS or token.form in _GOVERNS - {"'s"} or (_is_light(token.form) and token.form != "'s")
        ):
            break
        at += 1
    return at


def _is_number(form: str) -> bool:
    return _IS_NUMBER.fullmatch(form) is not None


def _is_of_one_kind(
    memory: str, stated: str, old: Sequence[_Token], new: Sequence[_Token], *, is_lenient: bool
) -> bool:
    if _HAN.search(stated):
        if _NO_NOUN_ZH.search(stated[new[0].start : new[-1].end]):
            return False
    else:
        frames = [[token.form for token in run[: _frame(run)]] for run in (old, new)]
        if frames[0] != frames[1] and not is_lenient:
            return False
        for run in (old, new):
            content = run[_frame(run) :]
            if not content or any(token.form in _NO_NOUN or token.form in _PRONOUNS for token in content):
                return False
            if any(_is_light(token.form) and token.form not in ("of", "'s") for token in content):
                return False
        if not is_lenient and re.match(r"[a-z]{3,}(?:ing|ed)\b", stated[new[_frame(new)].start :]):
            return False  # "is getting divorced" for "is a nurse"
    heads = [run[0 if _HAN.search(stated) else _frame(run)] for run in (old, new)]
    if _is_number(heads[0].form) != _is_number(heads[1].form):
        return False
    if _is_number(heads[0].form) and len(old) != len(new):
        return False
    days = [
        _IS_DAY.fullmatch(text[head.start : head.end]) is not None
        for text, head in zip((memory, stated), heads, strict=True)
    ]
    if days[0] != days[1]:
        return False
    is_spelled = stated.startswith("I ") or any(letter.isupper() for letter in stated[1:])
    return not (is_spelled and memory[heads[0].start].isupper() and stated[heads[1].start].islower())


def _frame(run: Sequence[_Token]) -> int:
    """The number of leading words that only introduce the noun: "at the" in "at the pool"."""
    return next((at for at, token in enumerate(run) if not _is_light(token.form)), len(run))


def _is_governed(memory_tokens: Sequence[_Token], claim_tokens: Sequence[_Token], first: int, begins: int) -> bool:
    """Whether the run follows a word that both share and that a noun follows."""
    if not first or not begins:
        return False
    form, other = memory_tokens[first - 1].form, claim_tokens[begins - 1].form
    governs = _GOVERNS | _GOVERNS_ZH
    return (
        (form == other and form in governs)
        or (form in _LINKS and other in _LINKS)
        or (
            form == other
            and len(memory_tokens) > first
            and _is_number(memory_tokens[first].form)
            and not _is_light(form)
        )
    )


def _is_held_behind(
    memory_tokens: Sequence[_Token], last: int, claim_tokens: Sequence[_Token], ends: int, begins: int
) -> bool:
    """Whether both continue with the same content words; more of them are required if none precede the run."""
    same = 0
    for token, other in zip(memory_tokens[last:], claim_tokens[ends:], strict=False):
        if token.form != other.form:
            break
        same += 1 if _is_light(token.form) else 2
    is_after_a_subject = any(not _is_light(token.form) for token in claim_tokens[:begins])
    return same >= (
        2
        if is_after_a_subject
        else 4 + 2 * any(token.form in _GOVERNS_ZH or len(token.form) == 1 for token in claim_tokens[ends:])
    )


def _exchanged(memory: str, claim: Claim, memory_tokens: Sequence[_Token], denied: Sequence[str]) -> Change | None:
    """Replace the denied words, which occur once in the memory, by the only new words of the sentence."""
    stated, claim_tokens = claim.stated, claim.stated_tokens
    if claim.instead:
        stated, claim_tokens = claim.instead, _tokens(claim.instead)
        if _frame(claim_tokens) >= len(claim_tokens):
            return None
    else:
        claim_forms = {token.form for token in claim_tokens}
        denied = [form for form in denied if form not in claim_forms] or denied
    forms = {token.form for token in memory_tokens}
    places = [at for at, token in enumerate(claim_tokens) if not _is_light(token.form)]
    if not claim.instead:
        places = [at for at in places if claim_tokens[at].form not in forms]
        behind = next((at for at in reversed(places) if at - 1 not in places), 0)
        if claim_tokens[behind - 1].form in _LINKS:  # "My cat's name is Pickle", 「我妈教的是数学」
            places = (
                list(range(behind, len(claim_tokens))) if _HAN.search(stated) else [at for at in places if at >= behind]
            )
    if not places or places[-1] - places[0] + 1 != len(places):
        return None
    new, length = claim_tokens[places[0] : places[-1] + 1], len(denied)
    runs = [memory_tokens[at : at + length] for at in range(len(memory_tokens))]
    matching_runs = [run for run in runs if [token.form for token in run] == list(denied)]
    if len(matching_runs) != 1 or len(new) > MAX_RUN or (_HAN.search(stated) and abs(length - len(new)) > 2):
        return None
    [old] = matching_runs
    spelled = {token.form: claim.denied[token.start : token.end] for token in claim.denied_tokens}
    for token in old:  # "feels" does not state "a feeling"
        if bool(_VERB_ENDING.search(memory[token.start : token.end])) != bool(_VERB_ENDING.search(spelled[token.form])):
            return None
    if not _is_of_one_kind(memory, stated, old, new, is_lenient=True):
        return None
    return Change(old[0].start, old[-1].end, stated[new[0].start : new[-1].end])
