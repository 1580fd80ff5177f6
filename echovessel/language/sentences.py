"""Basic text analysis, English and Chinese: sentences, questions, small talk and topics."""

import hashlib
from collections.abc import Iterable, Sequence

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten
from echovessel.process.word_caches import cached_words

CJK = re.compile(r"[\u3400-\u9fff]")
URL = r"(?:https?://|www\.)\S+"
TITLES = "Mr", "Mrs", "Ms", "Dr", "Prof", "St"
NO_TITLE = "".join(rf"(?<!\b{title})" for title in TITLES)
SENTENCE = re.compile(
    rf"(?:{URL}|\S)(?:{URL}|.)*?(?:[。！？!?…]+[”」』\"']?|{NO_TITLE}\.+(?=\s|$)[\"']?|\n|$)", re.DOTALL
)
CLAUSE = re.compile(r"[^,，;；。！？!?…\n]+")
NO_LETTER = re.compile(r"(?![a-z])")


def words(text: str) -> frozenset[str]:
    """The words of `text` as a set."""
    return frozenset(text.split())


def listed(words: str) -> tuple[str, ...]:
    """The entries of a list written with "|" between them: words and phrases."""
    return tuple(words.split("|"))


def is_chinese(text: str, default: bool = False) -> bool:
    """Whether most letters of `text` are Chinese; three Latin letters count as one character."""
    han, latin = len(CJK.findall(text)), len(re.findall(r"[A-Za-z]", text))
    return han * 3 >= latin if han or latin else default


def sentences(text: str) -> list[tuple[int, int]]:
    """The positions of the sentences of `text`: `text[start:end]`, unchanged.

    >>> [("I am here. 小黑来了。")[a:b] for a, b in sentences("I am here. 小黑来了。")]
    ['I am here.', '小黑来了。']
    """
    spans = ((match.start(), match.start() + len(match[0].rstrip())) for match in SENTENCE.finditer(text))
    return [(start, end) for start, end in spans if end > start]


def clauses(sentence: str) -> list[tuple[int, int]]:
    """The positions of the parts of `sentence` between its commas, without surrounding punctuation and spaces."""
    bounds = []
    for match in CLAUSE.finditer(sentence):
        bare = match[0].strip()
        if bare:
            start = match.start() + match[0].index(bare)
            bounds.append((start, start + len(bare)))
    return bounds


def holds(text: str, words: Iterable[str]) -> list[str]:
    """The `words` that occur in `text`: Latin ones as whole words, Chinese ones anywhere.

    >>> holds("I studied", ["died", "studied"])
    ['studied']
    """
    lower = text.casefold()
    # The cheap test comes first: most words do not occur, and each reply looks for hundreds.
    return [word for word in words if word in lower and (CJK.search(word) or is_whole_word(word, lower))]


def is_whole_word(word: str, lower: str, end: re.Pattern[str] = NO_LETTER) -> bool:
    """Whether the Latin `word` occurs in `lower`, with no letter before it and `end` after it. Without a pattern for
    each word: it would have to be compiled, and would push others out of `re`'s cache.

    >>> is_whole_word("cat", "a cat's bed"), is_whole_word("cat", "education")
    (True, False)
    """
    at = lower.find(word)
    while at >= 0:
        if not (at and "a" <= lower[at - 1] <= "z") and end.match(lower, at + len(word)):
            return True
        at = lower.find(word, at + 1)
    return False


def pick(options: Sequence[str], seed: str, avoid: str = "") -> str:
    """One of `options`, always the same for the same seed; if possible not one whose beginning is in `avoid`."""
    at = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") % len(options)
    turned = [*options[at:], *options[:at]]
    return next((option for option in turned if option.split("{")[0][:12] not in avoid), turned[0])


# --- does it ask? -------------------------------------------------------------------------------------------------
# An interrogative alone asks nothing: 几天前 and 谁都 are statements, and so is "When I was a child, …".
MARK = re.compile(r"[?？][?？!！~～”」』\"')）\s]*$")

SUBJECTS = "i|you|we|they|he|she|it|my|your|our|his|her|their|the|there|this|that|these|those|any|anyone|anybody"
AUXILIARY = (
    r"(?:am|is|are|was|were|do|does|did|can|could|will|would|shall|should|have|has|had|may|might|must|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|haven't|hasn't)"
)
LEAD_IN = (
    r"(?:(?:so|and|but|well|hey|hi|hello|ok|okay|oh|please|also|anyhow|anyway|anyways|btw|by the way|um+|uh+|hmm*|"
    r"listen|quick(?:ly)?(?: q| question)?|(?:one|just a) (?:quick )?(?:q|question)|"
    r"look|then|now|wait|sorry|remind me)[\s,]+)*"
)
ASKS_EN = re.compile(
    rf"^{LEAD_IN}(?:"
    rf"(?!do\s+(?:your|it|this|that|the|my|his|her)\b|don't\s+you\s+(?:dare|ever|forget|worry)\b){AUXILIARY}\s+(?:{SUBJECTS})\b"
    r"|(?:is|are|was|were|does|did|has)\s+\w+\s+\w+"
    rf"|(?:what|who|whom|whose|where|when|why|how|which)(?:'?s|'re|'d|'ll|\s+{AUXILIARY})\b"
    rf"|(?:what|which|whose|how)\s+(?!(?:{SUBJECTS}|a|an)\b)\w+(?:'s|'re|\s+(?:(?!that\b)\w+\s+){{0,2}}{AUXILIARY})\b"
    r"|(?:what|how)\s+(?:about|happened|come)\b"
    rf"|(?:who|why)\s+(?!(?:{SUBJECTS})\b)\w+"
    r"|(?:remember|know)\s+(?:my|me|what|who|when|where)\b"
    r")",
    re.I,
)
ORDERS_EN = re.compile(
    rf"^{LEAD_IN}(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?"
    r"(?:(?:tell|show|give|help|remind|explain|teach|write|sing|read)\b.*\b(?:me|us)\b|"
    r"(?:recommend|compare|explain|summari[sz]e|translate|suggest|draft|describe|define|calculate)\b)",
    re.I,
)

# Looks like a question word but asks nothing.
INDEFINITE_ZH = re.compile(
    "(?:(?<!为)什么|谁|哪里|哪儿|哪个|哪|怎么|多少|几时|啥)[^，。？?]{0,4}(?:都|也)|哪[^，。？?]{0,9}都(?:知道|清楚|行|可以|"
    "能|不)|"
    "(?:没|没有|不是|不怎|不|别)(?:什么|怎么|多少|谁|哪|啥)|没几|不几|哪怕|几乎|(?<!做)(?<!干)(?<!学)什么的|"
    "谁知道|怎么说呢?|"
    "有(?:什么|谁|点什么)(?=[\u3400-\u9fff])|多少(?:有点|还是|次都)|(?:好|十|百|千|这|那|前|后|近|有)几|几(?:天|年(?!级)|周|次|个|位|只|"
    "条|本|句|分|十|百|千)|"
    "(什么|谁|哪里|哪儿|怎么)[^，。？?]{0,4}就[^，。？?]{0,4}(?:什么|谁|哪里|哪儿|怎么)"
)
UNKNOWN_ZH = re.compile(
    "(?:不知道|没人知道|不知|不明白|不懂|不记得|忘了|忘记|不清楚|不确定|不管|无论|不在乎|没想到|想起)[^，。？?]*$"
)
# 「喝了几杯」 and 「几瓶啤酒而已」 say that it were a few, unless somebody is asked: 「你喝了几杯」.
HOW_MANY_ZH = (
    "几(?:岁|号|点|月|年级|时|楼|路|班)|(?:(?<!了)|^[您你][^，。]{0,8}了)几(?:杯|片|瓶|口)(?![^，。]{0,6}(?:而已|下肚))|"
    "(?:星期|周|礼拜|第)几"
)
ASKS_ZH = re.compile(
    f"等于几|什么|怎么|为何|为什么|谁|哪|多少|多大|多久|多高|多长|多远|多重(?![\u3400-\u9fff])|几时|啥|咋(?!舌)|何时|{HOW_MANY_ZH}|"
    "有没有|记不记得|知不知道|可不可以|([是要会能好对想该在行去])[不没]\\1"
)
# Questions of somebody else, or in a story.
REPORTED = re.compile(
    r"(?:(?<!你)(?<!你刚才)问(?:了|过|起|道)?(?:我|你|他|她|大家|一句)|(?:喊|说|问|叫|道|讲|想)[：:“「])[^？?]*[？?]?|"
    r"\b(?:asked|asks|shouted|yelled|wondered|said|says|was like|goes|went|texted|wrote)\b[^.?!]{0,24}[:,]? ?[\"“:]",
    re.I,
)
PARTICLE_ZH = re.compile(
    "(?:吗|(?<!什)(?<!怎)(?<!这)(?<!那)么|来着|伐|(?:知道|晓得|记得|清楚)(?:不|没有?)|"
    "了没有?|过没有|有[^，。没]{1,5}没有|"
    # 「还抽烟不」 asks, 「我才不」 and 「医生说不」 do not.
    "[\u3400-\u9fff]{2}(?<![我才绝可就从也还都要偏又并决更毫这那是好说])"
    "(?<!当然)(?<!从来)(?<!根本)(?<!绝对)(?<!死活)(?<!肯定)(?<!坚决)(?:不|未))[。.!！~～\\s]*$"
)
AND_YOU_ZH = re.compile("^(?:那|你|您|我的)[^，,]{0,5}呢[。.!！~～\\s]*$")
ORDERS_ZH = re.compile(
    "^(?:请|请你|麻烦你?|你)?(?:告诉我|(?:跟|和|给)我(?:说说|讲讲|讲|说)|提醒我|帮我|教我(?!的)|说说我|讲讲|"
    "(?:给我|再)?(?:讲|说|来|唱|写)(?:个|一个|段|一段|首|一首)(?:笑话|故事|歌|诗|段子|冷笑话)|推荐|翻译|总结|解释|列出)"
)


def is_question(sentence: str) -> bool:
    """Whether `sentence` asks or orders: by its punctuation, or by its first or last clause.

    >>> is_question("我什么时候搬家"), is_question("几天前我妈妈去世了"), is_question("When I was ten, my dad died.")
    (True, False, False)
    """
    if REPORTED.search(sentence):
        return False
    if MARK.search(sentence.strip()):
        return True
    parts = [sentence[start:end] for start, end in clauses(sentence)]
    first = next((part for part in parts if len(part) > INTERJECTION), "")
    return bool(parts) and (asks(parts[-1]) or asks(first))


def questions_of(sentence: str) -> list[str]:
    """The questions in `sentence`, each with the words before it; statements after the last one are left out.

    >>> questions_of("when is it again, i've lost the sheet"), questions_of("我明天去，几点开门，几点关门？")
    (['when is it again'], ['我明天去，几点开门', '几点关门？'])
    """
    questions, start, is_open = [], 0, False
    ends = [end for _, end in clauses(sentence)]
    for at, (begin, end) in enumerate(clauses(sentence)):
        tail = sentence[end : ends[at + 1] if at + 1 < len(ends) else len(sentence)].lstrip()
        is_last = at + 1 == len(ends)
        if asks(sentence[begin:end]) or (is_last and tail[:1] in "?？" and tail):
            questions.append(sentence[start if not is_open else begin : len(sentence) if is_last else end].strip())
            start, is_open = end, True
        elif is_open:
            start, is_open = begin, False
    return questions


def asks(clause: str) -> bool:
    """Whether one clause asks or orders by its form, whatever punctuation follows."""
    bare = straighten(clause.strip())
    if ASKS_EN.search(bare) or ORDERS_EN.search(bare):
        return True
    if not CJK.search(bare):
        return False
    if PARTICLE_ZH.search(bare) or AND_YOU_ZH.search(bare) or ORDERS_ZH.search(bare):
        return True
    return not UNKNOWN_ZH.search(bare) and ASKS_ZH.search(INDEFINITE_ZH.sub(" ", bare)) is not None


INTERJECTION = 2  # characters of "哎" and "so", which by themselves ask nothing

# --- small talk ---------------------------------------------------------------------------------------------------
LEAD = (
    r"^(?:(?:ok(?:ay)?|you know what|alright|right|well|yes|yeah|good|fine|好的?|好吧|好啦|嗯+|行|那|对了|哦)"
    r"[\s,，.。!！~～]*)*"
)
GREETING = re.compile(
    r"^(?:你好|您好|嗨|哈喽|哈啰|早[啊呀安哦]?(?=\W|$)|早上好|晚上好|下午好|中午好|在吗|"
    r"吃(?:了|过|饭了?|了饭)[没吗嘛未](?:有)?(?=\W|$)|我(?:又)?(?:来|回来)[了啦]|"
    r"(?:hi+|hello+|he+y+|yo|g'?day|howdy|hiya|oi|(?:good )?(?:morning|evening|afternoon)|i'm back)"
    r"(?![a-z'])"
    r"(?! (?:i|i'm|my|we|was|is)\b))",
    re.I,
)
THANKS = re.compile(
    LEAD
    # "Ty" alone is thanks, but "Ty is my brother" is about Ty.
    + r"(?:谢谢|多谢|谢[啦了]|感谢|(?:thanks|thank you|thank u|thx|tysm|cheers|much appreciated)(?!\w| to\b)|"
    r"t[ay](?=\W*$| (?:so|very|for|again|mate|love)\b)|(?-i:t[ay])(?=[,.!]))",
    re.I,
)
GOODBYE = re.compile(
    LEAD + r"(?:晚安|再见|拜拜|拜|我?先走了|我?(?:先|要)(?:去)?睡了|下次(?:再)?聊|明[天儿](?:再)?(?:聊|见)|先这样|good "
    r"?night|"
    r"bye|goodbye|see (?:you|ya)|talk (?:to you )?(?:later|soon)|(?:i )?(?:have to|gotta|got to) go)(?![a-z])",
    re.I,
)
# Somebody in a hurry does not go to rest.
HURRY = re.compile(
    r"(?:回头(?:见|聊|说)|回见|晚[点些]聊|待会儿?(?:见|聊|说)|先忙(?:去)?[了啦]?|不(?:说|聊)了[，,]?(?:我?[要去得]?(?:开会|上课|上班|忙|"
    r"有事|吃饭|赶车|来人)[了啦]?))[\s。.!！~～]*$|^(?:gtg|g2g|brb|afk|bbl|ttyl|gotta (?:run|go|dash)|"
    r"(?:i'm )?(?:running late|late for) \w+|can't talk(?: right)? now|(?:i'm |i am )?in a meeting|"
    r"(?:talk|speak) (?:later|soon))\b",
    re.I,
)
LAST_WORDS = re.compile(
    r"(?:明[天儿]见|晚安|拜拜|再见|走了走了|撤了|(?<!没)睡了|就睡)[\s。.!！~～]*$|"
    r"(?:^|[,.!;–—-])\s*(?:ok |so |right )?(?:(?:good ?)?night(?: night)?|nite|bye(?: bye)?|cheerio|see (?:you|"
    r"ya)(?: \w+)?|later|laters|"
    r"ttyl|(?:i'm )?(?:off|going) to (?:bed|sleep)|(?:got to|gotta) go)[\s.!~x]*$",
    re.I,
)
HOW_ARE_YOU = re.compile(
    r"你好吗|你(?:今天|最近)?(?:怎么样|好不好|过得)|在干嘛|在干什么|^\W*在不在\W*$|在么|还在(?:吗|么|不)|又是你|值班|"
    r"how are you|how's it going|what's up|are you (?:there|awake|around)|you (?:there|up|awake)\?",
    re.I,
)
LAUGHTER = re.compile(
    r"^(?:(?:jk|just kidding|(?:ha(?:ha)? )?got you)\b|逗你玩|开玩笑|骗你的|笑不活|笑疯|[2２]33+|hh+(?![a-z])|哈{2,}|"
    r"嘿{2,}|嘻{2,}|呵{2,}|笑死|(?:a?ha){2,}h?|lol|lmao|rofl)|(?:哈{3,}|lol|😂|🤣)\W*$",
    re.I,
)
APOLOGY = re.compile(
    LEAD + r"(?:(?:i'm |i am )?(?:so |really )?(?:sorry|sry)|my bad|对不起|抱歉|不好意思)"
    r"(?:[,.!，。！]|\s*$| that was (?:mean|rude|harsh|uncalled for|out of line)|"
    r"(?: for| about) (?:the |my |all the )?(?:\w+ing\b|delay|late|earlier|that|mess))",
    re.I,
)
GOES_ON = re.compile(
    r"^\W*(?:and(?: then| so)?|then(?: what)?|so(?: what)?|go on|what else|anything else|"
    r"[那再]{0,2}(?:然后|后来|接着|所以|还有)呢?|继续)[\s?？.。!！]*$",
    re.I,
)
NOTHING_SAID = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|no|nope|sure|fine|good|great|cool|lol|haha+|hm+|"
    r"(?:i'm )?(?:fine|good|ok),? (?:thanks|thank you)|好的?|好吧|嗯+|哦+|哈+|是的|对|没事|行)[\s,，.。!！~～]*$",
    re.I,
)
SHORT = 24
FEW_AFTER_A_GREETING = 2  # words
WORD = re.compile(r"[\u3400-\u9fff]{2}|[^\W\u3400-\u9fff]+")  # a Chinese word mostly has two characters


def is_small_talk(message: str) -> bool:
    """Whether `message` is only small talk.

    >>> is_small_talk("ok bye"), is_small_talk("好的 拜拜"), is_small_talk("Thanks to my sister I moved to Rome")
    (True, True, False)
    """
    bare = message.strip()
    if not bare or NOTHING_SAID.search(bare):
        return True
    if greeted := GREETING.match(bare):
        return len(bare) <= SHORT and len(WORD.findall(bare[greeted.end() :])) < FEW_AFTER_A_GREETING
    return len(bare) <= SHORT and any(words.match(bare) for words in (THANKS, GOODBYE, HOW_ARE_YOU))


# --- what it is about ---------------------------------------------------------------------------------------------
TOPICS = {
    "pet": listed(
        "猫|狗|犬|兔子|仓鼠|鹦鹉|乌龟|宠物|小狗|小猫|cat|cats|kitten|dog|dogs|puppy|rabbit|hamster|parrot|turtle|bird|birds|budgie|pet|pets"
    ),
    "family": listed(
        "妈妈|母亲|爸爸|父亲|爸妈|父母|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|外婆|外公|姥姥|老公|老婆|丈夫|妻子|"
        "儿子|女儿|孩子|家人|我爸|我妈|老爸|老妈|闺女|外孙女|外孙|孙女|孙子|儿媳|女婿|老伴|内人|媳妇|表哥|表姐|表弟|"
        "表妹|"
        "先生|太太|嫂子|姑姑|姨妈|舅舅|叔叔|未婚夫|未婚妻|前夫|前妻|mother|mom|mum|father|dad|parents|brother|sister|stepdad|"
        "stepmum|stepmom|"
        "stepfather|stepmother|stepson|stepdaughter|grandson|granddaughter|nephew|niece|nan|gran|granny|fiancé|fiancée|"
        "grandmother|grandfather|grandma|grandpa|husband|wife|son|daughter|kid|kids|children|family|aunt|"
        "uncle|cousin|baby"
    ),
    "people": listed(
        "老同学|朋友|同学|室友|邻居|男朋友|女朋友|男友|女友|闺蜜|同事|老板|老师|friend|friends|boyfriend|"
        "girlfriend|partner|roommate|neighbour|neighbor|colleague|coworker|boss|teacher|manager|mate|flatmate|"
        "housemate|classmate|landlord|landlady|同桌|班主任|哥们儿|哥们|师傅|领导|房东|学姐|学长|学弟|学妹|师兄|师姐|"
        "网友|发小"
    ),
    "work": listed(
        "工作|上班|公司|面试|项目|升职|辞职|被裁|医院|程序员|工程师|护士|医生|老师|work|works|working|"
        "job|office|career|living|interview|project|promoted|promotion|nurse|engineer|developer|designer|"
        "teacher|doctor|company|fired|laid off"
    ),
    "study": listed(
        "考试|学校|大学|毕业|论文|学习|录取|作业|exam|school|university|college|thesis|degree|study|"
        "studying|studies|graduated"
    ),
    "health": listed(
        "生病|医院|失眠|手术|感冒|发烧|确诊|过敏|怀孕|身体|sick|ill|hospital|surgery|insomnia|diagnosed|"
        "allergic|allergy|pregnant|doctor|therapy|health|anxiety|cancer"
    ),
    "plan": listed(
        "打算|计划|准备去|下周|下个月|明年|旅行|旅游|搬家|搬到|想学|开始学|plan|plans|planning|going to|"
        "next week|next month|next year|trip|travel|move to|moving|vacation|holiday|learning"
    ),
    "home": listed(
        "住在|老家|家乡|出生在|来自|搬到|live in|lives in|living in|moved to|born in|grew up|come from|"
        "hometown|i'm from"
    ),
    "birthday": listed("生日|birthday"),
    "taste": listed("喜欢|最爱|爱吃|爱喝|讨厌|爱好|favourite|favorite|love|hate|enjoy|hobby|like|likes|loves"),
}

# Within these topics, a question about one kind is not answered by another: a dog is no cat.
DISTINCT = frozenset({"pet", "family", "people"})
GENERAL = words("宠物 家人 家里人 孩子 朋友 pet pets family people friend friends kid kids children baby partner")
SYNONYMS = tuple(
    listed(same)
    for same in (
        "猫|cat|cats|kitten",
        "狗|犬|dog|dogs|puppy",
        "鹦鹉|parrot|bird|birds|budgie",
        "妈妈|母亲|我妈|老妈|mother|mom|mum",
        "爸爸|父亲|我爸|老爸|father|dad",
        "儿子|son|孩子|kid|kids|children|baby",
        "女儿|daughter|闺女|孩子|kid|kids|children|baby",
        "哥哥|我哥|brother",
        "弟弟|我弟|brother",
        "姐姐|我姐|sister",
        "妹妹|我妹|sister",
        "丈夫|老公|先生|husband",
        "妻子|老婆|太太|wife",
        "奶奶|外婆|姥姥|grandmother|grandma",
        "爷爷|外公|grandfather|grandpa",
        "男朋友|男友|boyfriend|partner",
        "女朋友|女友|girlfriend|partner",
        "老师|班主任|导师|teacher|tutor|professor",
        "生日|出生|birthday|born",
        "结婚|婚礼|订婚|wedding|married|marrying|engaged",
        "工作|上班|职业|work|works|job|做什么的",
        "搬家|搬到|搬去|move|moving|moved",
        "住|老家|live|lives|living|home",
    )
)


MAX_CACHED = 1_000  # texts: a reply compares the same memories as the reply before
_ALL_WORDS = frozenset(word for words in (*TOPICS.values(), *SYNONYMS, GENERAL) for word in words)
_OF_TOPICS = {topic: frozenset(words) for topic, words in TOPICS.items()}
_OF_SYNONYMS = [frozenset(same) for same in SYNONYMS]
_BEARERS = (
    frozenset((*(word for topic in DISTINCT for word in TOPICS[topic]), "我哥", "我弟", "我姐", "我妹")) - GENERAL
)


@cached_words(maxsize=MAX_CACHED)
def telling_words(text: str) -> frozenset[str]:
    """The words of these tables that `text` contains: extracted once, however many texts it is compared with."""
    return frozenset(holds(text, _ALL_WORDS))


def shared_topics(question_topics: frozenset[str], memory_topics: frozenset[str]) -> int:
    """The number of topics that a question and a text share, by the telling words of each."""
    if not (question_topics and memory_topics):
        return 0
    both = [topic for topic, words in _OF_TOPICS.items() if question_topics & words and memory_topics & words]
    loose = [topic for topic in both if topic not in DISTINCT or question_topics & GENERAL & _OF_TOPICS[topic]]
    return len(loose) + sum(bool(question_topics & same and memory_topics & same) for same in _OF_SYNONYMS)


def bearers(telling: frozenset[str]) -> frozenset[str]:
    """The people and animals in a text with these telling words, each by the first of its synonyms; general words do
    not identify anybody.

    >>> bearers(telling_words("我妈")) == bearers(telling_words("母亲")), bearers(telling_words("my family"))
    (True, frozenset())
    """
    return frozenset(next((same[0] for same in SYNONYMS if word in same), word) for word in telling & _BEARERS)


def topics(text: str) -> list[str]:
    """The topics of `text`, in the order of the table.

    >>> topics("My sister has a cat")
    ['pet', 'family']
    """
    return [topic for topic, words in TOPICS.items() if holds(text, words)]
