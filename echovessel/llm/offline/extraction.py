"""What the owner said that is worth keeping, in their own words: the shape of the extraction answer.

A memory of these rules is a quotation, "Ana: “My sister Rosa lives in Lisbon.”", in the form of a message that somebody
asked to have remembered. Rules conclude nothing and put nothing in other words: a sentence in the third person would be
theirs, and wrong where they err. A sentence is kept where the owner tells of themselves, of somebody by name, of what
lies ahead or of something heavy; as many as there are, for nothing is summed up. Requests to the persona are none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from echovessel.language import lazy_re as re
from echovessel.language.corrections import apply_correction
from echovessel.language.dates import Days
from echovessel.language.day_spans import days_meant
from echovessel.language.fact_domains import ASPECTS, is_told_in
from echovessel.language.health import bears_on_health
from echovessel.language.named_days import named_days, only_day
from echovessel.language.person_names import occurs
from echovessel.language.requests import Request, read_requests
from echovessel.language.sentences import (
    CJK,
    LEAD_IN,
    WORD,
    asks,
    clauses,
    holds,
    is_question,
    is_small_talk,
    sentences,
    topics,
)
from echovessel.language.small_talk import says_nothing
from echovessel.language.tokenizer import content_words
from echovessel.llm.offline.feeling import impact_of
from echovessel.llm.offline.names import (
    BEARERS,
    BEARERS_EN,
    BEARERS_ZH,
    Named,
    find_clarifications,
    names_in,
    relation_of,
)
from echovessel.llm.offline.phrases import says_no_more_than_stock

QUOTATION = {"en": "{name}: {quotes}", "zh": "{name}：{quotes}"}
LISTENING = {"en": "listening", "zh": "在听"}
MAX_QUOTE = 600  # characters; of a longer one the beginning
HEAVY, WEIGHTY = 7, 6
CRY, MILD = -7, 3
MAX_ADDRESSEES = 2
WORTH_KEEPING = 2
MIN_WORDS = 3
MIN_TOLD = 2  # words that say something; "like a baby" says nothing
MAX_DRAFTS, MAX_DRAFT = 12, 300
# What stays so: who the owner is, where they live, what they do, whom they have.
SAYS_WHO = re.compile(
    r"\bi(?:'?m| am) (?:an? (?!bit|little|lot|few)\w+|from [A-Z]|\d\d\b|married|single|divorced|retired|vegan|"
    r"vegetarian)|"
    r"\bi (?:live in|work (?:as|at|in|for)|teach|was born|grew up|come from|have (?:an?|one|two|three|four) (?:\w+ )?"
    r"(?:sons?|daughters?|kids?|children|brothers?|sisters?|cats?|dogs?))\b|"
    r"我(?:现在|平时)?(?:住在|来自|出生在|在[^，。]{1,12}(?:工作|上班|教书|当)|是(?:一?[个名位])?[^，"
    r"。说不想]{0,8}(?:师|员|医生|护士|学生|人|工)|"
    r"有[一两二三四]个?(?:孩子|儿子|女儿|哥哥|弟弟|姐姐|妹妹))",
    re.I,
)
LIES_AHEAD = re.compile(
    r"\b(?:will|'ll|going to|gonna|due|next|coming|(?:i'm|we're|'s|is|are) (?:\w+ly )?\w+ing|planned|booked|plan|"
    r"off to|leaving|starting|flying|(?:start|leave|end|begin|open|expire)s|runs out|can't wait|dreading|"
    r"(?:exam|interview|appointment|wedding|flight|surgery|operation|deadline|trip|concert|test)s? (?:is|are))\b|"
    r"\b(?:have|has|need) to\b|\bmust\b|\bby (?:the )?\d|要|打算|准备|定在|约了|下次|下周|下个月|预产期|将",
    re.I,
)
LIES_BEHIND = re.compile(
    r"\b(?:was|were|did|had|went|came|got|\w+ed|quit|left|met|fell|saw|lost|bought|sold|told|made|took|gave|found|ran|"
    r"said|felt|flew|drove|ate|spent|won|began|became|wrote|heard|brought|sent|paid|broke|split|since|past)\b|了|过",
    re.I,
)
# What says of which year or week a time is, and what comes again and again.
SAYS_WHICH = re.compile(
    r"\b(?:\d{4}|ago|last|this|next|before last|past)\b|\d{2,4}年|[上下这本]个?[周月星礼]|[去今明前后]年|[前后](?!面)",
    re.I,
)
RETURNS = re.compile(
    r"\b(?:every|each|usually|always|often|never|most|whenever|born|birthdays?|hate|like|love)\b|[每总]|平时|一到|生日|"
    r"出生|喜欢|讨厌",
    re.I,
)
MAX_SPAN = 100  # days
BEFORE_OR_TO_COME = 2
# What is only imagined, dreamt, or put into somebody's mouth.
NOT_SO = re.compile(
    r"^\W*(?:if (?:only )?i\b|if we (?:won|win|had)|imagine\b)[^.]*\b(?:would|could|'d|i'll|we'll)\b|"
    r"\bi (?:dreamt|dreamed|had a dream|had this dream)\b|\b(?:to|on) (?:the moon|mars)\b|"
    r"\b(?:you'd|you would|you'll|you probably|i bet you|did you|do you) (?:guess|think|thought)\b|"
    r"(?:要是|如果|假如|万一|哪天)[^。]{0,24}(?:我)?(?:就|也)[^。]*|我要有钱|做梦|梦见|梦到|中了?五百万|"
    r"你(?:是不是)?(?:觉得|以为|想说)我",
    re.I,
)
CLAUSE_BEFORE = re.compile(r".*[,，.。;；!！]", re.DOTALL)
# What was read or seen: "I read about a guy", 看新闻说.
OF_A_SHOW = re.compile(
    r"\bi (?:just )?(?:read|saw|watched|heard) (?:about |of )?(?:a|an|this|some) (?:\w+ )?(?:guy|man|woman|film|movie|"
    r"show|series|story|video)\b|看(?:了个|了部|了一部)?(?:电影|电视|新闻|剧|视频|综艺)",
    re.I,
)
# So many statements before a correction are looked at for what it corrects.
LATELY = 4
NEVER_KEPT = ("forget", "forget_this", "wish", "name")

FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|My|we|We|our|Our|us)\b|我|咱")
CONTINUES = re.compile(
    r"^(?:他|她|它|而且|然后|还有|因为)|^(?:he|she|it|they|his|her|its|their|and|also|since|because)\b", re.I
)
# A sentence without a subject of its own goes on with the one before: "Pickle. Two years old.", 「柯基，两岁。」
ASIDE = re.compile(r"\b(?:i (?:think|guess|mean|suppose|hope|reckon|know)|you know|i'm not sure)\b", re.I)
STANDS_ALONE = re.compile(
    rf"^{LEAD_IN}(?:(?:i|we|you|my|our|your|there|here|this|that|these|those|what|who|how|why|if|when|please|let)\b|"
    rf"(?:{BEARERS_EN})(?:'s|s)?\b|(?:got|been|had|went|met|bought|sold|lost|found|passed|failed|moved|started|quit|"
    r"finished|booked|joined|broke|won) (?:\w+\W+){2}|[\w-]+[^,]*? (?:is|are|was|were|has|have|had|does|did|will|"
    r"would|can|could|should|must|isn't|wasn't|doesn't|didn't|won't|can't)\b)|(?<!time )\b(?:i|we)(?:'\w+)?\b|"
    rf"^\W*(?:我|咱|你|您|大家|今[天早晚]|昨[天晚]|明[天晚]|这|那|(?:{BEARERS_ZH})(?!叫))",
    re.I,
)
WHOM = re.compile(rf"^\W*(?:(?:my|our) (?:\w+ )?(?:{BEARERS_EN})|我(?:{BEARERS_ZH}|[妈爸哥姐弟妹]))\W*$", re.I)
WHERE_OR_WHEN = re.compile(r"^(?:in|on|at|to|with|from|for|by|because|since|until|near|under)\b|^[在从跟因给]", re.I)
FILLER = re.compile(
    r"\b(?:anyways?|whatever|finally|honestly|seriously|obviously|lmao|lol|tbh|idk|omg|ugh|damn|true|btw|guess what|"
    r"never ?mind|phew|yeah|yes|nope?|me too|same|here|idea|maybe|perhaps|exactly|not|nothing|please|again)\b|"
    r"不?知道|可能|也许|大概|随便|没什么|不(?:清楚|用|是|行)|可以|当然|其实|抱歉|再说|[是对行没事哎唉诶]",
    re.I,
)
MAX_FRAGMENT = {False: 9, True: 14}  # English words, Chinese characters
SOON = timedelta(minutes=30)
# What lasts, or lies ahead, or is promised.
TELLS_OF_SELF = re.compile(
    r"\b(?:i(?:'?m| am)(?: also| still| now)? (?:an? |from |on (?:the|a)\b|allergic|vegetarian|vegan|married|single|"
    r"divorced|(?:left|right)[ -]handed|\d)|(?:i|we) used to|"
    r"i (?:also |still |now |really |only |never |always |don't |can't |do not |cannot )?(?:have|own|play|speak|stand|"
    r"collect|study|studied|teach|work|worked|live|lived|grew|like|love|hate|prefer|enjoy|eat|drink|take|wear|drive|"
    r"run|sing|swim|swam|taught|retired|served|won|passed|failed|graduated|learned|learnt|wrote|built|ride|see|saw|"
    r"paint|cook|need|use|plan|want|hope|decided|promised|started|stopped|quit|joined|bought|sold|moved|met|applied)\b|"
    r"i do (?:nights?|shifts?|days|weekends)|(?:i|we)(?:'ll| will|'(?:m|re) going| am going|'(?:m|re) (?:planning|"
    r"learning|training|moving|starting|saving|trying)|'ve been)\b|i'm thinking\b|"
    r"(?:my|our) (?:[\w'-]+ ){1,4}(?:is|are|was|were|has|have|had|lives?|works?|starts?|comes?|goes|died|left|will)\b|"
    r"(?:my|our) \w+'s (?:on|in|at|an?|the|called)\b)|"
    r"我(?:们)?(?:现在|平时|还|也|只|从小|从来|一直|不|不能|每天|每周|最)*(?:是(?!说|不是|想|觉得|在|真)|叫|姓|住|"
    r"在[^，。]{1,12}(?:工作|上班|上学|读书|长大|做|当|教|打工|实习)|来自|出生|喜欢|爱|讨厌|怕|养|有(?!点|些)|会|学|练|弹|教|开|吃|喝|"
    r"对[^，。]{1,8}过敏|"
    r"[上倒值][^，。]{0,2}班|打[^，。]{1,4}工|要(?!是)|打算|准备|计划|决定|答应|保证|想(?:去|学|买|换|辞|考|要)|报了|买了|搬|辞|戒)|"
    r"(?:^|[，。])(?:答应|保证|约好|说好|在[^，。]{0,8}(?:学|攒|备考|考|戒|找|做|教|准备)|刚?(?:搬|调|升)[到去了职])|"
    r"家里?(?:有|住|在|养)|不(?:当|做|干)[^，。]{1,8}了|[^，。]{1,6}考了|(?:吃|喝)[^，。]{1,6}不|我(?:的)?[^，。\s]{1,6}(?:是|叫|在|住|有|喜欢|会|要)",
    re.I,
)
# "Ruth lives in York."
TELLS_BY_NAME = re.compile(
    r"^(?!(?:It|This|That|There|He|She|They|We|You|What|Who|Here|Everything|Nothing|Nobody|Everyone|Life|Work|School|"
    r"Home|Today|Yesterday|Tomorrow)\b)[A-Z][a-z]{2,} (?:and [A-Z]\w+ )?(?:is|was|are|were|has|had|have|lives?d?|"
    r"works?|worked|got|likes?|loves?|hates?|moved|died|came|went|called|told|said|wants?|will|left|met)\b"
)
# Who speaks Chinese of themselves often says no 我.
OF_ANOTHER_ZH = re.compile(r"^\W*(?:你|您|它|这|那|谁|大家|人家|别人|有的?人)")
AHEAD = re.compile(
    r"\b(?:(?:on|by|until|before|this|next|coming|every) (?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)days?|"
    r"(?:next|this coming) (?:week|month|year|spring|summer|autumn|fall|winter)|\d{1,2}(?:st|nd|rd|th)\b|"
    r"(?:at|by) (?:\d{1,2}|half|noon)\b|\d{1,2} ?(?:am|pm)\b|o'clock|in (?:january|february|march|april|may|june|"
    r"july|august|"
    r"september|october|november|december))\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天末]|下个?(?:周|月|星期)|[\d一二三四五六七八九十]+[月号](?![\d线楼])|国庆|春节|"
    r"暑假|寒假|年底|月底|月初",
    re.I,
)
# What somebody has or keeps, and where: "I keep the spare key under the blue pot", 藏洗衣机里了.
LASTS = re.compile(
    r"\b(?:i|we) (?:\w+ )?(?:keep|kept|put|hid|left|store|drove|been|got|make|made|told|gave|owe|lent|borrowed|"
    r"saved?|retired)\b|"
    r"\b(?:left|gave|lent|sold) me (?:the|his|her|their|an?|my)\b|"
    r"\b(?:dad|mom|mum|father|mother|parents?|family|folks)(?:'?s)? (?:is |are |comes? )?from \w+|"
    r"^(?:got|been|drove|had) (?:an? |my |to )?\w+|\b(?:never|always|every (?:day|week|month|morning|night|sunday|"
    r"second))\b|"
    r"(?:藏|放|搁|存|收)(?:在|了|到|着|[\u3400-\u9fff]{1,4}(?:里|上|下|底))|每(?:个|天|周|月|年|礼拜)|一直|从不|从来|"
    r"退休|[离结]婚|离了|一[天日][一两三\d]+[片次粒顿颗]|早晚各|"
    r"[\d一二两三四五六七八九十百千万]+(?:年|岁|块|万|千)",
    re.I,
)
MID_CAPITAL = re.compile(
    r"(?<=[a-z,;] )(?!(?:I|I'm|I've|I'd|I'll|OK|TV|God|English|Mum|Mom|Dad|Monday|Tuesday|Wednesday|Thursday|Friday|"
    r"Saturday|Sunday)\b)[A-Z][a-z]{2,}"
)
NEAR = ("person", "pet")
# "I visit her on Sundays": whom, says only the message before.
VISITS = re.compile(
    r"^(?:I|we)\b[^,.]{0,16}\b(?:see|visit|call|ring|meet|help|miss) (?:him|her)\b|^我[^，。]{0,12}(?:看|陪|接|见|找|"
    r"照顾|探望)[望着]?[他她]",
    re.I,
)
# All that "please remember this for me" and 「请帮我记住这个」 are made of: alone they tell nothing.
ASKING_TO_KEEP = re.compile(
    r"\b(?:please|and|oh|can|could|will|would|you|just|always|remember|don't|forget|this|that|it|for|me|ok|okay|"
    r"thanks)\b|请|帮|替|给|你|我|能|要|都|把|一定|记住|记得|别忘了?|这个|这件事|这句话|这些|了|哦|啊|吧|好吗|谢谢",
    re.I,
)
RELATIONAL = {
    "correction": r"其实不是|实际上不是|不是这样|你记错|说错了|"
    r"actually,? (?:that's|it's|no)|i meant|you got (?:it|that) wrong",
    "vulnerability": r"没(?:有)?(?:跟|和|对)(?:任何人|别人|谁)|第一次(?:说|告诉)|"
    r"never told any|nobody knows|no one knows",
    "commitment": r"下次(?:告诉|聊|跟你)|我答应|我保证|i'll (?:tell|let) you|i promise",
    "unresolved": r"算了|不想(?:说|谈|聊)|不说了|never mind|don't want to talk about|forget it",
    "turning-point": r"谢谢你(?:愿意)?(?:听|陪)|我信任你|i trust you|thank you for (?:listening|being)",
    "identity-bearing": r"我是(?:一)?(?:个|名|位)|我(?:有|得了)(?:抑郁|焦虑)症|单亲|"
    r"\bi(?:'m| am) an? \w+|i work as|single (?:mom|mother|dad)",
}  # fmt: skip
# Tags for what is between the two who talk with each other here.
OF_THE_TWO = ("turning-point", "correction", "commitment")

# A question that looks something up tells nothing, however heavy its words.
LOOKS_UP = re.compile(
    r"记得|知道|什么时候|哪天|哪里|哪儿|谁|叫什么|\b(?:remember|recall)\b|"
    r"^(?:so |and |hey )?(?:when|where|who|what|which|whose|how (?:old|many|long|much))\b|^(?:tell|remind|show) me\b",
    re.I,
)
# "Did I tell you I got engaged?": what stands after such a beginning, or before such an end, is told.
TELLING = re.compile(
    r"^(?:did|have) i (?:ever |already )?(?:tell|told|mention|mentioned)(?: to)?(?: you)?,?\s+(?:that |"
    r"about how )?(?=\w)|^(?:do you |can you )?(?:know|believe|imagine) (?:that |what )?(?=i\b|my\b)|"
    r"^(?:我(?:之前|上次)?(?:有没有|是不是)?(?:跟|和|对)你(?:说|讲|提)过(?:没有)?|你知道吗?)[，,]?(?=\S)",
    re.I,
)
WHAT_NOW = re.compile(
    r"(?:我)?(?:现在)?(?:该|应该|要|到底)?(?:怎么办|咋办|怎么做|如何是好)(?:才好)?(?:呢|啊|呀)?[？?。.!！]*$|"
    r"[吗么？?]+$"
)
OPENS_A_CONDITION = re.compile(
    r"^(?:if|when|while|after|before|since|until|unless|because|as)\b|^(?:如果|要是|假如|万一|等)", re.I
)
CORRECTS = re.compile(
    r"^\W*(?:不对|不是|错了|说错|我说错|等等|其实|actually|no\b|sorry|wait|oops|correction|i meant|i mean)|"
    r"说错了|记错了|打错了|i was wrong|i misspoke|i meant",
    re.I,
)
# Another name, and nothing else: "Oops, I meant Max.", 「不对，是来福。」
ANOTHER_NAME = re.compile(
    r"^\W*(?:[Oo]ops|[Nn]o|[Ss]orry|[Ww]ait)?\W*(?:I meant?|it's)\s+([A-Z]\w+)\W*$|^不对\W*是(\w{2,3})\W*$"
)


@dataclass(frozen=True)
class Statement:
    """What the owner told: a run of sentences of one message, as they stand there, and what later messages add to it.

    `quotes` are of (message id, words), `before` is what was said just before. `now_called` holds the names that were
    put right, `redated` the words with the day that was. `is_new` unless all of it was read before, `is_dated` unless
    nobody knows on what day it was told. `is_cry` where the message was heard as one; `near` are who is known by name.
    """

    quotes: tuple[tuple[str, str], ...]
    day: date
    before: str = ""
    now_called: tuple[tuple[str, str], ...] = ()
    redated: str = ""
    is_new: bool = True
    is_dated: bool = True
    is_asked_for: bool = False
    is_correction: bool = False
    is_cry: bool = False
    follows: bool = False
    speaker: str = ""
    near: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(quote for _, quote in self.quotes)

    @cached_property
    def is_imagined(self) -> bool:
        """Whether it is so in a dream or a thought alone: 「外婆走了，我还会梦到她」 tells something before it."""
        match = NOT_SO.search(self.text)
        before = CLAUSE_BEFORE.match(self.text[: match.start()]) if match else None
        return match is not None and (before is None or len(content_words(before[0])) <= MIN_TOLD)

    @cached_property
    def impact(self) -> int:
        """A cry weighs as one, whatever its words; what somebody only guesses weighs nothing."""
        weight = 0 if self.is_imagined else impact_of(self.text, self.near)
        tells = len(content_words(self.text)) > MIN_TOLD
        return min(weight, CRY) if self.is_cry and tells and weight <= MILD else weight

    @cached_property
    def names(self) -> list[Named]:
        """Who is named in it, by the names that hold in the end."""
        first = self.quotes[0][1]
        found = names_in(self.text, self.before if CONTINUES.search(first) or CORRECTS.search(first) else "")
        right = dict(self.now_called)
        return list(
            {right.get(one.name, one.name): Named(right.get(one.name, one.name), one.kind) for one in found}.values()
        )

    def followed_by(self, other: "Statement", **changes: Any) -> "Statement":
        return replace(self, quotes=(*self.quotes, *other.quotes), is_new=self.is_new or other.is_new, **changes)


def extract(material: Mapping[str, Any]) -> dict[str, Any]:
    """The extraction answer for `material` (its shape is in the package's docstring)."""
    known = {entity["name"]: entity["kind"] for entity in material.get("known_entities", ())}
    kept: dict[str, Statement] = {}
    told = joined(list(_statements(material)))
    near = [name for name, kind in known.items() if kind in NEAR] + [
        one.name for statement in told for one in statement.names if one.kind in NEAR
    ]
    for statement in (replace(one, near=tuple(near)) for one in told):
        if statement.is_new and is_worth_keeping(statement, known):
            kept.setdefault(statement.text.casefold(), statement)
    events = [_event(statement, material) for statement in kept.values()]
    answer = {
        "events": events,
        "mentioned_entities": _entities(list(kept.values()), known, material["user_name"]),
        "entity_clarification": find_clarifications(material),
        # Memory mode listens, and takes no mood from what it hears.
        "session_mood_signal": {"mood": LISTENING[material["language"]], "energy": 5} if events else None,
        "session_summary": "",
        "self_check_notes": "",
    }
    return answer | ({"thoughts": []} if material.get("prose") else {})


def draft_quotations(material: Mapping[str, Any]) -> dict[str, Any]:
    """Drafts of who the owner is, out of what they said of themselves in an import: each a quotation, as memories are.
    Of the persona, and of how it speaks, rules draft nothing."""
    quoted: dict[str, dict[str, Any]] = {}
    for message in material.get("lines", ()):
        if message["role"] != "user" or not message["id"]:
            continue
        content = message["content"]
        told = [span for span in sentences(content) if not is_question(content[slice(*span)])]
        for start, end in told:
            quote = _quote(content, start, end, read_requests(content))
            is_lasting = SAYS_WHO.search(quote) or (FIRST_PERSON.search(quote) and bears_on_health(quote))
            if quote and is_lasting and not AHEAD.search(quote) and len(quote) <= MAX_DRAFT:
                words = QUOTATION[material["language"]].format(name=material["user_name"], quotes=f"“{quote}”")
                evidence = [{"message_id": message["id"], "quote": quote}]
                quoted.setdefault(quote.casefold(), {"label": "user", "text": words, "evidence": evidence})
    return {"drafts": list(quoted.values())[:MAX_DRAFTS]}


def is_worth_keeping(statement: Statement, known: Mapping[str, str]) -> bool:
    """Whether it tells of the owner, of somebody by name, of health, of a day, of something heavy, or was asked for."""
    text = statement.text
    if statement.is_asked_for:
        return True
    words = len(content_words(text))
    if words <= MIN_TOLD and not (FIRST_PERSON.search(text) or statement.names or abs(statement.impact) >= WEIGHTY):
        return False
    if statement.is_cry or bears_on_health(text):
        return True
    if statement.is_imagined or OF_A_SHOW.search(text):
        return False
    if abs(statement.impact) >= WEIGHTY:
        return True
    if statement.is_correction or CORRECTS.search(text):
        return words > MIN_TOLD
    capitals = set(MID_CAPITAL.findall(text)) - {statement.speaker}
    is_named = bool(statement.names or capitals) or any(occurs(name, text) for name in known)
    is_ahead = bool(AHEAD.search(text) or (statement.is_dated and days_meant(text, statement.day)))
    is_ahead = is_ahead and (words > MIN_WORDS or (words > MIN_TOLD and FIRST_PERSON.search(text) is not None))
    is_own = FIRST_PERSON.search(text) or (CJK.search(text) and words > MIN_WORDS and not OF_ANOTHER_ZH.search(text))
    # "Diesel mechanic for the city" leaves out "I'm a".
    start = next((text[first:last] for first, last in sentences(text)), "")
    elided = "" if is_own or CJK.search(text) or not goes_on(start) else re.sub(rf"^{LEAD_IN}", "", text, flags=re.I)
    tells_fact = is_told_in(f"I'm a {elided}" if elided else text, ASPECTS) and bool(is_own or elided)
    tells_fact = tells_fact or any(TELLS_OF_SELF.search(f"{lead} {elided or text}") for lead in ("I", "I'm") if elided)
    told = (is_own or elided, tells_fact or TELLS_OF_SELF.search(text), TELLS_BY_NAME.search(text), LASTS.search(text))
    signs = (*told, statement.impact, is_ahead, is_ahead, is_named, is_named)
    return sum(map(bool, signs)) + min(len(topics(text)), 2) >= WORTH_KEEPING


def joined(told: Sequence[Statement]) -> list[Statement]:
    """`told` in which a message that only goes on with another belongs to it: one that gives a name ("Her name is
    Mia"), or puts a name, a day or a fact right. Both stand there as they were said."""
    kept: list[Statement] = []
    for one in told:
        lately = [at for at in reversed(range(max(0, len(kept) - LATELY), len(kept))) if kept[at].is_new]
        at, changes = _belongs_to(kept, lately, one)
        if at is None:
            kept.append(one)
        else:
            kept[at] = kept[at].followed_by(one, **changes)
    return kept


def _belongs_to(kept: Sequence[Statement], lately: Sequence[int], one: Statement) -> tuple[int | None, dict[str, Any]]:
    """Which of the statements `one` goes on with, and what it changes of it."""
    quote = one.quotes[0][1]
    for at in lately:
        if one.is_correction and any(occurs(name.name, quote) for name in kept[at].names):
            return at, {"is_correction": True}
        if redated := apply_correction(kept[at].text, quote) or apply_correction(kept[at].text, quote, loosely=True):
            return at, {"redated": redated, "is_correction": True}
    named = next((at for at in lately if kept[at].names), None)
    if (
        named is not None
        and CORRECTS.search(quote)
        and not set(holds(quote, BEARERS)) - set(holds(kept[named].text, BEARERS))
    ):
        wrong, right = kept[named].names[-1].name, one.names[0].name if one.names else ""
        alone = ANOTHER_NAME.search(quote)
        if alone and re.search(rf"{re.escape(wrong)}\W*$", kept[named].text):
            right = alone[1] or alone[2]
        if right and right != wrong:
            return named, {"now_called": (*kept[named].now_called, (wrong, right)), "is_correction": True}
    if lately and one.names and CONTINUES.search(quote) and not kept[lately[0]].names:
        return lately[0], {}
    if lately and one.follows and goes_on(quote) and not one.is_asked_for:
        return lately[0], {}
    if lately and one.follows and VISITS.search(quote) and holds(kept[lately[0]].text, BEARERS):
        return lately[0], {}
    return None, {}


def _statements(material: Mapping[str, Any]) -> Iterator[Statement]:
    before = previous = ""
    told_at: datetime | None = None
    for message in material["lines"]:
        if message["role"] != "user":
            told_at = told_at if says_no_more_than_stock(message["content"]) else None
            continue
        content, at = message["content"], datetime.fromisoformat(message["at"])
        follows = told_at is not None and at - told_at < SOON
        told_at = told_at if is_small_talk(content) else None
        day = at.astimezone(ZoneInfo(material["timezone"])).date()
        requests = read_requests(content, previous=previous)
        for start, end in statement_spans(content, is_cry=bool(message.get("crisis")), requests=requests):
            asked = [one for one in requests if one.start < end and start < one.end]
            quote = _quote(content, start, end, requests)
            if quote:
                yield Statement(
                    ((message["id"], quote),),
                    day,
                    before,
                    is_new=not message.get("read"),
                    is_dated=material.get("dated", True),
                    is_asked_for=any(one.kind == "remember" for one in asked),
                    is_correction=any(one.kind == "correction" and (one.sure or one.new) for one in asked),
                    is_cry=bool(message.get("crisis")),
                    follows=follows,
                    speaker=str(material["user_name"]),
                )
                before = quote
                follows, told_at = True, at
            elif any(one.kind in NEVER_KEPT for one in asked):
                follows, told_at = False, None
        previous = content


def _quote(content: str, start: int, end: int, requests: Sequence[Request]) -> str:
    """What of a sentence may be kept: nothing of a request, nor of what is to be forgotten; of a request to remember
    what it is about."""
    quote = content[start:end]
    for one in requests:
        own = range(one.subject_start, one.subject_start + len(one.subject)) if one.subject_start >= 0 else range(0)
        is_meant = (one.start < end and start < one.end) or (bool(own) and own[0] < end and start <= own[-1])
        before = content[start : one.start].rstrip(" ,，;；:：-–")
        is_told_before = len(content_words(before)) > MIN_TOLD
        if one.kind in NEVER_KEPT and one.sure and is_meant:
            if one.kind not in ("wish", "name") or not is_told_before:
                return ""
            quote = before
        if one.kind == "remember" and one.sure and one.start < end and start < one.end:
            first = start if is_told_before else max(start, own[0]) if own else end
            quote = content[first : min(end, own[-1] + 1)] if own else before
    if is_small_talk(quote) or not any(sign.isalnum() for sign in ASKING_TO_KEEP.sub("", quote)):
        return ""
    if len(quote) <= MAX_QUOTE:
        return quote
    cut = quote[:MAX_QUOTE]
    return cut if CJK.search(cut) or " " not in cut else cut.rpartition(" ")[0]


def statement_spans(content: str, *, is_cry: bool = False, requests: Sequence[Request] = ()) -> list[tuple[int, int]]:
    """Runs of sentences that belong together: a fragment, or one that goes on with "he", belongs to the one before.
    Questions tell nothing, except for what they tell beside asking, and where they weigh heavy or are a cry."""
    runs: list[tuple[int, int]] = []
    is_open = False
    for start, end in sentences(content):
        sentence = content[start:end]
        is_request = any(one.sure and one.start < end and start < one.end for one in requests)
        if is_question(sentence) and not is_cry:
            is_open = False
            if not NOT_SO.search(sentence):
                runs += [(start + first, start + last) for first, last in told_in_question(sentence)]
        elif is_open and not is_request and not CORRECTS.search(sentence) and goes_on(sentence):
            runs[-1] = (runs[-1][0], end)
        elif not (is_open and is_small_talk(sentence)):
            runs.append((start, end))
            is_open = not is_request and not is_small_talk(sentence)
    return runs


def goes_on(sentence: str) -> bool:
    """Whether a sentence only goes on with the one before: with "he", or without a subject.

    >>> [goes_on(text) for text in ("Two years old.", "He's a whippet.", "My dog died.", "柯基，两岁。", "我搬家了。")]
    [True, True, False, True, False]
    """
    if CONTINUES.search(sentence) or WHOM.search(sentence):
        return True
    words = len(CJK.findall(sentence)) or len(sentence.split())
    is_short = 0 < words <= MAX_FRAGMENT[bool(CJK.search(sentence))] * (2 if WHERE_OR_WHEN.search(sentence) else 1)
    tells = not says_nothing(sentence) and WORD.search(FILLER.sub(" ", sentence)) is not None
    stands_alone = STANDS_ALONE.search(ASIDE.sub(" ", sentence)) or TELLS_BY_NAME.search(sentence)
    return is_short and tells and not stands_alone


def told_in_question(sentence: str) -> list[tuple[int, int]]:
    """Where a question tells something, at most once: the clauses that do not ask, what it reports
    ("Did I tell you …"), or all of it if it is a cry for help or speaks of a heavy thing that happened.

    >>> [("我被裁了怎么办？")[a:b] for a, b in told_in_question("我被裁了怎么办？")]
    ['我被裁了']
    """
    stated: tuple[int, int] | None = None
    for start, end in clauses(sentence):
        is_marked = end < len(sentence) and sentence[end:].lstrip()[:1] in "?？"
        clause = sentence[start:end]
        if not is_marked and not asks(clause) and not OPENS_A_CONDITION.search(clause):
            stated = (stated[0], end) if stated else (start, end)
        elif stated:
            break
    if stated:
        return [stated]
    if abs(impact_of(sentence)) < HEAVY or not FIRST_PERSON.search(sentence):
        return []
    lead, tail = TELLING.search(sentence), WHAT_NOW.search(sentence)
    first, last = lead.end() if lead else 0, tail.start() if tail else len(sentence)
    reported = sentence[first:last].rstrip(" ，,")
    if (lead or (tail and tail[0].strip("吗么？?"))) and len(reported) > 1 and impact_of(reported):
        return [(first, first + len(reported))]
    return [] if LOOKS_UP.search(sentence) else [(0, len(sentence))]


def _event(statement: Statement, material: Mapping[str, Any]) -> dict[str, Any]:
    is_to_persona = not (material.get("others") or material.get("prose"))
    tags = [tag for tag, trigger in RELATIONAL.items() if re.search(trigger, statement.text, re.I)]
    tags = list(dict.fromkeys([*(["correction"] if statement.is_correction else []), *tags]))
    days = _days_of(statement) if statement.is_dated else None
    quotes = " ".join(f"“{quote}”" for _, quote in statement.quotes)
    return {
        "description": QUOTATION[material["language"]].format(name=_speaker(material), quotes=quotes),
        "emotional_impact": statement.impact,
        "emotion_tags": [],
        "relational_tags": [tag for tag in tags if is_to_persona or tag not in OF_THE_TWO][:3],
        "subject": "user",
        "event_time": days.as_json() if days else None,
        "evidence": [{"message_id": message, "quote": quote} for message, quote in statement.quotes],
        "supersedes": [],
        "confidence": 0.8,
    }


def _days_of(statement: Statement) -> Days | None:
    """The one day that the statement names, before or after it by its tense, else the span that it names. "This year"
    is no day of anything, nor is what returns: a birthday in May, or choir on Thursdays."""
    text = statement.redated or statement.text
    mentions = named_days(text, statement.day)
    day = only_day(mentions)
    # 「只剩毕业设计了，六月三十号答辩」: the tense is that of the clause that names the day.
    dated = [text[start:end] for start, end in clauses(text) if named_days(text[start:end], statement.day)]
    tensed = " ".join(dated) if dated and CJK.search(text) else text
    is_ahead = bool(LIES_AHEAD.search(tensed))
    has_tense = is_ahead or bool(LIES_BEHIND.search(tensed))
    if day is None and has_tense:
        day = only_day(mentions, **{"first" if is_ahead else "last": statement.day})
    elif day is None and len(mentions) == 1 and len(mentions[0]) <= BEFORE_OR_TO_COME:
        # No tense says which of two it is: the nearer one.
        day = min(mentions[0], key=lambda one: abs(one - statement.day))
    if day:
        return Days(day, day)
    returns = not SAYS_WHICH.search(text) and (RETURNS.search(text) or not (has_tense or mentions))
    span = None if returns else days_meant(text, statement.day, ahead=is_ahead or not has_tense)
    is_vague = span is not None and span.start <= statement.day <= span.end and (span.end - span.start).days > MAX_SPAN
    return None if is_vague else span


def _speaker(material: Mapping[str, Any]) -> str:
    """The owner, with those who are spoken to in a chat without the persona: "your birthday" is theirs."""
    named = [str(name) for name in material.get("others", ())][:MAX_ADDRESSEES]
    if not named:
        return str(material["user_name"])
    to = "（对{}说）".format("、".join(named)) if material["language"] == "zh" else f" (to {', '.join(named)})"
    return f"{material['user_name']}{to}"


def _entities(kept: Sequence[Statement], known: Mapping[str, str], user_name: str) -> list[dict[str, Any]]:
    kinds = {named.name: named.kind for statement in kept for named in statement.names} | dict(known)
    relations = {
        name: next(filter(None, (relation_of(name, statement.text) for statement in kept)), "")
        for name, kind in kinds.items()
        if kind in NEAR
    }
    return [
        {
            "canonical_name": name,
            "aliases": [],
            "kind": kind,
            "relation": relations.get(name, ""),
            "in_events": mentions,
        }
        for name, kind in kinds.items()
        if name.casefold() != user_name.casefold()
        and (mentions := [at for at, statement in enumerate(kept) if occurs(name, statement.text)])
    ]
