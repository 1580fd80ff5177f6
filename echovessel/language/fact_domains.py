"""The aspects of a life that a question asks for, and that a sentence states. Pure; English and Chinese.

A sentence embedding finds little of "What's my job?" in "Ana is a nurse"; rules can recognize that both are about work.
The same holds for what somebody may eat, how old they are, where they live: an `Aspect` pairs a question with its
answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import any_word
from echovessel.language.sentences import is_question

_WORDS = {
    "about": r"how old|\bage\b|my (?:full )?name|who am i|where am i from|come from|born|birthday|nationality|"
    r"languages?|roots|origins?|heritage|raised|childhood|gr[eo]w up|"
    r"长大|童年|小时候|几岁|多大|名字|哪里人|出生|生日|国籍|语言|籍贯|老家",
    "people": r"family|relatives?|sisters?|brothers?|siblings?|mother|father|mum|mom|dad|parents?|wife|husband|partner|"
    r"boyfriend|girlfriend|friends?|cousins?|aunt|uncle|grand\w+|kids?|children|son|daughter|married|dating|"
    r"date|seeing|spouse|boy|girl|witness\w*|太太|爱人|孙|伙计|见证|家人|亲戚|姐|妹|哥|弟|妈|爸|父|母|老公|老婆|"
    r"男朋友|女朋友|男友|女友|朋友|孩子|儿子|女儿|结婚|对象",
    "health": r"allerg\w*|ill|illness|sick|health\w*|medicines?|medication|doctor|eat|foods?|dishes|cook|diet|"
    r"disease|meat|bread|foot|knee|eyes?|joint|operat\w+|surger\w+|therap\w+|pills?|counsel\w+|exercise|"
    r"动刀|手术|眼睛?|体检|检查|过敏|生病|健康|药|医生|忌口|吃|身体|菜",
    "likes": r"likes?|love|favou?rites?|enjoy|hate|prefer|hobby|hobbies|music|instruments?|sports?|eat|foods?|cook|"
    r"drink|free time|fun|exercise|games?|喜欢|爱|讨厌|爱好|兴趣|乐器|运动|锻炼|吃|喝|音乐",
    "work": r"jobs?|work|profession|occupation|career|living|boss|company|colleagues?|stud(?:y|ies|ying)|school|"
    r"university|degree|major|course|trade|employer|apprentice|business|shop|partner|uni|exams?|tests?|考|论文|文章|"
    r"单位|生意|打工|靠什么|念书|工作|职业|上班|公司|老板|同事|专业|学校|大学|读书|学习|学什么",
    "home": r"live|home|address|city|town|country|flat|apartment|house|moved?|neighbou?rhood|住|家在|城市|搬|房子|地址",
    "plans": r"plans?|planning|planned|going to|trip|travel|holiday|vacation|intend|habits?|routine|usually|"
    r"next (?:week|month|year|spring|summer|autumn|winter)|打算|计划|准备|旅行|习惯|每天|平时|明年|下个月",
    "belongings": r"pets?|cats?|dogs?|birds?|animals?|cars?|bikes?|wheels|drive|ride|own|belongings|instruments?|"
    r"gifts?|宠物|猫|狗|鸟|车|琴|乐器|养|礼物|送",
    "beliefs": r"believe|religio\w+|faith|god|politic\w*|vote|values?|信仰|宗教|相信|政治|价值观",
}
_DOMAINS = {domain: any_word(words) for domain, words in _WORDS.items()}
_NUMBER_EN = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]\w+)?"
)
_OCCUPATION_EN = (
    r"(?:nurse|midwife|vet|doctor|gp|surgeon|dentist|carer|paramedic|pharmacist|therapist|psychologist|teacher|tutor|"
    r"lecturer|professor|teaching assistant|student|lawyer|solicitor|judge|accountant|bookkeeper|banker|cashier|clerk|"
    r"secretary|receptionist|manager|director|consultant|engineer|developer|programmer|designer|architect|builder|"
    r"plumber|electrician|carpenter|joiner|mechanic|welder|painter|decorator|roofer|cleaner|caretaker|janitor|"
    r"gardener|farmer|fisherman|baker|chef|cook|waiter|waitress|barista|bartender|barman|barmaid|butcher|hairdresser|"
    r"barber|beautician|tailor|seamstress|driver|pilot|sailor|flight attendant|courier|postman|postwoman|police "
    r"officer|policeman|policewoman|cop|detective|soldier|firefighter|fireman|guard|librarian|journalist|reporter|"
    r"editor|writer|author|translator|interpreter|actor|actress|musician|singer|dancer|artist|photographer|"
    r"filmmaker|model|scientist|researcher|chemist|physicist|biologist|analyst|social worker|civil servant|priest|"
    r"vicar|imam|shopkeeper|salesman|saleswoman|estate agent|childminder|nanny|au pair|coach|trainer|technician|"
    r"plasterer|bricklayer|labourer|miner|docker|apprentice|freelancer|stay-at-home \w+|housewife|househusband|"
    r"\w{3,}(?:man|woman|keeper|maker|smith|worker|operator|officer|master))"
)
_PLACE_ZH = r"店|馆|厂|公司|餐厅|饭店|诊所|工作室|农场|民宿|超市"
_OCCUPATION_ZH = (
    r"(?:(?:律|医|教|厨|技|药|设计|理发|摄影|会计|工程|程序|老|牧|法|厨|美容|化妆|按摩|咨询|心理咨询|月嫂)师|护士|"
    r"护工|护理员|医生|大夫|兽医|"
    r"老师|教授|教练|会计|出纳|司机|司仪|飞行员|警察|军人|消防员|保安|保姆|保洁|阿姨|月嫂|经理|老板|店长|主管|总监|"
    r"程序员|码农|记者|编辑|翻译|演员|"
    r"歌手|画家|作家|农民|渔民|木匠|电工|焊工|钳工|瓦工|裁缝|公务员|法官|导游|骑手|快递员|外卖员|客服|销售|文员|秘书|"
    r"助理|顾问|研究员|空姐|空乘|船员|"
    r"收银员|服务员|营业员|售货员|推销员|保育员|图书管理员|学徒|实习生|工人|产品经理|运营|审计|社工)"
)


@dataclass(frozen=True)
class Aspect:
    """An aspect of a life: its domain, how it is asked for, and how a sentence states it. `is_single`: only one value
    holds at a time, so the latest statement counts."""

    domain: str
    asks: re.Pattern[str]
    tells: re.Pattern[str]
    is_single: bool = False


def _aspect(domain: str, asks: str, tells: str, *, is_single: bool = False) -> Aspect:
    return Aspect(domain, re.compile(asks, re.I), re.compile(tells, re.I), is_single)


# What somebody eats, may eat, or must not.
_EATING_ASKED = (
    r"\b(?:can't|cannot|shouldn't|mustn't|can|could|should|am|is|are|must|may|do|does) "
    r"(?:i|we|he|she|(?:my |our )?[\w']+) "
    r"(?:still )?(?:not )?(?:(?:allowed|supposed|able) )?(?:to )?(?:eat|drink)\b|"
    r"\b(?:can't|cannot|shouldn't|mustn't|can|could|should|must|may) (?:i|we|he|she) (?:not )?have\b"
    r"(?! (?:to|an?|the|my|your|it|this)\b)|"
    r"\b\w+ (?:can't|cannot|shouldn't|mustn't|must not|may not|(?:am|is|are|'m|isn't|aren't) (?:not )?(?:allowed )?to) "
    r"(?:eat|drink|have)\b|\bnot (?:allowed |supposed )?to (?:eat|drink)\b|\ballerg|"
    r"\bfoods?\b.*\b(?:give up|gave up|avoid|bad for|cut out)\b|"
    r"(?:能|可以|该|好|让)不?(?:能|可以|该)?(?:再)?(?:吃|喝|碰)(?!饭)|吃不吃|忌口|过敏"
)
_ASKS_OF_EATING = re.compile(_EATING_ASKED, re.I)

ASPECTS: tuple[Aspect, ...] = (
    _aspect(
        "work",
        r"\b(?:jobs?|profession|occupation|career|trade|for a living|for work|(?:where|"
        r"who) do(?:es)? [\w' ]{1,24} work|"
        r"what (?:do|does|did) (?:i|we|he|she|they|you|(?:my |our )?[\w']+) do(?: now)?\b(?! (?:about|with|when|if|on|"
        r"at)\b))|"
        r"工作|职业|上班|(?:是|以)?(?<![能该想会要])[做干](?:什么|啥|哪行|哪一行)(?:工作)?的?|哪行|在哪儿?里?(?:上班|工作)|"
        r"靠什么(?:吃饭|生活)",
        rf"\bworks?(?:ed)? (?:as|in|at|for|on|with|nights|days|part|full|mostly|from)\b|\bworking (?:as|in|at|for)\b|"
        rf"(?:\bi'm|\bi am|\bis|\bare|\bwas|\bas|\bbecame|'s|,) (?:an? |the |"
        rf"our )?(?:[\w-]+ ){{0,3}}?{_OCCUPATION_EN}\b|"
        r"\b(?:teach(?:es)?|nurs(?:es|ing)|retired|unemployed|self-employed|freelances?)\b|"
        r"\bdrives? (?:an? |the )?(?:\w+ )?(?:bus|taxi|cab|lorry|truck|forklift|tram|train|van|ambulance|uber)\b|"
        r"\b(?:runs?|owns?|manages?|opened|has|have) (?:an? |the |my |our |his |her |their )?(?:\w+ ){0,2}?(?:shop|"
        r"store|bakery|"
        r"caf[eé]|restaurant|company|business|farm|salon|garage|pub|practice|studio|stall)\b|\bmy job (?:is|as|at)\b|"
        rf"(?:是|在|当|做)[^，。！？]{{0,12}}?{_OCCUPATION_ZH}|开(?:叉车|出租|公交|货车|网约车|滴滴|大巴|卡车|火车|"
        rf"地铁|的士|校车)|"
        rf"[在去到][^，。！？]{{1,14}}(?:上班|工作|打工|任职|教书|实习|当差|值班)|"
        rf"开了?(?:一?[家间个])?[^，。！？]{{0,6}}(?:{_PLACE_ZH})|"
        r"\bstart(?:ed|ing|s)? (?:work |working |a new job |my new job )?(?:at|in|as|for) (?:the|an?|my|(?-i:[A-Z]))|"
        r"\b(?:quit|resigned from|left) (?:the|my|our) (?:job|work|bank|bakery|"
        r"(?:[\w]+ ){0,2}(?:office|shop|company|firm|hospital|school))\b|\b(?:resigned|laid off|got fired|was fired|"
        r"handed in my notice)\b|辞职|辞了|离职|入职|跳槽|被裁|"
        r"退休了?|失业|送(?:外卖|快递)|跑(?:外卖|业务|运输)|种地|打鱼|教(?:书|语文|数学|英语|物理|化学|音乐|体育)",
        is_single=True,
    ),
    _aspect(
        "about",
        r"how old|\bage\b|年龄|几岁|多大(?!的)|岁数",
        rf"\b(?:i'm|you're|he's|she's|am|is|are|was|turn(?:s|ed|ing)?|aged) (?:only |just |nearly |almost |now |"
        rf"already )?"
        rf"(?:\d{{1,3}}|{_NUMBER_EN})\b(?! ?(?:min|hour|day|week|month|km|mile|kid|child|brother|sister|cm|kg|pound|"
        rf"feet|%))|"
        r"\b(?:\d{1,3}|\w+)[- ]years?[- ]old\b|[\d一二三四五六七八九十百]+\s*岁|"
        r"今年[^，。]{0,2}[\d一二三四五六七八九十]{2,}",
        is_single=True,
    ),
    _aspect(
        "about",
        r"when (?:was|were) [\w' ]{1,24} born|birthday|生日|出生",
        r"\bborn\b|\bbirthday\b|生日|出生|生于",
    ),
    _aspect(
        "home",
        r"\bwhere\b.*\b(?:live|lives|living)\b|\b(?:which|what) (?:city|town|village|country|street|"
        r"part of \w+)\b.*\b(?:live|lives|living|in)\b|"
        r"\baddress\b|住(?:在)?(?:哪|什么地方)|家在哪|哪个(?:城市|小区|地方)|在哪儿?里?(?:住|生活)",
        r"\b(?:live|lives|living|moved|staying|settled|based|works?)\b[^.]{0,30}\b(?:in|to|at|near|on)\b|\bhome is\b|"
        r"住(?:在)?|搬(?:到|去|来|进)|家在|定居|在[^，。]{2,10}(?:当|做|上班|工作|读书|念书|上学)",
        is_single=True,
    ),
    _aspect(
        "about",
        r"\bwhere\b.*\b(?:from|grow up|grew up|raised|born)\b|哪里?(?:人|长大|出生)|老家",
        r"\b(?:from|grew up|raised|born) (?:in |near |at )?|老家|长大|出生在|[\u3400-\u9fff]{2}人(?=[，。]|$)",
    ),
    _aspect(
        "health",
        _EATING_ASKED,
        r"\bgo easy on\b|少吃|\ballerg|\bintoleran|\bvegan\b|\bvegetarian\b|"
        r"\b(?:don't|can't|cannot|never|mustn't|doesn't) (?:eat|drink|have|touch|stomach|digest) "
        r"(?!to\b|time\b|much\b|any time\b)|\b(?:makes?|made) me (?:sick|ill)|"
        r"\b(?:off|no(?: more)?) (?:\w+ )?(?:pop|sugar|grapefruit|nuts?|pork|"
        r"shellfish|seafood|caffeine|coffee|booze|sweets|honey|salt|alcohol|bread|meat|dairy|gluten)|过敏|不耐受|不吃(?!了|饭)|吃素|忌口|不能(?:吃|喝|碰)|"
        r"不让(?:吃|喝|沾|碰)|不好吃[，,]|"
        r"[吃喝][^，。]{1,6}就(?:拉|吐|痒|起疹|难受|不舒服|肿)|"
        r"\bco?eliac|\bdiabet|\b(?:lactose|gluten|halal|kosher)\b|\b(?:doctor|doc|gp) (?:says?|said) no \w+|"
        r"糖尿病|血糖|高血压|痛风|乳糜泻|清真",
    ),
    _aspect(
        "health",
        r"\bwrong with\b|\b(?:what|which) (?:illness|disease|condition)|\bsuffer|\bdiagnosed with\b|什么病|哪里不舒服|"
        r"身体怎么",
        r"\b(?:diabet|asthma|cancer|epilep|dementia|alzheimer|parkinson|arthriti|depress|migraine|heart|"
        r"blood pressure|stroke|"
        r"adhd|autis|copd|anaemi|anemi|thyroid|diagnosed|broke (?:his|her|my)|surgery|operation)|糖尿病|高血压|低血糖|"
        r"哮喘|癌|中风|痴呆|"
        r"抑郁|关节炎|心脏|甲状腺|癫痫|骨折|手术|住院|肺炎|肝炎|痛风",
    ),
    _aspect(
        "likes",
        r"\bdo (?:i|we) (?:\w+ )?(?:like|love|enjoy)|(?:喜不喜欢|喜欢|爱)",
        r"\b(?:i|you|we) (?:\w+ )?(?:like|love|enjoy|adore)|喜欢|爱(?=[吃喝看听玩做打])|最爱",
    ),
    _aspect(
        "likes",
        r"\b(?:hate|dislike|can't (?:i )?stand|don't (?:i )?like)\b|讨厌|不喜欢|受不了",
        r"\b(?:hate|dislike|loathe|detest|can't (?:stand|bear)|don't like|not keen on)\b|讨厌|不喜欢|受不了|不爱",
    ),
    _aspect(
        "about",
        r"\b(?:scared|afraid|frightened|terrified|fears?|phobias?)\b|怕(?:什么|啥)|害怕",
        r"\b(?:scared|afraid|frightened|terrified) of\b|\bphobi|恐高|恐惧|怕(?!吵|麻烦)",
    ),
    _aspect(
        "likes",
        r"\binstruments?\b|乐器",
        r"\b(?:piano|cello|violin|viola|guitar|drums?|flute|clarinet|trumpet|sax\w*|bass|ukulele|harp|organ|accordion|"
        r"keyboard|trombone|fiddle|banjo|oboe|recorder)\b|琴|吉他|鼓|笛|二胡|琵琶|古筝|萨克斯|贝斯|口琴|唢呐|葫芦丝",
    ),
    _aspect(
        "about",
        r"\blanguages?\b|什么语|哪国话|语言",
        r"\b(?:english|french|german|spanish|italian|portuguese|welsh|irish|dutch|polish|russian|ukrainian|turkish|"
        r"greek|"
        r"arabic|hebrew|hindi|urdu|bengali|chinese|mandarin|cantonese|japanese|korean|vietnamese|swedish|norwegian|"
        r"danish|finnish|latin|esperanto)\b|[英法德日韩俄西葡意粤泰]语|日文|英文|普通话|方言",
    ),
)


def aspects_asked(text: str) -> Sequence[Aspect]:
    """The aspects that a question, or the words of a search, ask for.

    >>> [aspect.domain for aspect in aspects_asked("How old is my son?")]
    ['about']
    """
    return [aspect for aspect in ASPECTS if aspect.asks.search(text)]


def is_told_in(text: str, aspects: Sequence[Aspect]) -> bool:
    """Whether a sentence states any of these aspects.

    >>> [is_told_in(text, aspects_asked("my job")) for text in ("I'm a night nurse.", "I drive a green car.")]
    [True, False]
    """
    return any(aspect.tells.search(text) for aspect in aspects)


def asks_what_is_eaten(text: str) -> bool:
    """Whether a question asks what somebody eats, may eat, or must not.

    >>> [asks_what_is_eaten(text) for text in ("what can't Rory eat?", "我能吃西瓜不", "Can I have a word?")]
    [True, True, False]
    """
    return _ASKS_OF_EATING.search(text) is not None


_DAY_ASKED = re.compile(
    r"\b(?:when|(?:what|which) (?:day|date|weekday|weekend|month|time of year)|how long (?:ago|until|till))\b|"
    r"哪天|哪一天|哪日|几号|几月|什么时候|何时|多久|星期几|周几|礼拜几|哪年|哪个月",
    re.I,
)
_BOTH = re.compile(r"\b(?:we|us|our|ours|both of)\b|我们|咱|[你我]俩", re.I)
_OWN = re.compile(r"\b(?:i|my|me|mine|myself)\b|我", re.I)
_YOURS = re.compile(r"\b(?:you|your|yours|yourself)\b|你", re.I)
# Words addressed to the listener, which are about nobody.
_FRAME = re.compile(
    r"\b(?:do|don't|can|could|would|did) you (?:still |even )?(?:remember|recall|know|think|guess|say)\b"
    r"|\b(?:(?:can|could|would|will) you )?(?:please )?(?:tell|remind) me\b"
    r"|\b(?:did i|have i(?: ever)?|i(?:'ve)?(?: ever)?) (?:tell|told|mention(?:ed)?)(?: to)? you\b"
    r"|你(?:还|有没有)?(?:记(?:不记)?得|知(?:不知)?道|觉得|认为|猜)|(?:请|能不能|可以)?(?:告诉|提醒)我|"
    r"我?(?:有没有)?(?:跟|和|对|向)你(?:说|讲|提|聊)",
    re.I,
)


def domains_asked(text: str) -> list[str]:
    """The domains of facts that a question is about; none if `text` is not a question.

    >>> domains_asked("What's my job?"), domains_asked("我对什么过敏？"), domains_asked("I love my job.")
    (['work'], ['health'], [])
    """
    return domains_of(text) if is_question(text) else []


def domains_of(text: str) -> list[str]:
    """The domains of facts that a text names, question or not.

    >>> domains_of("my job"), domains_of("我的过敏"), domains_of("the lighthouse")
    (['work'], ['health'], [])
    """
    return [domain for domain, words in _DOMAINS.items() if words.search(text)]


def asks_for_day(text: str) -> bool:
    """Whether a question asks when something was or will be.

    >>> asks_for_day("On which date did I move?"), asks_for_day("我们哪天登记的？"), asks_for_day("Where do I live?")
    (True, True, False)
    """
    return bool(_DAY_ASKED.search(text)) and is_question(text)


def person_asked_about(text: str, user_name: str, persona_name: str) -> Literal["", "user", "persona"]:
    """Whom a question is about, by a pronoun or a name; "" if it is about both or neither.

    >>> [person_asked_about(text, "Ana", "Mira") for text in ("Do you remember my pet?", "Does Mira paint?")]
    ['user', 'persona']
    >>> person_asked_about("What did we do?", "Ana", "Mira"), person_asked_about("你还记得我住哪里吗？", "安娜", "米拉")
    ('', 'user')
    """
    if not is_question(text):
        return ""
    question = re.sub(
        rf"^\W*{re.escape(persona_name)}\s*[,，]|[,，]\s*{re.escape(persona_name)}\W*$", " ", text, flags=re.I
    )
    core_question = _FRAME.sub(" ", question)
    is_user = _OWN.search(core_question) is not None or _is_named(user_name, core_question)
    is_persona = _YOURS.search(core_question) is not None or _is_named(persona_name, core_question)
    if is_user == is_persona or _BOTH.search(core_question):
        return ""
    return "user" if is_user else "persona"


def _is_named(name: str, text: str) -> bool:
    before, after = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])") if name.isascii() else ("", "")
    return bool(name) and re.search(f"{before}{re.escape(name)}{after}", text, re.I) is not None
