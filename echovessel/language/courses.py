"""Matters that develop over weeks (a house hunt, an illness, a thesis): how people ask and report how they went. Pure,
English and Chinese.

    matters_in         the matters that a text is about, each with the words that show it
    others_in          the people whose matter it is, if it is not the owner's
    tells_an_end       "we moved in", 「终于答辩完了」
    asks_how_it_went   "how did the house thing go?", 「后来怎么样了」
"""

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

MAX_LOOKED_AT = 2_000  # characters
# For each matter, its words in English and in Chinese.
_MATTERS = {
    "home": (
        r"flats?|apartments?|(?:flat|house|apartment|home)[ -]?hunt\w*|landlord|landlady|viewings?|lease|tenancy|"
        r"mortgage|estate agents?|realtor|mov(?:ed|ing|e) (?:in|out|house|flat|home)|new (?:place|home|house)",
        "租房|看房|房东|房租|搬家|买房|卖房|房贷|中介|新家|新房|搬进|找房|公寓",
    ),
    "renovation": (
        r"renovat\w+|refurbish\w*|builders|tiler|plumber|electrician|scaffolding",
        "装修|翻新|施工队|瓦工|水电工",
    ),
    "job": (
        r"(?:job )?interviews?|job (?:hunt\w*|search|offer|applications?)|new job|résumé|cv|recruiters?|hired|"
        r"resign(?:ed|ation)?|laid off|redundan\w+|promotion|probation",
        "面试|简历|求职|找工作|辞职|离职|入职|裁员|升职|跳槽|试用期|新工作",
    ),
    "thesis": (
        r"thesis|dissertation|supervisor|viva|phd|master'?s degree",
        "论文|导师|答辩|开题|毕业设计",
    ),
    "exam": (
        r"exams?|midterms?|driving (?:test|lessons?)|driving instructor|entrance test",
        "考试|备考|考研|考公|高考|雅思|托福|驾照|驾考|科目[一二三四]",
    ),
    "illness": (
        r"surgery|operation|operated|biops\w+|diagnos\w+|chemo\w*|radiotherapy|hospital|(?:mri|ct|bone|brain) scan|"
        r"scan results?|specialist|symptoms?|treatment|physio\w*|relapse|tumou?r|cancer|test results|blood tests?|"
        r"fracture|rehab|surgeon",
        "手术|住院|化疗|放疗|活检|确诊|复查|出院|治疗|康复|肿瘤|癌|骨折|病情|术后|体检结果",
    ),
    "pregnancy": (
        r"pregnan\w+|ultrasound|due date|midwife|ivf|miscarr\w+|morning sickness",
        "怀孕|产检|预产期|试管|孕吐|保胎",
    ),
    "wedding": (
        r"weddings?|engagement|bridesmaids?|best man|honeymoon|wedding venue",
        "婚礼|订婚|婚纱|婚宴|伴娘|蜜月|领证",
    ),
    "separation": (
        r"divorc\w+|break-?up|broke up|breaking up|separation|custody",
        "离婚|分手|抚养权|分居|复合",
    ),
    "journey": (
        r"trip|itinerary|visa|flights?|backpacking",
        "旅行|机票|签证|行程|旅游",
    ),
    "lawsuit": (
        r"lawsuit|court|hearing|solicitor|lawyers?|settlement|tribunal",
        "官司|法院|律师|开庭|起诉|仲裁",
    ),
    "animal": (
        r"vet|animal shelter|puppy|kitten",
        "领养|收养|兽医|宠物医院",
    ),
    "performance": (
        r"choir|concert|rehears\w+|recital|premiere|exhibition",
        "合唱|音乐会|排练|演出|首演|画展",
    ),
    "book": (
        r"novel|manuscript|publishers?|screenplay",
        "小说|书稿|出版社|剧本",
    ),
    "race": (
        r"(?:half[- ])?marathon|triathlon|training plan|race day",
        "马拉松|半马|铁人三项|备赛",
    ),
    "business": (
        r"start-?up|investors?|own (?:shop|café|cafe|business|studio)|opening day|business plan",
        "创业|投资人|开店|融资",
    ),
    "quitting": (
        r"quit(?:ting)? (?:smoking|drinking)|stopped smoking|sober|cold turkey",
        "戒烟|戒酒",
    ),
}  # fmt: skip
_COMPILED = {
    name: re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE) for name, (english, chinese) in _MATTERS.items()
}
_END = re.compile(
    r"\b(?:finally (?:over|done|finished|signed|moved|passed|handed)|it'?s (?:all )?(?:over|done|official)|"
    r"(?:is|are|was|were) (?:finally |all )?over\b(?! (?:there|here|the|a|my|us))|(?:handed|turned) in|"
    r"moved in(?:to)?|got the (?:keys|job|all-clear)|all[- ]clear|cancer[- ]free|in remission|"
    r"passed (?:my|the|his|her|their|with)|failed (?:my|the)|(?:fully |completely )recovered|"
    r"(?:gave|given|giving) up on|called (?:it|the \w+) off|cancelled the|backed out|withdrew|"
    r"(?:got|been|was|were) (?:hired|rejected|discharged|married|divorced)|finished (?:the|my|his|her|our)|"
    r"(?:defended|submitted) (?:my|the|his|her|their)|signed the (?:lease|contract|papers)|crossed the finish|"
    r"died|passed away)\b|"
    "终于[^，。！？]{0,10}(?:了|完)|结束了|完成了|搬进了?|交了论文|通过了|考过了|没通过|没考上|考上了|康复了|痊愈|"
    "出院了|放弃了|取消了|签了(?:合同|约)|离了|分了|领证了|录取了|录用了|被拒了|答辩完|去世了|走了。",
    re.IGNORECASE,
)
_NO_END = re.compile(
    r"\b(?:not|never|hasn't|haven't|isn't|wasn't|until|before|if|when|hope|hopes|hoping|want|wants|will|would|might|"
    r"almost|nearly|about to|going to)\b(?:\W+\w+){0,4}\W*$|(?:没|没有|还没|如果|等|希望|想|要|会|快)[^，。]{0,4}$",
    re.IGNORECASE,
)
_HOW_IT_WENT = re.compile(
    r"\bhow(?: did| does| has| have| is| are| was| were| about|'s)\b[^?.!]{0,60}?"
    r"\b(?:go|going|gone|went|turn(?:ed)? out|work(?:ed|ing)? out|end(?:ed)?(?: up)?|come along|coming along|"
    r"come out|progress\w*|getting on|get on|stand|standing|doing)\b|"
    r"\bwhat(?:'s| is| was|'s been)? (?:ever )?(?:became|become|happened|happening|going on|new|the (?:latest|news|"
    r"status|story))\b[^?.!]{0,12}?\b(?:of|to|with|about|on)\b|"
    r"\b(?:any|some) (?:news|updates?|progress)\b|\bwhere (?:are|were|did) (?:we|i|you|they|things)\b[^?.!]{0,40}"
    r"\b(?:with|leave|stand)\b|\b(?:catch|bring|fill) (?:me|us) (?:up|in) on\b|"
    "后来(?:怎么样|怎样|如何|呢|咋样)|(?:怎么样|怎样|咋样|如何)了|进展|有(?:什么)?(?:消息|结果|下文|眉目)(?:了)?(?:吗|没|么)?|"
    "(?:到哪一步|到哪儿|什么情况|最后成)了|结果(?:怎么样|如何|呢)",
    re.IGNORECASE,
)

_OTHERS = re.compile(
    r"\b(?P<role>friend|colleague|co-?worker|neighbou?r|boss|teacher|flatmate|roommate|classmate|ex|client|cousin)s?\b|"
    r"\b(?P<name>[A-Z][a-z]+)['\u2019]s\b|(?P<zh>朋友|同学|同事|老板|邻居|老师|室友|闺蜜|前任|客户|亲戚)"
)


def matters_in(text: str) -> dict[str, list[str]]:
    """The matters that a text is about, each with its words as written.

    >>> matters_in("The landlord wants a deposit for the flat."), matters_in("我爸下周做手术")
    ({'home': ['landlord', 'flat']}, {'illness': ['手术']})
    """
    plain = text[:MAX_LOOKED_AT]
    words_by_matter = {name: [match[0] for match in words.finditer(plain)] for name, words in _COMPILED.items()}
    return {name: words for name, words in words_by_matter.items() if words}


def others_in(text: str) -> set[str]:
    """The people whom a text names by a role or as the owner of something: "my colleague", "Tom's brother".

    >>> sorted(others_in("Tom's brother met a colleague.")), sorted(others_in("我同事住院了"))
    (['colleague', 'tom'], ['同事'])
    """
    return {match[match.lastgroup or 0].casefold() for match in _OTHERS.finditer(text[:MAX_LOOKED_AT])}


def tells_an_end(text: str) -> bool:
    """Whether a text says that a matter is over, with a good or a bad end.

    >>> tells_an_end("We finally moved in."), tells_an_end("If we moved in, I'd be glad."), tells_an_end("终于答辩完了")
    (True, False, True)
    """
    plain = straighten(text[:MAX_LOOKED_AT])
    return any(not _NO_END.search(plain[max(0, end.start() - 40) : end.start()]) for end in _END.finditer(plain))


def asks_how_it_went(text: str) -> bool:
    """Whether a text asks what became of a matter.

    >>> asks_how_it_went("How did the house thing go?"), asks_how_it_went("How do I cook rice?")
    (True, False)
    """
    return bool(_HOW_IT_WENT.search(straighten(text[-MAX_LOOKED_AT:])))
