"""What a question about somebody's life is about: "What's my job?" asks after work. Pure; English and Chinese.

A sentence embedding sees little of "What's my job?" in "Ana is a nurse"; that both are about work, rules can say.
"""

import re

from echovessel.llm.offline.text import is_question

_WORDS = {
    "about": r"how old|\bage\b|my (?:full )?name|who am i|where am i from|come from|born|birthday|nationality|"
    r"languages?|几岁|多大|名字|哪里人|出生|生日|国籍|语言",
    "people": r"family|relatives?|sisters?|brothers?|siblings?|mother|father|mum|mom|dad|parents?|wife|husband|partner|"
    r"boyfriend|girlfriend|friends?|cousins?|aunt|uncle|grand\w+|kids?|children|son|daughter|married|dating|"
    r"家人|亲戚|姐|妹|哥|弟|妈|爸|父|母|老公|老婆|男朋友|女朋友|男友|女友|朋友|孩子|儿子|女儿|结婚|对象",
    "health": r"allerg\w*|ill|illness|sick|health\w*|medicines?|medication|doctor|eat|foods?|dishes|cook|diet|"
    r"disease|过敏|生病|健康|药|医生|忌口|吃|身体|菜",
    "likes": r"likes?|love|favou?rites?|enjoy|hate|prefer|hobby|hobbies|music|instruments?|sports?|eat|foods?|cook|"
    r"drink|free time|fun|喜欢|爱|讨厌|爱好|兴趣|乐器|运动|吃|喝|音乐",
    "work": r"jobs?|work|profession|occupation|career|living|boss|company|colleagues?|stud(?:y|ies|ying)|school|"
    r"university|degree|major|course|工作|职业|上班|公司|老板|同事|专业|学校|大学|读书|学习|学什么",
    "home": r"live|home|address|city|town|country|flat|apartment|house|moved?|neighbou?rhood|住|家在|城市|搬|房子|地址",
    "plans": r"plans?|planning|planned|going to|trip|travel|holiday|vacation|intend|habits?|routine|usually|"
    r"next (?:week|month|year|spring|summer|autumn|winter)|打算|计划|准备|旅行|习惯|每天|平时|明年|下个月",
    "belongings": r"pets?|cats?|dogs?|animals?|cars?|bikes?|own|belongings|instruments?|宠物|猫|狗|车|乐器|养",
    "beliefs": r"believe|religio\w+|faith|god|politic\w*|vote|values?|信仰|宗教|相信|政治|价值观",
}
_DOMAINS = {
    domain: re.compile("|".join(rf"\b{part}\b" if part.isascii() else part for part in _split), re.I)
    for domain, words in _WORDS.items()
    for _split in [re.split(r"\|(?![^(]*\))", words)]
}
_OWN = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b|我|咱", re.I)
_YOURS = re.compile(r"\b(?:you|your|yours)\b|你", re.I)


def domains_asked(text: str) -> list[str]:
    """The domains of facts that a question is about; none of what is no question.

    >>> domains_asked("What's my job?"), domains_asked("我对什么过敏？"), domains_asked("I love my job.")
    (['work'], ['health'], [])
    """
    if not is_question(text):
        return []
    return [domain for domain, words in _DOMAINS.items() if words.search(text)]


def asks_of_listener(text: str) -> bool:
    """Whether a question is about whoever is asked, and not about whoever asks: "Do you have a pet?"."""
    return bool(_YOURS.search(text)) and not _OWN.search(text)
