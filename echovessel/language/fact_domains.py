"""What a question about somebody's life is about: "What's my job?" asks after work. Pure; English and Chinese.

A sentence embedding sees little of "What's my job?" in "Ana is a nurse"; that both are about work, rules can say.
"""

import re
from typing import Literal

from echovessel.language.plain_text import any_word
from echovessel.llm.offline.text import is_question

_WORDS = {
    "about": r"how old|\bage\b|my (?:full )?name|who am i|where am i from|come from|born|birthday|nationality|"
    r"languages?|roots|origins?|heritage|raised|childhood|gr[eo]w up|"
    r"长大|童年|小时候|几岁|多大|名字|哪里人|出生|生日|国籍|语言|籍贯|老家",
    "people": r"family|relatives?|sisters?|brothers?|siblings?|mother|father|mum|mom|dad|parents?|wife|husband|partner|"
    r"boyfriend|girlfriend|friends?|cousins?|aunt|uncle|grand\w+|kids?|children|son|daughter|married|dating|"
    r"date|seeing|spouse|boy|girl|witness\w*|太太|爱人|孙|伙计|见证|家人|亲戚|姐|妹|哥|弟|妈|爸|父|母|老公|老婆|男朋友|女朋友|男友|女友|朋友|孩子|儿子|女儿|结婚|对象",
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
_DAY_ASKED = re.compile(
    r"\b(?:when|(?:what|which) (?:day|date|weekday|weekend|month|time of year)|how long (?:ago|until|till))\b|"
    r"哪天|哪一天|哪日|几号|几月|什么时候|何时|多久|星期几|周几|礼拜几|哪年|哪个月",
    re.I,
)
_BOTH = re.compile(r"\b(?:we|us|our|ours|both of)\b|我们|咱|[你我]俩", re.I)
_OWN = re.compile(r"\b(?:i|my|me|mine|myself)\b|我", re.I)
_YOURS = re.compile(r"\b(?:you|your|yours|yourself)\b|你", re.I)
# Words to whoever is asked, about nobody.
_FRAME = re.compile(
    r"\b(?:do|don't|can|could|would|did) you (?:still |even )?(?:remember|recall|know|think|guess|say)\b"
    r"|\b(?:(?:can|could|would|will) you )?(?:please )?(?:tell|remind) me\b"
    r"|\b(?:did i|have i(?: ever)?|i(?:'ve)?(?: ever)?) (?:tell|told|mention(?:ed)?)(?: to)? you\b"
    r"|你(?:还|有没有)?(?:记(?:不记)?得|知(?:不知)?道|觉得|认为|猜)|(?:请|能不能|可以)?(?:告诉|提醒)我|我?(?:有没有)?(?:跟|和|对|向)你(?:说|讲|提|聊)",
    re.I,
)


def domains_asked(text: str) -> list[str]:
    """The domains of facts that a question is about; none of what is no question.

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
    """Whose matter a question is about, by a pronoun or a name; empty where it is about both, or about neither.

    >>> [person_asked_about(text, "Ana", "Mira") for text in ("Do you remember my pet?", "Does Mira paint?")]
    ['user', 'persona']
    >>> person_asked_about("What did we do?", "Ana", "Mira"), person_asked_about("你还记得我住哪里吗？", "安娜", "米拉")
    ('', 'user')
    """
    if not is_question(text):
        return ""
    called = re.sub(
        rf"^\W*{re.escape(persona_name)}\s*[,，]|[,，]\s*{re.escape(persona_name)}\W*$", " ", text, flags=re.I
    )
    asked = _FRAME.sub(" ", called)
    is_user = _OWN.search(asked) is not None or _is_named(user_name, asked)
    is_persona = _YOURS.search(asked) is not None or _is_named(persona_name, asked)
    if is_user == is_persona or _BOTH.search(asked):
        return ""
    return "user" if is_user else "persona"


def _is_named(name: str, text: str) -> bool:
    before, after = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])") if name.isascii() else ("", "")
    return bool(name) and re.search(f"{before}{re.escape(name)}{after}", text, re.I) is not None
