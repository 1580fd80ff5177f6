"""Unsure requests, found by the `classifier`, and their subjects: the persona may at most ask about them. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from echovessel.language import lazy_re as re
from echovessel.language.matters import matter_of
from echovessel.language.requests import chinese, correcting, english
from echovessel.language.requests.classifier import likeliest_place, likely_kinds
from echovessel.language.requests.clauses import is_other_voice, sentences
from echovessel.language.requests.types import ALWAYS, Condition, Request, RequestKind
from echovessel.language.sentences import GOES_ON
from echovessel.language.tokenizer import is_function_word

_I = re.IGNORECASE
_HAN = re.compile(r"[\u3400-\u9fff]")
MAX_LOOKED_AT = 2_000  # characters
MAX_SENTENCES = 12
PASSAGE = 300  # characters classified together
LEANING = 0.8  # the threshold is lower by this if the grammar suggests a correction

_ABOUT_MEMORY = re.compile(
    r"\b(?:f[or]+g[eo]t\w*|un\w+|ignore|pretend|never (?:heard|happened|said)|off the record|memory|vanish\w*|"
    r"disappear\w*|eras\w+|delet\w+|remov\w+|wip(?:e|ing)|purg\w+|scrub\w*|strik(?:e|ing)|scra(?:tch|p)|discard\w*|"
    r"bin|ditch\w*|dump\w*|drop\w*|lose|clear\w*|gone|(?:get(?:ting)? (?:rid|shot)|let(?:ting)? go|take out|"
    r"throw away|clean out) of|clean out|trash|toss|chuck|have no idea|remember\w*|memori[sz]\w*|stor(?:e|ed|ing)|"
    r"sav(?:e|ed|ing)|record\w*|keep(?:ing)?|kept|hold(?:ing)? on(?: ?to)?|log|not(?:e|ing)|(?:writ|jot|not)\w+ down|"
    r"struck|wipe\w*|reset|hang(?:ing)? on(?: ?to)?|let(?:ting)?(?: \w+){0,2} go|undo|retain\w*|regist\w+|(?:don'?t|"
    r"not|no longer) (?:\w+ ){0,4}(?:have|know|hold)(?! to))\b|忘[了掉记干净光]*|删[了掉除去]*|抹[掉去了]*|"
    r"清[除空掉理零]*一?清?|擦[掉去]*|去掉|移除|划掉|销掉?|撤[回了掉]*|翻篇|不?作[废数]|消失|弄没|[丢倒][了掉]|"
    r"记[住着下录得]*|保[存留]|存[着下]*|留[着下底]*|收着|别|不要|不用|不许|莫|收回|入账|听[过完]|当.{0,8}[没不]",
    _I,
)
_AROUND = re.compile(
    r"^(?:(?:please|pls|kindly|mate|hey|sorry|ok|i|i'd|id|you|u|we|ya|can|could|would|want|wish|rather|prefer|like|"
    r"need|no|longer|point|to|for|have|had|know|about|abt|every\w*|any\w*|all|that|the|of|from|on|with|whole|bits?|"
    r"things?|stuff|parts?|info\w*|details?|business|story|matter|don'?t|just|you've|got|keep|whatever|what|said|told|"
    r"down|out|up)\b\W*)+|^(?:把|请|麻烦|帮我|替我|关[于於]|有关|的|给我|都|跟|和|我?(?:之前|上次)?(?:我)?(?:跟|和|"
    r"对)?你(?:说|讲|提|骂)过?的?|你(?:手里|记|知道|存|那[里儿])的?|那些|之前|上次)+|(?:\W*\b(?:now|pls|please|will|"
    r"would|you|from|your|ur|memory|notes?|file|side|i'd|id|like|can|could|should\w*|shouldn'?t|need\w*|be|to|go|on|"
    r"in|out|with|any ?more|either|too|ok|thanks?|though?|is|are|was|for|then)\b)+\W*$|\W+$|^(?:'\w+)?\W+|(?:吧|了|掉|"
    r"的|都|全部?|行吗|好吗|可以|帮我|替我|给|你|您|也|就|请|能|要|不|有关|相关|从你\w{0,3})+$",
    _I,
)
# "Keep this between us", but not "the distance between us and the school is 4 miles".
_BETWEEN_US = re.compile(
    r"\b(?:ke(?:ep|pt)|stays?|remains?|is|it's|this|just|strictly)\b[^.!?\n]{0,12}?\bbetween (?:us|you and me|"
    r"ourselves|the two of us)\b(?! and\b)",
    _I,
)
_IS_NOTED = re.compile(r"\b(?:note|write|mind|remember)\b", _I)
# "Just between us" introduces what is not to be kept, and is not itself the matter.
_CONFIDES = re.compile(
    r"(?:just |strictly )?between (?:us|you and me|ourselves)|"
    r"(?:悄悄|偷偷|私下|小声)[地里]?(?:跟|和|对|给|告诉)你(?:说|讲|提|透露)?",
    _I,
)
_POINTS = re.compile(
    r"(?:(?:what|that|this|it|them|the|last|one|bit|part|thing|line|message|i|just|said|told|wrote|you|please|pls|can|"
    r"could|would|want|out|of|your|memory|any|off|record|between|us|and|me|take|strike|leave|get|from|gone)\W*)+|"
    r"(?:这|那|刚|才|刚刚|上|面|我|你|说|的|话|句|条|段|个|件|些|事|情|它|就|先|也|吧|行吗|能不能|可以|请|麻烦|帮|给)+",
    _I,
)
# "Off the record", "don't save that": refers to this message, or the one before.
_POINTING = re.compile(
    r"\b(?:off the (?:record|books?)|between (?:us|you and me|ourselves)|not for the (?:record|book|memory|file)\w*|"
    r"wrong (?:chat|person|window)|(?:was|is)n'?t (?:meant )?for you|meant (?:that )?for my|(?:pretend|forget|"
    r"act like) (?:i|you) (?:did|never|had|said|asked)\w*|you (?:never|didn'?t) (?:hear|see|read)\w*|(?:this|"
    r"that)(?: one| bit| part| last \w+)? (?:stays?|dies|goes nowhere|be not|is not|isn'?t|needn'?t|to stay)|(?:the|"
    r"that|my) last (?:one|thing|bit|part|line|message|text)|(?:what|that thing) i(?:'ve)? just \w+|none of (?:this|"
    r"that)|(?:\w+) (?:(?:of )?(?:this|that|it)|this in|that in)(?: (?:one|bit|part|last \w+|away|down|after\w*|too|"
    r"though?|please|pls|anywhere|ok|at all|either|then|to yourself|out|off))*\s*(?=$|[,.:;!?]|\bit was\b|\bi was\b))|"
    r"(?:^|[，,。：\s把将给存记留])(?:这|那)(?:话|句|条|段|个|事)(?!.{0,8}的)|上[一面]?[条句段]|刚[才刚]|[撤收]回|"
    r"当我?没|不留|不入|不作数|就咱[俩们]|别往外|阅后即焚|发错",
    _I,
)
# Says only that something is wrong.
_DENIAL = re.compile(
    r"\W*(?:no+\W+|nope\W+)?(?:that|this|it)(?:'?s| is| was) (?:not (?:right|true|correct)|wrong|incorrect)\W*|"
    r"(?:不对|不是|错了)?\W*(?:你|您)?(?:记|搞|弄|说)(?:错|混|反)了\W*",
    _I,
)
_TELLS = re.compile(r"\W*let me tell you\b", _I)
# Regret at having told something may be no request.
_REGRET = re.compile(
    r"\b(?:should(?:n'?t| not| never) have|wish i hadn'?t) (?:told|said)|不该(?:跟你|和你)?[说讲提]", _I
)
_BEFORE = re.compile(
    r"\b(?:(?:last|previous) \w+|just (?:said|told|wrote|typed|sent|texted|now)|wrong (?:chat|person|window)|"
    r"(?:was|is)n'?t (?:meant )?for you|meant for)\b|上[一面]?[条句段]|刚[才刚]|[撤收]回|那[条句段]|发错",
    _I,
)
# "My new boss is Sandrine" names somebody else.
_NAMES_OTHER = re.compile(
    r"\b(?:my|our|his|her|their) (?!(?:\w+ )?(?:nick)?names?\b)(?:[\w-]+ ){0,3}?[\w-]+(?:'s name)?(?: is|'s| are|"
    r" was|'re) (?!fine\b|ok\w*\b)|(?:我|咱|他|她)(?:们)?(?:家|的)?(?:新|老|大|小|二)?[\u3400-\u9fff]{0,3}"
    r"(?:[妈爸哥弟姐妹爷奶娘爹舅姨叔姑嫂婆公]|儿子|女儿|闺女|孩子|老板|领导|同事|同学|老师|医生|朋友|室友|邻居|猫|狗|"
    r"对象)(?:的名字)?(?:叫|姓|是)",
    _I,
)
_NAMES_OWNER = re.compile(r"\b(?:me|i'?m|i am|i go by)\b|[叫喊唤管]我|称呼?我|我(?:叫|姓|的名字)", _I)
# "He turned 15 yesterday": what was told before has changed and was not wrong.
_CHANGED = re.compile(
    r"\b(?:just (?:turned|moved|changed|switched|became|started|quit|joined|retired)\b|(?:turned|moved|changed|"
    r"switched|became|started|quit|joined|retired)\b[^,.;!?]{0,40}\b(?:yesterday|today|tonight|"
    r"last (?:night|week|month|\w+day)|this (?:morning|week|month)|(?:\w+ )?(?:days?|weeks?|months?) ago)\b)|"
    r"(?:昨天|今天|前天|刚刚?|上周|上个?月|上礼拜|今早|这周|这个月)[^，,。]{0,4}(?:满|搬|换|改名|升|转|辞|入职|退休|调)",
    _I,
)
# "Actually he changed jobs last month, he's a baker" says what is right now; "Actually we moved last week" only tells.
_SETS_RIGHT = re.compile(
    r"\b(?:actually|wait|sorry)\b[^.!?\n]*[,;–—] ?(?:he|she|it|they|that|we|i)(?:'s|'m|'re| (?:is|was|are|were|am))\b|"
    r"\bthat was\b|(?:其实|等等|抱歉)[^。！？\n]*[，；][^。！？\n]*[是在叫]",
    _I,
)
_DENIES = re.compile(r"\b(?:no|not|never|nope|wrong|mistaken?|mixed|you|your|\w+n't)\b|不|没|错|混|你|您", _I)
_MIN_TOLD = 12  # letters beside "off the record" that state something; Chinese characters count double
_NAME_WORD = (
    r"(?:(?-i:(?:Dr|Mrs?|Ms|Miss|Mister|Doctor|Aunt(?:ie|y)?|Uncle|Mama|Papa|Nurse|Captain|Prof\w*)\.? [A-Z])[\w'-]*|"
    r"[a-z][\w'-]*)"
)
_NAME = re.compile(
    rf"\b(?:call(?:s|ed|ing)?(?: me)?|(?:goes?|going|known|address\w*|refer\w*|"
    rf"shorten\w*)(?: it)?(?: to)?(?: me)? (?:by|as|to)|name(?:'s| is| to)|it'?s|i'?m|i am|say|use|prefer|just|only|"
    rf"plain|(?:go|stick) with|make (?:it|that)|can i be|says?|back to)[ ,]+(?:(?:just|going by|known as|to be|being|"
    rf"called|plain|only|simply|now|me|my \w+|name|please|is|then|use)\b[ ,]+)*[\"“']?(?P<en>{_NAME_WORD})|"
    rf"^\W*(?P<first>{_NAME_WORD})(?= (?:is (?:fine|grand|ok\w*|good|enough|plenty|what)|will do|would do|to (?:you|"
    rf"my friends|everyone)|please|only|suits)\b|,? if you please)|, (?P<last>{_NAME_WORD}) to (?:you|my friends)\b|"
    rf"\bso (?:just )?(?P<so>(?-i:[A-Z])[\w'-]*)|(?<![别要许准才])(?:叫|喊|称呼?|唤|管|当)(?:我|人家|声|一声|作|为|做|"
    rf"是)*+(?:叫)?[“\"「]?(?P<zh>[A-Za-z][A-Za-z .'-]*|[\u3400-\u9fff]{{1,5}}?)(?=[”\"」]|吧|就|便|即|呗|得了|成|$|"
    rf"好了|啦|哦|ok|[，,。！! 、])|(?:名字?是|[姓名]叫|法名|改[成叫为]|改一下：|我[叫系是]|这么写：|单名一个“)(?!我|"
    rf"人家)(?P<own>阿?[A-Za-z][A-Za-z'-]*|[\u3400-\u9fff]{{1,3}}?)(?=[，,。！!”、 ]|$)",
    _I,
)
_OTHER_WORDS = (
    "hi hello hey use whatever sweetie trans patients us throw me name nickname names honest fine ok okay one once "
    "that this what when somebody somebody's someone someone's everyone nobody trying asking saying sure so glad sorry "
    "going getting called quite tired back work here there both either anything something initials surname first last"
)
_NO_NAME_ZH = re.compile(r"我|过|惯了?|你|名字?|全名|别|什么|人|单字|的|这个|一样|前面|后面")
_NOT_SO = re.compile(
    r"\b(?:don'?t|do not|never|stop|quit|no more|without|not|less of|drop|lose|leave out|skip|isn'?t|"
    r"been) (?:\w+ ){0,2}?(?:call\w*|us|say\w*|writ\w*|nam\w*|the|a|[\"'“])|(?:别|不要|不许|莫|"
    r"勿)[^，。！ ]{0,5}[叫喊称]",
    _I,
)
_WHEN = re.compile(
    r"\b(?:next time|when(?:ever)?|if|every ?time|any ?time|once) (?:i|i'm|i've|we|my|it|things|someone|"
    r"(?-i:[A-Z])\w+)\b[^,.!?:;\n]{1,80}|(?:下次|每次|每当|如果|要是|一旦|当|等|"
    r"以后)?[^，,。！？：:\n]{0,6}我[^，,。！？：:\n]{1,30}?(?:的时候|的话)|(?:我)?一[^，,。！？：:\n]{1,8}(?=就)",
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
    """The possible requests of the prepared `text`, each kind once, in order. `previous`: the messages just before."""
    if GOES_ON.search(text):
        return  # 「然后呢？」 only asks for more
    places = [
        (start, end)
        for start, end in sentences(text[:MAX_LOOKED_AT])
        if "\x00" not in text[start:end].strip("\x00 ")[:1] and not is_other_voice(text, start)
    ][:MAX_SENTENCES]
    kinds_read: set[RequestKind] = set()
    for passage in _passages(places):
        leaning = [
            (start, end)
            for start, end in passage
            if correcting.read_correction(text, start, previous) or _DENIAL.fullmatch(text, start, end)
        ]
        # With its final punctuation, which shows whether it is a question.
        whole = text[passage[0][0] : passage[-1][1] + 1]
        for kind in likely_kinds(whole, correction_least=-LEANING if leaning else 0.0):
            is_regret = kind is RequestKind.FORGET and _REGRET.search(whole) and not _ABOUT_MEMORY.search(whole)
            is_telling = kind is RequestKind.WISH and _TELLS.match(whole)
            is_change = (
                kind is RequestKind.CORRECTION
                and _CHANGED.search(whole) is not None
                and not (_DENIES.search(whole) or _SETS_RIGHT.search(whole))
            )
            if kind is RequestKind.NAME and _NAMES_OTHER.search(whole) and not _NAMES_OWNER.search(whole):
                kind = RequestKind.CORRECTION
            elif kind is RequestKind.REMEMBER and _BETWEEN_US.search(whole) and not _IS_NOTED.search(whole):
                kind = RequestKind.FORGET
            if kind in kinds_read or is_regret or is_telling or is_change:
                continue
            kinds_read.add(kind)
            fitting = passage
            if kind is RequestKind.CORRECTION:
                fitting = leaning[:1] or passage
            elif kind is RequestKind.NAME:
                fitting = [(start, end) for start, end in passage if _NAME.search(text[start:end])] or passage
            start, end = fitting[likeliest_place([text[start : end + 1] for start, end in fitting], kind)]
            yield request_for(text, kind, start, end, previous)


def _passages(places: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The sentences, grouped into passages that are classified together."""
    passages: list[list[tuple[int, int]]] = []
    for start, end in places:
        if passages and end - passages[-1][0][0] <= PASSAGE:
            passages[-1].append((start, end))
        else:
            passages.append([(start, end)])
    return passages


def condition_of(words: str) -> Condition:
    """What kind of condition these words are."""
    return (chinese if _HAN.search(words) else english).condition_of(words)


def names_a_moment(condition: str) -> bool:
    """Whether a condition by itself is a time: "when I'm sad", 「我难过的时候」; "sad" is not.

    >>> names_a_moment("when I'm sad"), names_a_moment("我难过的时候"), names_a_moment("work")
    (True, True, False)
    """
    return _MOMENT.search(condition) is not None


def condition_within(words: str) -> Condition:
    """The condition within words to be remembered, at any position.

    >>> condition_within("Remember, next time I panic: breathing helps").text
    'next time I panic'
    """
    match = _WHEN.search(words)
    return condition_of(match[0].strip()) if match else ALWAYS


def is_boundary(sentence: str) -> bool:
    """Whether the sentence wants something left alone."""
    return _FORBIDS.search(sentence) is not None and bool(matter_of(sentence))


def request_for(text: str, kind: RequestKind, start: int, end: int, previous: str) -> Request:
    """The sentence as a request of `kind`. A name request has no subject if the sentence only says how not to be
    called."""
    if kind is RequestKind.CORRECTION and (correction := correcting.read_correction(text, start, previous)):
        return replace(correction, sure=False)
    words, sentence, condition = text[start:end].strip("\x00 \n\t"), text[start:end], ALWAYS
    if kind is RequestKind.FORGET:
        points = _POINTING.search(sentence) and not re.search(r"\b(?:about|abt|regarding)\b|关于|有关", sentence)
        matter = "" if points else _matter(sentence)
        if not matter:
            kind = RequestKind.FORGET_THIS
            matter_text = _ABOUT_MEMORY.sub("", _POINTING.sub("", text))
            is_told = sum(2 if _HAN.match(sign) else sign.isalnum() for sign in matter_text) >= _MIN_TOLD
            words = words if is_told and not _BEFORE.search(sentence) else ""
        else:
            words = matter
    if kind is RequestKind.NAME:
        words = _name(sentence)
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


def _name(sentence: str) -> str:
    """The name by which the owner wants to be called; "" if the sentence only says how not, or is not understood."""
    forbidden = _NOT_SO.search(sentence)
    is_spelled = re.search(r"[a-z] [A-Z][a-z]", sentence) is not None
    for match in _NAME.finditer(sentence, forbidden.end() if forbidden else 0):
        name = next(filter(None, match.groups())).strip()
        is_word = (
            _NO_NAME_ZH.search(name)
            if _HAN.search(name)
            else name.lower() in _OTHER_WORDS.split() or is_function_word(name)
        )
        if not is_word and (name[:1].isupper() or not is_spelled or _HAN.search(name)):
            return name
    return ""


def _matter(sentence: str) -> str:
    """The subject of a sentence that asks to forget: a part beside the verb, in its clause or another; in English
    preferably after it, in Chinese the longest; "" if the sentence only points."""
    clauses = sorted(
        re.split(r"[，,；;：:…]|\s(?=[\u3400-\u9fff])", sentence), key=lambda clause: not _ABOUT_MEMORY.search(clause)
    )
    for clause in clauses:
        pieces = [_AROUND.sub("", _AROUND.sub("", piece)) for piece in _ABOUT_MEMORY.split(clause)]
        pieces = sorted(pieces, key=len, reverse=True) if _HAN.search(clause) else [*pieces[1:], pieces[0]]
        if any(map(_CONFIDES.fullmatch, pieces)):
            return ""
        for piece in pieces:
            if len(piece) > 1 and not _POINTS.fullmatch(piece):
                return piece
    return ""
