"""How heavy a sentence weighs, on the scale of seed 001 (−10 … 10): small English and Chinese lists.

Made for gates alone: whether a memory shocks, and which words come before others. Whether words speak of a crisis is
for `chat.care` to hear. It is no
model of emotion, and nobody is told what they feel by it: the strongest word wins, and a negation before it turns it
around and weakens it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten
from echovessel.language.sentences import CJK, sentences
from echovessel.language.stories import is_of_a_story


@dataclass(frozen=True)
class Feeling:
    """A weight, and the words (divided by "|") and patterns that show it."""

    weight: int
    words: str
    patterns: tuple[str, ...] = ()


# 走了, 没了 and "lost" tell of a death only where they are said of someone near, by name or not: 我的狗豆豆去年走了.
ELDERS_ZH = "奶奶?|爷爷?|外婆|外公|姥姥|姥爷|妈妈?|爸爸?|爹|娘|母亲|父亲|老伴|老头子?|老太太"
PETS_ZH = "猫|狗|兔子|仓鼠|鹦鹉|乌龟"
NEAR_ZH = f"{ELDERS_ZH}|老公|老婆|丈夫|妻子|儿子|女儿|孩子|宝宝|哥哥?|弟弟?|姐姐?|妹妹?|{PETS_ZH}"
WHEN_ZH = (
    r"(?:是|在|昨天|昨晚|今天|今早|前天|上周|上个月|[去前今]年|刚刚?|突然|忽然|已经|终于|也|就这样|就|"
    r"永远地?|还是|最后|安详地?|前几天|[春夏秋冬]天?|清明|中秋|冬至|过年|腊月|年[前后初底]|前|后|"
    r"[\d一二三四五六七八九十]+月|"
    r"[一二两三四五六七八九十几\d]+(?:天|年|周|个月)前)"
)
NAME_ZH = r"(?:[，,]?(?:叫)?[\u3400-\u9fff]{1,3}?)?"
NOT_LEFT_ZH = (
    r"(?![，,](?:去|回|上班|出差))(?![^。，,！？!?]{0,3}(?:去|回|出差|上班|上学|路|进|出|"
    r"[一二两三四五六七八九十几\d]|会儿|吧))"
)
NEAR_EN = (
    "mom|mum|mother|dad|father|brother|sister|grandma|grandpa|grandmother|grandfather|gran|nana|husband|wife|"
    "son|daughter|baby|child|twins|aunt|uncle|cousin|parents|best friend"
)
SOMEONE = (
    rf"(?:he|she|they|who|someone|somebody|(?:a|the|this|my|his|her)\s+(?:\w+\s+){{0,2}}?(?:man|guy|boy|woman|"
    rf"girl|stranger|"
    rf"ex|boyfriend|girlfriend|partner|teacher|boss|stepdad|stepfather|stepmother|coach|roommate|bully|bullies|"
    rf"{NEAR_EN}))"
)

# Beginning with the strong-emotion keywords of seed 000.
ILL = -6
FEELINGS = (
    Feeling(-10,
        "不想活|活不下去|自杀|想死|结束生命|活着累|活着好累|活着没意思|轻生|自残|suicide|suicidal|kill myself|"
        "end my life|self-harm|"
        "hurt myself|end it all|tired of living|no reason to live|better off dead",
        (r"\bkill (?:my|him|her|them|your)sel(?:f|ves)\b", r"\bend(?:ing)? (?:my|their|his|her|"
         r"your) life\b", r"\bwants? to die\b",
         r"\b(?:don't|doesn't|do not|does not|not) want(?:ing)? to (?:live|be alive|exist)\b(?! (?:in|with|at|"
         r"there|here|near|on)\b)",),
    ),
    Feeling(-8,
        "熬不下去|cannot go on|had a breakdown|having a breakdown|nervous breakdown|mental breakdown",
        (rf"(?:^|[，。！？、\s我他她你人快要好太真得都]|情绪|精神|心态|{NEAR_ZH})(?:也|都|又|已经|几乎|有点|实在|"
         rf"彻底|真的|快)*(?:撑不住|崩溃|绝望)",
         rf"\b(?:i|i'm|we|we're|he|she|he's|she's|me|(?:{NEAR_EN})(?:'s)?|marriage)\b[^.!?,;]{{0,24}}"
         r"\b(?:can't go on|falling apart|hopeless|breaking down)\b", r"^(?:can't go on|falling apart|hopeless)\b"),
    ),
    Feeling(-9,
        "去世|死了|离世|葬礼|过世|病逝|逝世|遇难|离开人世|永远离开了|died|passed away|funeral|is dead|are dead|"
        "put to sleep|"
        "was killed|got killed|stillborn|家暴|强奸|性侵|猥亵|虐待|施暴|raped|molested|sexually assaulted|"
        "domestic violence|abused me|abuses me|was abused|been abused|was assaulted|got assaulted",
        (rf"(?:{ELDERS_ZH}|{PETS_ZH}){NAME_ZH}{WHEN_ZH}*走(?:了|的){NOT_LEFT_ZH}",
         rf"(?:{ELDERS_ZH})[^，。！？]{{0,10}}(?:那年|那会儿|的时候|岁时?)就?走(?:了|的){NOT_LEFT_ZH}",
         r"(?:奶奶|爷爷|外婆|外公|姥姥|姥爷)[^。！？]{0,10}[，,](?:[去前]年|[一二两三四五六七八九十几\d]+年前|[春夏秋冬]天?|清明|"
         r"[\d一二三四五六七八九十]+月)+走的(?=\s*(?:[。！!，,]|$))",
         rf"(?:{NEAR_ZH}){NAME_ZH}{WHEN_ZH}*没(?:了|的)(?=$|\W)",
         r"\b(?:he|she|it|dad|mum|mom|brother|sister|wife|husband|gran\w*) passed(?: (?:in|on|last|this|two|three|"
         r"a)\b|[,.!?]|$)(?! (?:exam|test))",
         rf"\blost (?:my|our|his|her|the) (?:\w+ )?(?:{NEAR_EN})\b(?! in| at)",
         r"被(?!子)[^，。,.！？!?]{0,6}打(?!断|扰|动|败|击|开|扮|乱|折|磨|包|印|赏)",
         r"(?:打|揍|踢|掐)(?:了|过)?我(?!的?(?:电话|手机)|招呼|气|字|主意)",
         rf"\b{SOMEONE}\s+(?:\w+\s+){{0,2}}?(?:hit|hits|hitting|beat|beats|beating|punched|punches|slapped|slaps|"
         rf"kicked|choked|"
         r"strangled|attacked) (?:me|us)\b(?! up\b(?! bad)| at\b| to\b| by\b| in (?:the|a) (?:game|race|final)|"
         r" with (?:a|the|his|her) "
         r"(?:news|question|idea|bill))",
         r"\b(?:was|got|been|get) (?:beaten|punched|slapped|stabbed|shot|mugged)\b",),
    ),
    Feeling(-8,
        "车祸|心脏病发|心梗|脑溢血|中风|病危|抢救|heart attack|car accident|car crash|had a stroke|overdose|overdosed|"
        "in a coma|intensive care",
    ),
    Feeling(-7,
        "跟他分了|跟她分了|"
        "分手|离婚|被裁|被开除|失业|流产|确诊|癌症|出轨|劈腿|破产|复发|breakup|broke up|broke up with me|"
        "divorce|divorced|"
        "got fired|was fired|fired me|laid off|lost my job|miscarriage|miscarried|cancer|cheated on me|"
        "evicted|bankrupt|relapsed|dumped me",
    ),
    Feeling(-6,
        "霸凌|被欺负|恨我自己|讨厌我自己|讨厌自己|恨自己|bullied|hate myself",
        ("没(?:有)?(?:一个)?人(?:会|真的|真正|愿意)*(?:爱|喜欢|在乎|关心|理解|懂|要)我",
         r"\b(?:nobody|no one|noone)(?: \w+)? (?:loves?|likes?|cares?|understands?|wants?)\b(?! (?:it|this|that))",),
    ),
    # Somebody is ill.
    Feeling(ILL,
        "lump|tumour|tumor|biopsy|chemo|chemotherapy|not well|unwell|dementia|alzheimer's|alzheimers|parkinson's|"
        "broke her hip|broke his hip|in hospital|in the hospital|intensive care|"
        "脑梗|脑出血|帕金森|老年痴呆|阿尔茨海默|肿瘤|化疗|透析|保胎|住院|病倒|肝癌|肺癌|胃癌|乳腺癌|白血病",
        (r"\bgets? lost (?:driving|walking|on (?:the|her|his) way)\b", r"\btore (?:my|her|his|their|an?) \w+\b",
         r"\bcan't (?:remember|recogni[sz]e) (?:me|us|her own|his own)\b",),
    ),
    Feeling(-5, "害怕|恐惧|吓坏|afraid|scared|terrified|panic attack|depressed|抑郁|heartbroken"),
    Feeling(-4,
        "难过|伤心|痛苦|孤独|哭|失望|委屈|失败|sad|lonely|cried|crying|miserable|disappointed|unhappy|failed|"
        "sick|生病|吵架|"
        "argument|住院|生气|愤怒|气死|受够|讨厌|angry|furious|hate|fed up",
        (r"\b(?:had|have|need) a\s+(?:\w+\s+)?cry\b",
         r"\b(?:i|we) lost(?=\W*(?:$|[,.;!?]|and\b| the (?:game|match|race|case)))",),
    ),
    Feeling(-3, "想念|怀念|思念|舍不得|放不下|miss him|miss her|miss them|miss my|焦虑|担心|紧张|压力|失眠|anxious|"
                "worried|nervous|stressed|insomnia|overworked"),
    Feeling(-2, "累|疲惫|加班|tired|exhausted|worn out|overtime"),
    Feeling(-1, "烦|无聊|堵车|annoying|annoyed|bored|frustrating"),
    Feeling(9, "当妈妈了|当爸爸了|出生了|gave birth|was born today|became a mother|became a father"),
    Feeling(8, "痊愈|康复了|病好了|in remission"),
    Feeling(7, "领证|领了证|结婚|订婚|求婚|怀孕|got engaged|engaged|got married|getting married|pregnant"),
    Feeling(5,
        "证过了|买房|开业|开张|当店长|high distinction|first house|own place|signed the lease|got a lease|got in at|"
        "升职|录取|毕业|考上|考过|面试过|拿到offer|得奖|第一名|满分|promoted|promotion|graduated|graduation|got "
        "accepted|"
        "got the job|"
        "won",
        # An examination that was passed; "passed the salt" and 下午过了 tell of none.
        (r"\bpassed(?: \w+){0,5} (?:tests?|exams?|finals|certification|licen[cs]e|interview|probation|viva|audition|"
         r"assessment|inspection|qualification)\b",
         r"\b(?:i|we)(?:'ve| have)? (?:just |finally |even |actually )?passed(?: (?!out|by|on|up|away|him|her|it|them)"
         r"\w+)?(?=\s*(?:[.!,]|$))",
         r"(?:考试|[证考试]|师|[一二三四五六]级|科目?[一二三四]|驾照|笔试|答辩|评审|资格)[^，。！？]{0,3}过了(?=\s*(?:[！!。，,~]|$))"),
    ),
    Feeling(4, "wedding|开心|高兴|快乐|幸福|太好了|感动|happy|happier|excited|thrilled|wonderful|amazing|perfect|"
               "brilliant|fantastic|great news|good news|so glad"),
    Feeling(3, "期待|希望|憧憬|looking forward|can't wait|hopeful"),
    Feeling(2,
        "喜欢|爱|可爱|调皮|好玩|有趣|收养|领养|love|i like|really like|adore|cute|playful|fun|funny|enjoy|adopted|"
        "proud|grateful",
    ),
    Feeling(1, "不错|舒服|好吃|挺好|nice|good|pleasant|tasty|fine"),
)  # fmt: skip

THINGS_EN = (
    "phone|battery|laptop|computer|car|engine|wifi|internet|conversation|chat|tv|camera|tablet|bike|plant|server|screen"
)
# Sayings that mean something else than their words; what they mean in truth stands after them.
SAYINGS: tuple[tuple[str, str], ...] = (
    (r"(?:细胞|细菌|程序|进程|职业|政治|经济)(?:的)?自杀|(?:像|等于|相当于|如同)自杀|自杀(?:式|小队|炸弹|袭击|攻击|"
     r"论|率|预防|干预)", " "),
    (r"\bsuicide (?:bomb\w*|squad|attack\w*|missions?|rates?|prevention|hotline|doors?)\b|"
     r"\b(?:career|social|political|professional|financial|commercial|cell(?:ular)?) suicide\b|"
     r"\bcells?(?: \w+){0,3} (?:kill(?:ing)?|destroy(?:ing)?) themselves\b", " "),
    (rf"\b(?:{THINGS_EN}|plants?|flowers?|characters?|hero|villain|protagonist|cells?|fish)s? (?:just )?"
     r"want(?:s|ed)? to (?:die|end it all)\b", " "),
    (r"[到得](?:我|人)?(?:都)?想死", " "),
    (r"\byou died\b", " "),
    (rf"\b(?:{THINGS_EN})s?\b(?:'s)?(?: \w+)?? (?:died|is dead|are dead|had a breakdown)\b", " "),
    (r"\bdied (?=laughing)|\b(?:almost|nearly|basically|literally|just) died "
     r"(?:of|from|with|laughing|inside)\b", " "),
    (r"\bdied (?:of|from) (?:laughter|laughing|boredom|embarrassment|shame|cringe|excitement|curiosity)\b|"
     r"\bdied inside\b", " "),
    (r"\b(?:nobody|no one|noone|no-one|none of \w+|not one) (?:has |have |had )?(?:died|is dead|was killed)\b", " "),
    (r"\b(?:don't|do not|never) want to die\b", " "),
    (r"(?:手机|电脑|电池|网|车|花|草|系统|程序|软件|服务器|进程)(?:都|也|又|已经)?(?:死了|崩溃)(?:了)?", " "),
    (r"没(?:有)?人(?:死了|去世|受伤)", " "),
    (r"气死(?:我|人)?了?", "生气"),
    (r"吓死(?:我|人)?了?", "害怕"),
    # 饿死了: a feeling carried to its end, not a death. Only what can be felt stands before it.
    (
        r"(?<=[饿累笑兴心爱困烦气热冷渴急吓美聊慕闷尬帅甜酸痛疼恨厌动福难过丑香臭辣咸苦忙羞怕撑胀晕堵贵挤吵丢穷闲懒爽萌土燃惜望张怨腻痒慢远])"
     r"死(?:我|人|你|他|她)?了?", " "),
    (r"(?<=[好可])想死(?:你|他|她|它|我)|(?<!不)想死(?:你|他|她|它|我)(?:了|啦|们)?|死定了|死机", " "),
    (r"(?:战胜|打败)了?癌症", "痊愈"),
    (r"癌症[^，。！？!?]{0,6}(?=痊愈|康复|好了|治好|消失)", " "),
    (r"\bcancer[- ]free\b|\b(?:beat|survived|overcame) (?:the |my |his |her )?cancer\b", "in remission"),
    (r"\b(?:i'm|i am|he is|he's|she is|she's) a cancer\b(?! (?:patient|survivor))", " "),
    (r"\bengaged (?=in\b|with\b|by\b)|\bbusy and engaged\b", " "),
    (r"\b(?:they|he|she|it|the other (?:team|side)|our opponents?|someone else|somebody else) won\b", " "),
    (r"\bgood (?=cry\b|grief\b|night\b|morning\b|evening\b|afternoon\b|bye\b|luck\b)|\bfor good\b", " "),
    (r"\b(?:car|bus|train|truck) breakdown\b", " "),
)  # fmt: skip

# "I never felt so happy" and 从没这么开心过 raise the word they seem to deny.
RAISED = re.compile(
    r"\bnever\s+(?:\w+\s+){0,3}?(?:so|this|more|as|such|happier)\s+(?:\w+\s+)?$|"
    r"\bnever\s+(?:been|felt)\s+$|\bcouldn't be (?:more )?$|没(?:有)?(?:这么|那么这么|如此)$"
)
# Characters that mean something else inside these words.
NOT_MEANT = {
    "爱": "可爱|恋爱|爱好|爱人|亲爱|爱情|没(?:有)?人[^，。]{0,4}爱",
    "累": "积累|累计|累积",
    "烦": "麻烦",
    "哭": "笑哭|哭笑",
}
NOT_BEFORE_ZH = re.compile(r"(?:不|没|别|不太|不怎么|没那么|不是很|并不)(?:太|怎么|很|是很|那么|再|会|觉得|感到)?$")
NOT_BEFORE_EN = re.compile(
    r"(?:\bnot|n't|\bnever|\bno longer|\bno|\bwithout|\bhardly)\s+(?:\w+\s+)?$|"
    r"(?:\bcan't say|\bcannot say|\bcan't call|\bdon't think|\bdoubt|\bwish|\bif only)\b[^.,;!?]{0,24}$"
)
SOFTENED = 0.5
LIGHT = 4  # what a story makes somebody feel
# A heavy thing that did not happen is no good news, it is nothing.
DENIED_TO_NOTHING = -7


def impact_of(text: str, near: Iterable[str] = ()) -> int:
    """How heavy `text` weighs. What happens in a film, in the news or to cells weighs lightly. `near` are Chinese names
    of people and pets: of whom 走了 is said decides what it means.

    >>> [impact_of(text) for text in ("妈妈去世了", "I'm not happy", "我先走了", "The hero dies in the film.")]
    [-9, -2, 0, 0]
    """
    weights = []
    for name in near:
        text = text.replace(name, PETS_ZH[0]) if CJK.search(name) else text
    for start, end in sentences(text):
        lower = straighten(text[start:end].casefold())
        for saying, meant in SAYINGS:  # they would be taken by the word
            lower = re.sub(saying, meant, lower)
        limit = LIGHT if is_of_a_story(lower) else max(abs(feeling.weight) for feeling in FEELINGS)
        weights += [_impact(feeling, lower) for feeling in FEELINGS if abs(feeling.weight) <= limit]
    # "My pregnant cousin is in hospital" is no good news.
    return ILL if ILL in weights and max(weights) > 0 else max(weights, key=abs, default=0)


def _impact(feeling: Feeling, lower: str) -> int:
    """The weight of one feeling in a text; 0 if nothing shows it."""
    present = (word for word in feeling.words.split("|") if word in lower)
    starts = [match.start() for word in present for match in _matches(word, lower)]
    starts += [match.start() for pattern in feeling.patterns for match in re.finditer(pattern, lower)]
    weights = []
    for start in starts:
        before = lower[max(0, start - 40) : start]
        if RAISED.search(before) or not (NOT_BEFORE_ZH.search(before) or NOT_BEFORE_EN.search(before)):
            weights.append(feeling.weight)
        elif feeling.weight > DENIED_TO_NOTHING:
            weights.append(round(-feeling.weight * SOFTENED))
    return max(weights, key=abs, default=0)


def _matches(word: str, lower: str) -> list[re.Match[str]]:
    if word in NOT_MEANT:
        lower = re.sub(NOT_MEANT[word], lambda match: " " * len(match[0]), lower)
    pattern = re.escape(word) if CJK.search(word) else rf"(?<![a-z]){re.escape(word)}(?![a-z'])"
    return list(re.finditer(pattern, lower))
