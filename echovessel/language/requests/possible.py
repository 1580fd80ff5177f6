"""What the `classifier` takes for a request, and what that request would be about: at most to be asked about. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from echovessel.language import lazy_re as re
from echovessel.language.matters import matter_of
from echovessel.language.requests import chinese, correcting, english
from echovessel.language.requests.classifier import likeliest_place, likely_kind
from echovessel.language.requests.clauses import is_other_voice, sentences
from echovessel.language.requests.types import ALWAYS, Condition, Request, RequestKind

_I = re.IGNORECASE
_HAN = re.compile(r"[\u3400-\u9fff]")
MAX_LOOKED_AT = 2_000  # characters
MAX_SENTENCES = 12
PASSAGE = 300  # characters that are read as one
LEANING = 0.3  # what the grammar leans to for a correction may be so much less likely

_ABOUT_MEMORY = re.compile(
    r"\b(?:f[or]+g[eo]t\w*|un\w+|ignore|pretend|never (?:heard|happened|said)|off the record|memory|vanish\w*|"
    r"disappear\w*|eras\w+|delet\w+|remov\w+|wip(?:e|ing)|purg\w+|scrub\w*|strik(?:e|ing)|scratch|discard\w*|"
    r"bin|ditch\w*|dump\w*|drop\w*|lose|clear\w*|gone|(?:get(?:ting)? rid|let(?:ting)? go|take out|throw away) of|"
    r"remember\w*|memori[sz]\w*|stor(?:e|ing)|sav(?:e|ing)|record\w*|keep(?:ing)?|kept|hold(?:ing)? on(?: ?to)?|"
    r"log|not(?:e|ing)|(?:writ|jot|not)\w+ down|struck|wipe\w*|reset|hang(?:ing)? on(?: ?to)?|let(?:ting)? go|undo|"
    r"(?:don'?t|not|no longer) (?:\w+ ){0,2}(?:have|know|hold)(?! to))\b|"
    r"忘[了掉记干净光]*|删[了掉除去]*|抹[掉去了]*|清[除空掉理零]*|擦[掉去]*|去掉|移除|划掉|销掉?|撤[回了掉]*|翻篇|作废|作数|"
    r"记[住着下录得]*|保[存留]|存[着下]*|留[着下]*|别|不要|不用|不许|莫|收回|入账|听[过完]|当.{0,8}[没不]|wipe|delete",
    _I,
)
_AROUND = re.compile(
    r"^(?:(?:please|pls|about|every\w*|any\w*|all|that|to|the|of|from|on|with|whole|bits?|things?|stuff|parts?|"
    r"business|story|matter|don't|dont|can|could|you|u|i|want|just|"
    r"(?:you've |you )?(?:got|have|know|keep)|i (?:said|told you)|out|up)\b\s*)+|^(?:把|请|麻烦|帮我|关于|的|给我|都|"
    r"跟你说的|你记的|那些)+|"
    r"[\s.,!?]+$|^[\s.,!?]+|(?:(?:,? (?:now|pls|please|will you|would you|from (?:your|ur) \w+)))+$|(?:吧|了|掉|的|"
    r"都|行吗|好吗|从你\w{0,3})+$",
    _I,
)
_POINTS = re.compile(
    r"(?:(?:what|that|this|it|them|the|last|one|bit|part|thing|line|message|i|just|said|told|wrote|you|please|pls|"
    r"can|could|would|want|out|of|your|memory|any|off|record|between|us|and|me|take|strike|leave|get|from|gone)\W*)+|"
    r"(?:这|那|刚|才|刚刚|上|面|我|你|说|的|话|句|条|段|个|件|些|事|情|它|就|先|也|吧|行吗|能不能|可以|请|麻烦|帮|"
    r"给)+",
    _I,
)
_NAME = re.compile(
    r"\b(?:call(?:s|ing)?(?: me)?|(?:go|goes|going|known|address\w*|refer\w*)(?: to)?(?: me)? (?:by|as)|"
    r"name(?:'s| is| to)|it'?s|i'?m|i am|say|use|prefer|just|only|to)[ ,]+(?:just |to be |being |called )*[\"“']?"
    r"(?P<en>(?!(?:me|my|the|an?|if|when|it|that|not|by|going|now|the|called|you|this|your|so|just)\b)"
    r"(?:(?-i:(?:Dr|Mrs?|Ms|Miss) [A-Z][\w'-]*)|[a-z][\w'-]*))|"
    r"^\W*(?P<first>(?-i:(?!I\b)(?:(?:Dr|Mrs?|Ms|Miss)\.? )?[A-Z])[\w'-]*"
    r"(?= (?:is|will|would|to|please|suits|it is)\b))|"
    r"(?<![别要许准])(?:叫|喊|称呼?|唤|管)(?:我|人家|声|一声|作|为)*+(?:叫)?"
    r"(?P<zh>[A-Za-z][\w ]*|[\u3400-\u9fff]{1,5}?)(?=吧|就|便|即|呗|得了|$|好了|啦|哦|[，,。！! ])|"
    r"(?:名字?是|姓|叫)(?!我|人家)(?P<own>[\u3400-\u9fff]{1,3}?|[A-Za-z]\w*)(?=[，,。！! ]|$)",
    _I,
)
_NOT_SO = re.compile(
    r"\b(?:don'?t|do not|never|stop|quit|no more|without) (?:\w+ ){0,2}?(?:call|us|say|writ|nam)\w*|"
    r"(?:别|不要|不许|莫|勿)[^，。！ ]{0,5}[叫喊称]",
    _I,
)
_WHEN = re.compile(
    r"\b(?:next time|when(?:ever)?|if|every ?time|any ?time|once) (?:i|i'm|i've|we|my|it|things|someone|"
    r"(?-i:[A-Z])\w+)\b[^,.!?:;\n]{1,80}|"
    r"(?:下次|每次|每当|如果|要是|一旦|当|等|以后)?[^，,。！？：:\n]{0,6}我[^，,。！？：:\n]{1,30}?(?:的时候|的话)|"
    r"(?:我)?一[^，,。！？：:\n]{1,8}(?=就)",
    _I,
)
_MOMENT = re.compile(
    r"^(?:when|if|every|any ?time|once|after|before|while|during|around|next|in|on|at|about)|"
    r"^(?:当|如果|要是|每|下次|一旦|万一)|(?:时候?|的话|之?后|之?前)$",
    _I,
)
_FORBIDS = re.compile(
    r"\b(?:not|never|no longer|\w+n't|dont|no need|stop|quit|avoid|without|rather than|no)\b|"
    r"不(?:想|希望|愿意|喜欢)(?:让)?(?:你|您)|不再|别|不要|不用|不许|不准|不必|不能|甭|莫|勿|少|免了|禁止|停止",
    _I,
)


def read_possible(text: str, previous: str = "") -> Iterator[Request]:
    """What the prepared `text` may ask for, each kind once, in its order. `previous`: the messages just before."""
    places = [
        (start, end)
        for start, end in sentences(text[:MAX_LOOKED_AT])
        if "\x00" not in text[start:end].strip("\x00 ")[:1] and not is_other_voice(text, start)
    ][:MAX_SENTENCES]
    seen: set[RequestKind] = set()
    for passage in _passages(places):
        leaning = [place for place in passage if correcting.read_correction(text, place[0], previous)]
        # With the sign that ends it a sentence tells whether it asks.
        whole = text[passage[0][0] : passage[-1][1] + 1]
        kind = likely_kind(whole, least=-LEANING if leaning else 0.0)
        if leaning and kind is not RequestKind.CORRECTION:
            kind = likely_kind(whole)
        if kind is None or kind in seen:
            continue
        seen.add(kind)
        fitting = passage
        if kind is RequestKind.CORRECTION:
            fitting = leaning[:1] or passage
        elif kind is RequestKind.NAME:
            fitting = [(start, end) for start, end in passage if _NAME.search(text[start:end])] or passage
        start, end = fitting[likeliest_place([text[start : end + 1] for start, end in fitting], kind)]
        yield _request(text, kind, start, end, previous)


def _passages(places: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The sentences, as many together as are read as one."""
    passages: list[list[tuple[int, int]]] = []
    for start, end in places:
        if passages and end - passages[-1][0][0] <= PASSAGE:
            passages[-1].append((start, end))
        else:
            passages.append([(start, end)])
    return passages


def condition_of(words: str) -> Condition:
    """What a condition in these words is about."""
    return (chinese if _HAN.search(words) else english).condition_of(words)


def names_a_moment(condition: str) -> bool:
    """Whether a condition says by itself that it is a time: "when I'm sad", 「我难过的时候」; "sad" does not.

    >>> names_a_moment("when I'm sad"), names_a_moment("我难过的时候"), names_a_moment("work")
    (True, True, False)
    """
    return _MOMENT.search(condition) is not None


def condition_within(words: str) -> Condition:
    """The condition that words to be remembered tell, wherever it stands in them.

    >>> condition_within("Remember, next time I panic: breathing helps").text
    'next time I panic'
    """
    found = _WHEN.search(words)
    return condition_of(found[0].strip()) if found else ALWAYS


def is_boundary(sentence: str) -> bool:
    """Whether it wants something left alone."""
    return _FORBIDS.search(sentence) is not None and bool(matter_of(sentence))


def _request(text: str, kind: RequestKind, start: int, end: int, previous: str) -> Request:
    """The sentence as a request of this kind; of a name without a subject where it only tells how not to be called."""
    if kind is RequestKind.CORRECTION and (one := correcting.read_correction(text, start, previous)):
        return replace(one, sure=False)
    words, sentence, condition = text[start:end].strip("\x00 \n\t"), text[start:end], ALWAYS
    if kind is RequestKind.FORGET:
        words = _matter(sentence)
        kind = kind if words else RequestKind.FORGET_THIS
    if kind is RequestKind.NAME:
        forbidden = _NOT_SO.search(sentence)
        name = _NAME.search(sentence, forbidden.end() if forbidden else 0)
        words = next(filter(None, name.groups())) if name else ""
    if kind is RequestKind.WISH:
        condition = (chinese if _HAN.search(sentence) else english).condition_in(sentence)
    return Request(
        kind,
        start,
        end,
        words,
        condition=condition,
        sure=False,
        subject_start=text.find(words, start) if words else -1,
        is_boundary=kind is RequestKind.WISH and is_boundary(sentence),
    )


def _matter(sentence: str) -> str:
    """What a sentence that asks to forget is about: the longest piece beside the verb, in its clause or in another; ""
    where it only points."""
    clauses = sorted(
        re.split(r"[，,；;：:…]|\s(?=[\u3400-\u9fff])", sentence), key=lambda clause: not _ABOUT_MEMORY.search(clause)
    )
    for clause in clauses:
        piece = max((_AROUND.sub("", _AROUND.sub("", piece)) for piece in _ABOUT_MEMORY.split(clause)), key=len)
        if len(piece) > 1 and not _POINTS.fullmatch(piece):
            return piece
    return ""
