"""Corrections: what was wrong and what is right, as far as a message says. Pure; English and Chinese.

A correction changes nothing by itself: it only finds the memory that it may be about, and the owner decides.
"""

from collections.abc import Callable, Sequence

from echovessel.language import lazy_re as re
from echovessel.language.requests.clauses import is_asked, sentence_end
from echovessel.language.requests.types import Request, RequestKind

_I = re.IGNORECASE
_LONGEST = 60  # characters of the corrected part

_FEELING = (
    r"sad|happy|angry|mad|tired|bored|scared|afraid|hungry|lonely|alone|good|bad|great|ok|okay|fine|sure|serious|"
    r"kidding|joking|just|really|only|yet|now|yes|no|always|even|necessarily|exactly|quite|very|so|too|that|this|it|"
    r"you|me|him|her|them|because|anymore|at all|a joke|an excuse|alright|upset|jealous|depressed|sick|ill|ready|nice|"
    r"funny|easy|hard|worth|going|to|if|what|how|why|when|who|like|in the mood|my fault|your fault|a big deal|"
    r"the point|the problem|the same|much|many|a lot|lost"
)
_NP = (
    r"(?:(?:a|an|the|my|his|her|their|our|on|in|at|to|from|with|for|about|by|since|called|"
    r"named)\s+){0,3}[\w'’&:.-]+(?:\s+(?!(?:and|but|so|is|was|are|were|has|have|not|because|i|you|he|she|they|"
    r"we)\b)[\w'’&:-]+){0,3}"
)
# Between what was wrong and what is right: "he's not in his second year, I got that wrong, he's in his third".
ADMITTED = (
    r"(?:sorry|my (?:bad|mistake)|i (?:got|had) (?:it|that|this) wrong|i (?:misspoke|was wrong|made a mistake)|"
    r"i (?:said|wrote|remembered) (?:it|that) wrong)"
)
ADMITTED_ZH = r"(?:是)?我(?:刚才|刚刚|之前|上次|可能|好像)?(?:说|记|搞|弄|写|打)(?:错|混|反)了?"
_ADMITS = re.compile(rf"[,;–—-]\s*{ADMITTED}\s*[,;–—-]|[，,；;]\s*{ADMITTED_ZH}[，,；;]", _I)
_CONTRAST = (
    re.compile(
        rf"\b(?:not|isn't|wasn't|aren't)\s+(?P<old>{_NP})\s*[,;–—-]\s*{ADMITTED}\s*[,;–—-]\s*(?:it's |it is |it was |"
        rf"he's |she's |they're |that's |i'm |actually )*(?P<new>{_NP})\s*(?=[.!,;]|$)",
        _I,
    ),
    re.compile(
        rf"(?P<new>{_NP})\s*[,—–-]*\s*(?:and |but )?(?:not|instead of|rather than)\s+(?P<old>{_NP})\s*(?=[.!,;]|$)"
    ),
    re.compile(
        rf"(?:\bit's |\bit is |\bit was |\bhe's |\bshe's |\bthey're |\bisn't |\bwasn't |\baren't )?\b(?:not|isn't|"
        rf"wasn't|aren't)\s+(?P<old>{_NP})\s*(?:,|;|–|—|-| but\b|\.)\s*(?:but |it's |it is |it was |he's |she's |"
        rf"they're |that's |actually )*(?P<new>{_NP})\s*(?=[.!,;]|$)",
        _I,
    ),
)
_BACK = re.compile(
    r"(?:(?:oh|oops|ah|hm+|well|um|uh|hey|ok|okay|hold on|haha|and|but|i think|small|little|quick|one|"
    r"just a)\b[\s,.!…]{0,3}){0,3}(?P<word>no+\b(?: no\b)*|nope\b|not quite\b|wait\b|sorry\b|oops\b|whoops\b|"
    r"actually\b|in fact\b|correction\b|my (?:bad|mistake)\b|make that\b|scratch that\b|that(?:'s| was| is) (?:wrong|"
    r"not right|incorrect|not true|not correct|a mistake)\b|it(?:'s| is| was) actually\b|i (?:mean|meant|misspoke|"
    r"was wrong(?! about)|said|typed it wrong|wrote it wrong)\b|typo\b|i got (?:it|that|the (?:name|date|day|year|"
    r"number|age|city|place|town|time)) wrong(?=\s*[,.:;!–—-])|(?:you(?:'ve| have)?|i(?:'ve| have)? (?=mixed|confused|"
    r"muddled)) ?(?:mixed|got|confused|muddled) (?:it|that|them|this|\w{1,12})? ?(?:up|wrong|mixed up|backwards?)\b|"
    r"you(?:'re| are) (?:wrong|mistaken|confusing|mixing)\b(?: (?:up )?[\w ]{1,40}?(?= ?[,.–—:;-]))?|"
    r"you (?:misunderstood|misremember|remember(?:ed)? (?:that|it) wrong(?:ly)?|are confusing)\b|i never said\b|"
    r"i didn't say\b)(?:[\s,.:;!—–-]{1,4}(?:(?:but|it's|it is|it was|i mean|i meant|i said|make that|it should be|"
    r"should be|actually|sorry|it|no|about that|that|the right (?:one|word|name) is)\b[\s,:]{0,2}){0,4})?",
    _I,
)
_STRONG_BACK = re.compile(
    r"correction|mistake|make that|wrong|incorrect|not true|not right|i (?:mean|meant|misspoke|said)|mixed|confus|"
    r"muddled|misremember|misunderstood|typo|never said|didn't say|my bad|scratch that",
    _I,
)
_NO_ANSWER = re.compile(
    r"(?:thanks?|thank you|way|worries|worry|problem|problems|idea|need|matter|doubt|offense|offence|rush|kidding|joke|"
    r"clue|one|more|go on|please|really|seriously|never|nothing|not|wonder|what|why|how|who|where|when|don't|stop|i|"
    r"i'm|i've|i'll|i'd|you|you're|we|that|that's|this|it|it's|let|let's|can|could|would|will|should|do|did|are|is|"
    r"maybe|of course|sorry|just|but|and|for|to|if|because|everything|all|there|good|great|yes|sure|there's|sounds?|"
    r"actually|honestly|hold|listen|a (?:bit|second|minute|moment)|"
    rf"{_FEELING})\b",
    _I,
)
_THIRD = re.compile(
    r"(?P<new>(?:(?:my|his|her|our|their|the)\s+\w+(?:\s+\w+)?|he|she|they|(?-i:[A-Z])\w+(?:\s(?-i:[A-Z])\w+)?|it was|"
    r"it's|there (?:are|were)|his name|her name|i (?:live|lived|work|worked|study|studied|have|had|was born|grew up|"
    r"am from|moved|come from)|we (?:live|lived|have|had|met|moved)|i'm from)\b\s*(?:'s|is|was|are|were|has|have|had|"
    r"lives?|lived|works?|worked|studie[sd]|study|plays?|played|likes?|loves?|hates?|comes?|came|grew|born|moved|died|"
    r"got|goes|went|called|named|speaks?|owns?|teaches|taught|married|turned|turns|started|starts|in|at|to|from|two|"
    r"three|\d+|a|an|my|his|her)\b.{1,80})",
    _I,
)
_SPELLED = re.compile(
    r"(?:it's |it is |her name is |his name is |my name is |the name is |that's )?(?:spelled|spelt|written|"
    r"pronounced)\s+(?P<new>.{1,40})",
    _I,
)

_LEAD = re.compile(
    r"^(?:(?:(?:i|you) (?:said|mean|meant)|it's|it is|it was|he's|she's|they're|no|the name is)\s+|(?:(?:i|we|you|he|"
    r"she|they|it|(?:my|his|her|our|their|the) \w+)\s+)?(?:'s|'m|is|are|was|were|am|have|has|had|lives?|lived|works?|"
    r"worked|stud(?:y|ies|ied|ying)|teach(?:es|ing)?|taught|plays?|played|playing|called|named|turned|speaks?|moved|"
    r"comes?|came|go|goes|went)\s+(?:called |named |in |at |to |from |as )?)+",
    _I,
)
_NUMBER = re.compile(
    r"(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"seventeen|eighteen|nineteen|twenty|thirty|forty|fifty)\b",
    _I,
)

_CONTRADICTS = re.compile(
    r"you (?:said|thought|wrote|think|keep saying|told me|believe|seem to think) .{3,80}?(?:,| |\.) ?(?:but|actually|"
    r"though|while|no,)(?: actually| really| in fact)? (?P<new>(?:he|she|it|they|my|we|i)(?:'s|'m|'re| )\s?\S.{1,60})",
    _I,
)
_CONTRADICTS_ZH = re.compile(
    r"(?:你|您)(?:刚才|刚刚|之前|上次)?(?:说|以为|写|记得|觉得).{2,24}?[，,](?:但|可|不过)?(?:其实|实际上|"
    r"是)+(?P<new>.{2,30})"
)

_NP_ZH = r"(?:[^\s，,。！!？?；;、：:的了吗吧呢是]|的(?=[\u3400-\u9fff])){1,12}?"
_NO_NP_ZH = re.compile(
    r"(?:我|你|您|咱)(?![妈爸哥弟姐妹儿女老朋同家前舅姨叔姑奶爷外表堂侄婆公])|不|没|因为|为了|说|要|故意|真的?|很|太|"
    r"觉得|怕|吗|吧|什么|怎么|这样|那样|这么|那么|谁|生气|难过|伤心|开心|高兴|害怕|失望|累|烦|委屈|后悔|讨厌|喜欢|爱|"
    r"懒|傻|坏|好|一般|问题|重点|开玩笑|玩笑|滋味|办法|故意|时候|东西|所有|每|随便|只|就|想(?!.{0,2}家)|担心|不甘|"
    r"嫉妒|羡慕|冷漠|心疼|舍不得|可惜|为|靠|有没有|对手|我的错|你的错|本来|还"
)
# Who begins with a denial answers something said before: 「不是绵阳，我店开在江油」.
_DENIED_FIRST_ZH = re.compile(
    rf"不(?P<denial>是|叫|在|姓|属|住|开在)(?P<old>{_NP_ZH})[，,；;。]\s*[我他她它咱俺][^\s，,。！!？?；;]{{0,6}}?"
    rf"(?P<verb>[开住放设建搬待留坐摆停藏存埋葬挂]在|姓|叫|属)(?P<new>{_NP_ZH})(?:才对|啦|了|的|哦|呀|啊|哈)*(?=[，,。！!；;~～]|$)"
)
# Denial and verb of one kind. 「不是感冒，他住在医院」 and 「不在家，我住在学校」 may tell of two things.
_ONE_KIND_ZH = {("叫", "叫"), ("姓", "姓"), ("属", "属"), ("住", "住在"), ("开在", "开在")}
_NO_PLACE_ZH = re.compile(
    r"[妈爸哥弟姐妹爷奶娘爹舅姨叔姑嫂婆公儿女友伴]$|[我你他她它谁人]|老[师板公婆总大]|同[事学]|医生|护士|律师|司机|厨师|[员师工手]$|"
    r"病|症|炎|癌|感冒|发烧|咳|疼|痛|过敏|怀孕|[\d一二三四五六七八九十今明昨后前][年月日号天点]|周|星期|礼拜"
)
_CONTRAST_ZH = (
    re.compile(
        rf"(?:不是|不叫|不在|不姓|不属|不住|不去)(?P<old>{_NP_ZH})[，,；;]\s*{ADMITTED_ZH}[，,；;]\s*"
        rf"(?:[他她它我]们?|应该|其实|才|是|叫|在|姓|属|住|去)*(?P<new>{_NP_ZH})(?:才对|啦|了|的|哦|呀|啊|哈)*(?=[，,。！!；;~～]|$)"
    ),
    re.compile(
        rf"(?:不是|并不是|并非|不叫|不在|不姓|不属|不住|不去)(?P<old>{_NP_ZH})[，,；;。\s]\s*(?:而是|而|其实是?|应该是|"
        rf"才|是|叫|在|姓|属|住|去)+(?P<new>{_NP_ZH})(?:才对|才是|啦|了|的|哦|呀|啊|哈|来着)*(?=[，,。！!？?；;~～]|$)"
    ),
    re.compile(
        rf"(?:其实是|应该是|学的?是|有|是|叫|在|姓|属|住|去|养的是|喜欢的是)(?P<new>{_NP_ZH})[，,]?\s*(?:而|并|可|"
        rf"根本)?(?:不是|并非|不叫|不在|不姓|不属|不住|不去)(?P<old>{_NP_ZH})(?:啦|了|的|哦|呀|啊|"
        rf"哈)*(?=[，,。！!？?；;~～]|$)"
    ),
    _DENIED_FIRST_ZH,
)
_BACK_ZH = re.compile(
    r"(?:(?:啊|哦|噢|呃|嗯|哎呀?|诶|等等|等一下|抱歉|不好意思|对不起|那个|话说)[，,。…\s]{0,2}){0,3}"
    r"(?P<word>(?:不对){1,3}|不是(?=[，,！。])|不(?=[，,])|错了?(?=[，,！。])|(?:我|是我|你|您)?(?:刚才|刚刚|之前|"
    r"上次|可能|好像)?(?:我|你)?(?:说|记|搞|弄|打|写|听|理解)(?:错|混|反|岔)(?:字|人|名字|日子|时间)?了?|"
    r"你把[^，,。]{1,16}(?:搞|弄|记)(?:混|错|反)了|(?:一个|小小的?|小)?更正(?:一下)?|纠正(?:一下)?|准确地?说|我(?:说|"
    r"指)的(?:是|不是)|我没说|其实)"
    r"[，,。！!：:\s…]{0,3}(?:(?:是我|你|我)?(?:说|记|搞|打|写)错了?[，,。！\s]{0,2})?"
)
_STRONG_BACK_ZH = re.compile(r"错|混|反了|更正|纠正|准确|我[说指]的|我没说|不对")
_RIGHT_ZH = re.compile(
    rf"(?:应该|其实|实际上|真的)?(?:是|叫|说的是|姓|在)(?P<new>{_NP_ZH})(?:才对|才是|啦|了|的|哦|呀|啊|"
    rf"哈)*(?=[，,。！!；;~～]|$)"
)
_BARE_ZH = re.compile(r"(?P<new>[\u3400-\u9fff\w]{1,12}?)(?:才对|啦|哦|呀|啊|哈)*(?=[。！!~～]|$)")
_THIRD_ZH = re.compile(
    r"(?P<new>(?:我?(?:妈|爸|哥|弟|姐|妹|儿子|女儿|老公|老婆|男朋友|女朋友|男友|女友|老板|同事|朋友|奶奶|爷爷|外婆|"
    r"外公|舅舅|姨|叔叔|姑姑|孩子|婆婆|公公|表\w|堂\w|前任|猫|狗|室友|闺蜜|家)\w{0,2}|他|她|它|他们|我(?:住|在|是|叫|"
    r"有|养|姓|学|今年|老家|生日)|[小阿老][\u3400-\u9fff]|[\u3400-\u9fff]{2,3}(?=[住在是叫有姓学养])|[A-Z]\w+)\s?"
    r"(?:的|住|在|是|叫|姓|有|学|养|今年|做|去|喜欢|属|\d|才|早就|搬|没|不|读|教|开|当|会|大|比)[^，。！？\n]{1,40})"
)


def read_correction(text: str, start: int, previous: str) -> Request | None:
    """The correction of the clause at `start`."""
    end = sentence_end(text, start)
    if end - start > 160:
        return None
    if re.search(r"[\u3400-\u9fff]", text[start:end]):
        return _chinese(text, start, end, previous)
    return _english(text, start, end, previous)


def _english(text: str, start: int, end: int, previous: str) -> Request | None:
    back = _BACK.match(text, start)
    # "No. York." consists of two sentences.
    end = sentence_end(text, back.end()) if back else end
    if end <= start or is_asked(text, back.end() if back else start):
        return None
    strong = bool((back and _STRONG_BACK.search(back[0])) or _ADMITS.search(text, start, end))
    begins = back.end() if back and back["word"].lower() not in ("i never said", "i didn't say") else start
    if pair := _contrast(text, start, end, _CONTRAST, _no_np):
        old, new, at = pair
        is_supported = _stands_in(old, previous) or strong or bool(back and back["word"].lower() != "i said")
        return Request(
            RequestKind.CORRECTION,
            start,
            end,
            _trim_quote(text, start, end),
            old,
            new,
            sure=is_supported,
            subject_start=at,
        )
    if match := _SPELLED.match(text, begins):
        return _correction(text, start, end, match, sure=False)
    if back is None:
        contradiction = _CONTRADICTS.match(text, start, end)
        return _correction(text, start, end, contradiction, sure=False) if contradiction else None
    if match := _THIRD.match(text, begins, end):
        return _correction(text, start, end, match, sure=strong)
    if (
        back["word"].lower().startswith("no")
        and not re.search(r"[,.:;!–—-]", back[0])
        and not _is_plain_np(text[begins:end])
    ):
        return None  # "no questions tonight"
    bare = re.compile(rf"(?:it's |it is |it was |on |at |in |with )?(?P<new>{_NP})\s*(?=[.!,]|$)", _I).match(
        text, begins, end
    )
    if (
        bare
        and begins > start
        and (strong or not _NO_ANSWER.match(bare["new"]))
        and not re.match(_FEELING + r"$", bare["new"], _I)
    ):
        if back["word"].lower() in (
            "wait",
            "actually",
            "in fact",
            "it was actually",
            "it's actually",
            "it is actually",
        ) and not _is_plain_np(bare["new"]):
            return None
        is_supported = strong and back["word"].lower() not in ("i mean",)
        return _correction(text, start, end, bare, sure=is_supported or (bool(previous) and _is_plain_np(bare["new"])))
    if strong and re.match(r"(?:you|that)\b", back["word"], _I) and not text[begins:end].strip(" .!"):
        return Request(
            RequestKind.CORRECTION, start, end, _trim_quote(text, start, end), sure=False, subject_start=start
        )
    return None


def _is_plain_np(words: str) -> bool:
    """Whether the words are a name, a number or a day, and not an opinion."""
    return bool(
        re.search(
            r"\b[A-Z]|\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|\w+day|my|his|her|"
            r"the)\b",
            words,
        )
    )


def _no_np(words: str) -> bool:
    return bool(re.match(rf"(?:{_FEELING})\b", words.strip(), _I))


def _contrast(
    text: str, start: int, end: int, patterns: Sequence[re.Pattern[str]], is_no_np: Callable[[str], bool]
) -> tuple[str, str, int] | None:
    for pattern in patterns:
        for match in pattern.finditer(text, start, min(end + 40, len(text))):
            if match.start() > end:
                break
            old, new = (_LEAD.sub("", match[side].strip(" .,")) for side in ("old", "new"))
            old, new = (re.sub(r"^[在叫姓住是]+(?=[\u3400-\u9fff\w])", "", words) for words in (old, new))
            if (unit := re.fullmatch(r"[\d一二两三四五六七八九十百]+([年月日号点岁个只])", old)) and (
                count := re.search(rf"[\d一二两三四五六七八九十百]+{unit[1]}", new)
            ):
                new = count[0]  # 2016年认识的，不是2015年
            if _NUMBER.fullmatch(old) and (number := _NUMBER.match(new)):
                new = number[0]  # "two sisters, not three"
            elif re.search(r"[a-z]", old, _I) or old.isdigit():
                new = " ".join(new.split()[-len(old.split()) :])  # the denied words replace the last words before them
            if (
                old.casefold() != new.casefold()
                and not is_no_np(old)
                and not is_no_np(new)
                and max(len(old), len(new)) <= _LONGEST
            ):
                return old, new, match.start("new")
    return None


def _stands_in(words: str, previous: str) -> bool:
    return bool(words) and words.casefold() in previous.casefold()


def _trim_quote(text: str, start: int, end: int) -> str:
    return text[start:end].strip(" ,，。.!！")


def _correction(text: str, start: int, end: int, match: re.Match[str], *, sure: bool) -> Request:
    new = match["new"].strip(' ,，。.!！“”"')
    return Request(
        RequestKind.CORRECTION,
        start,
        end,
        _trim_quote(text, start, end),
        "",
        new,
        sure=sure,
        subject_start=match.start("new"),
    )


def _chinese(text: str, start: int, end: int, previous: str) -> Request | None:
    back = _BACK_ZH.match(text, start)
    end = sentence_end(text, back.end()) if back else end
    if end <= start or is_asked(text, back.end() if back else start):
        return None
    strong = bool((back and _STRONG_BACK_ZH.search(back[0])) or _ADMITS.search(text, start, end))
    if pair := _contrast(text, start, end, _CONTRAST_ZH, _is_no_np_zh):
        old, new, at = pair
        is_supported = strong or back is not None or _denies_the_same_zh(text, start) or _stands_in(old, previous)
        return Request(
            RequestKind.CORRECTION,
            start,
            end,
            _trim_quote(text, start, end),
            old,
            new,
            sure=is_supported,
            subject_start=at,
        )
    if back is None:
        late = re.compile(
            r"(?:应该|其实)?(?:是|叫)?(?P<new>[^，,。]{2,30})[，,](?:是)?(?:我|你|您)(?:刚才|刚刚)?(?:说|记|搞|弄|"
            r"听)(?:错|混)了"
        ).match(text, start, end)
        late = late or _CONTRADICTS_ZH.match(text, start, end)
        return _correction(text, start, end, late, sure=False) if late else None
    begins = back.end()
    right = _RIGHT_ZH.match(text, begins, end) or (
        _BARE_ZH.match(text, begins, end) if back[0].rstrip().endswith("是") or strong else None
    )
    if right and back["word"] != "其实" and not _is_no_np_zh(right["new"]):
        return _correction(text, start, end, right, sure=strong or bool(previous))
    if match := _THIRD_ZH.match(text, begins, end):
        return _correction(
            text,
            start,
            end,
            match,
            sure=strong and back["word"] != "其实" and re.search("错|混|反", back[0]) is not None,
        )
    return None


def _denies_the_same_zh(text: str, start: int) -> bool:
    """Whether the clause at `start` begins with a denial and surely tells what is right instead of it."""
    match = _DENIED_FIRST_ZH.match(text, start)
    if match is None:
        return False
    is_place = (match["denial"], match["verb"]) == ("是", "开在") and not _NO_PLACE_ZH.search(match["old"])
    return is_place or (match["denial"], match["verb"]) in _ONE_KIND_ZH


def _is_no_np_zh(words: str) -> bool:
    return bool(_NO_NP_ZH.match(words.strip()))
