"""Rivals: two facts that cannot both hold, and neither of which a model replaced. The owner is asked once.

A person lives in one place, has one partner, eats meat or does not. If two facts about one person disagree, both stay,
because either may be the mistake; the persona asks when a conversation comes near it. Facts that are told as over and
plans are no rivals.
"""

import re
from collections.abc import Collection, Iterable
from datetime import datetime

from echovessel.language.sentences import clauses
from memory.consolidation import prompt
from memory.curation import questions
from memory.models import ConceptNode, Mention
from memory.store.deduplication import telling_words
from persona.models import Persona

MAX_ASKED = 2  # of one session
MAX_COMPARED = 200
# Slots: only one fact of each holds at a time.
_SLOTS = {
    "home": r"\blives?\b|\bliving (?:in|at|with)\b|\bhas lived\b|\bmoved (?:in)?to\b|\bresides?\b|"
    r"住在|住进|搬到|搬进|现住|租住",
    "work": r"\bworks? (?:as|at|for)\b|\bis employed\b|\bjob (?:is|at|as)\b|上班|任职|就职|在[^，。]{1,12}工作",
    "partner": r"\b(?:girlfriend|boyfriend|partner|husband|wife|fiancée?|spouse) (?:is|was)\b|"
    r"\b(?:is|was) \w+(?:'s)? (?:\w+ )?(?:girlfriend|boyfriend|partner|husband|wife|fiancée?)\b|"
    r"\bis (?:single|dating|seeing|engaged to|married to)\b|"
    r"单身|(?:男朋友|女朋友|男友|女友|丈夫|妻子|老公|老婆|太太)(?:是|叫)|在一起",
    "diet": r"\b(?:vegetarian|vegan|pescatarian)\b|\b(?:eats?|loves?|likes?) (?:\w+ )?(?:meat|steaks?|beef|pork|"
    r"chicken|fish|bacon|burgers?|sausages?)\b|吃素|素食|爱吃[^，。]{0,6}(?:肉|牛排|鱼|虾|蟹|鸡|鸭)",
    "drink": r"\b(?:drinks?|smokes?|teetotal|sober)\b|不喝酒|戒酒|喝酒|抽烟|戒烟",
}
_BY_SLOT = {slot: re.compile(words, re.I) for slot, words in _SLOTS.items()}
# "Once a day", "late shifts", "her left ear" and "until four" describe the present.
_OVER = re.compile(
    r"\b(?:no longer|any ?more|formerly|former|ex-?|gave up|broke up|divorced|died)\b|"
    r"(?<!\bis )(?<!\bare )(?<!\bgets )(?<!\bgot )\bused to\b|"
    r"\bonce\b(?! (?:a|an|per|every|each|in|more|or|daily|weekly|monthly|yearly|again)\b|[,.;]|$)|"
    r"\blate (?:grand|step)?(?:husband|wife|partner|father|mother|dad|mum|mom|parents?|brother|sister|son|daughter|"
    r"uncle|aunt|cousin|friend|dog|cat)\b|"
    r"(?<!\bher )(?<!\bhis )(?<!\btheir )(?<!\bthe )(?<!\bon )\bleft (?!ear|eye|hand|arm|leg|knee|foot|hip|shoulder|"
    r"elbow|wrist|ankle|side|lung|kidney|breast)(?=\w)|"
    r"\buntil (?:\w+ ){0,2}(?:(?:19|20)\d\d|(?:s?he|they) (?:was|were|had|\w+ed))\b|\buntil (?:last|recently)\b|"
    # 「不在邮局上班了」, but not 「忍不住哭了」, 「不得不工作了」 or 「睡不好就喝酒了」.
    r"不再|(?<![不得差忍记撑停按受对制拦挡靠藏瞒管控留站稳拿接顶禁压扛熬绷憋坐抓握捂])不(?!得|小心|光|仅|但|到|久|管|过|是|由|想|愿|敢|爱)"
    r"(?:住[^，。不知]{0,8}|[^，。不知就才却又还也]{0,8}(?:住|上班|工作|喝酒|抽烟))了(?!吗)|"
    r"(?<![点号])以前|曾经|过去|原来|前(?:男友|女友|夫|妻)|已故|去世|分手|离婚|戒了",
    re.I,
)
# News that something ended, or that something began which ends other things.
_ENDS = re.compile(
    r"\b(?:no longer|any ?more|instead of|gave up|given up|broke up|split up|separated|divorced|died|passed away|"
    r"put to sleep|quit|resigned|retired|laid off|fired|sold|moved (?:out|away|to|in)|stopped|closed down|"
    r"vegetarian|vegan|sober|teetotal)\b|"
    r"不再|分手|离婚|去世|过世|辞|退休|被裁|卖了|搬(?:到|去|进|走|出)|关了|停了|戒|改(?:成|为|吃|用|喝)|换(?:成|了)|不干|"
    r"吃素|素食",
    re.I,
)
# A new way of life that changes what somebody eats or drinks: the news, and the facts it may end.
_BEGUN = (
    (
        re.compile(r"\b(?:vegetarian|vegan|pescatarian|no (?:longer eats?|meat))\b|吃素|素食|不吃(?:肉|荤)", re.I),
        re.compile(
            r"\b(?:eats?|food|cooks?|dish|dinner|lunch|meat|steak|fish|chicken|recipe)\b|吃|菜|肉|鱼|虾|蟹", re.I
        ),
    ),
    (
        re.compile(r"\b(?:sober|teetotal|no longer (?:drinks?|smokes?))\b|戒[酒烟]|不(?:再)?(?:喝酒|抽烟)", re.I),
        re.compile(r"\b(?:drinks?|wine|beer|whisk\w+|pub|smokes?|cigarettes?)\b|酒|烟", re.I),
    ),
)


def slot_of(description: str) -> str:
    """The slot that the fact fills; "" if it fills none, or is told as over.

    >>> slot_of("Ana lives in Basel."), slot_of("Ana no longer lives in Basel."), slot_of("Ana plays the cello.")
    ('home', '', '')
    """
    standing = _standing_part(description)
    return next((slot for slot, words in _BY_SLOT.items() if words.search(standing)), "")


def is_told_as_over(description: str) -> bool:
    """Whether the fact itself says that it is past, and states nothing in its place.

    >>> is_told_as_over("I don't work at the post office any more."), is_told_as_over("我不在邮局上班了")
    (True, True)
    >>> is_told_as_over("I don't work at the post office any more, I work at a bank.")
    False
    """
    return not _standing_part(description)


def _standing_part(description: str) -> str:
    """The fact without the clauses that only say what is over, if another clause fills the same slot; "" if it is
    over."""
    if not _OVER.search(description):
        return description
    parts = [description[start:end] for start, end in clauses(description)]
    over = [part for part in parts if _OVER.search(part)]
    standing = [part for part in parts if part not in over]
    replaced = (
        words for words in _BY_SLOT.values() if any(map(words.search, over)) and any(map(words.search, standing))
    )
    return ", ".join(standing) if any(replaced) else ""


def tells_of_an_end(description: str) -> bool:
    """Whether news says that something ended, or that something began which ends other things."""
    return _ENDS.search(description) is not None


def may_be_ended_by(description: str, news: str) -> bool:
    """Whether the news may end the fact: that somebody turned vegetarian, a fact about their food."""
    return any(begun.search(news) and matter.search(description) for begun, matter in _BEGUN)


def are_rivals(one: str, other: str) -> bool:
    """Whether two facts about one person fill the same slot differently: each has a word that the other does not have.

    >>> are_rivals("Ana lives in Basel.", "Ana lives in Oslo."), are_rivals("Ana is vegan.", "Ana is vegan now.")
    (True, False)
    """
    slot, first, second = slot_of(one), telling_words(one), telling_words(other)
    return bool(slot) and slot == slot_of(other) and bool(first - second and second - first)


def find(persona: Persona, fact: ConceptNode) -> ConceptNode | None:
    """The newest earlier fact that a new fact rivals."""
    if fact.kind != ConceptNode.Kind.FACT or fact.status != ConceptNode.Status.ACTIVE or fact.plan_state or fact.until:
        return None
    if not slot_of(fact.description):
        return None
    # Facts of earlier sessions about the same person; for people other than owner and persona, facts that mention them.
    earlier = persona.nodes.active().filter(kind=ConceptNode.Kind.FACT, subject=fact.subject, plan_state="", until="")
    earlier = earlier.exclude(session=fact.session).exclude(pk=fact.pk)
    if fact.subject == ConceptNode.Subject.OTHER:
        mentioned = Mention.objects.filter(node=fact).values("entity")
        earlier = earlier.filter(mentions__entity__in=mentioned).distinct()
    newest = earlier.order_by("-last_mentioned_at", "-id")[:MAX_COMPARED]
    return next((earlier for earlier in newest if are_rivals(earlier.description, fact.description)), None)


def ask(
    persona: Persona,
    new_memories: Iterable[ConceptNode],
    now: datetime,
    *,
    settled: Collection[int] = (),
    limit: int = MAX_ASKED,
) -> int:
    """Add a question for each new fact that rivals an earlier one not in `settled`; returns the number of new
    questions. Call in a transaction, after the names of the facts are resolved."""
    question_count = 0
    for fact in new_memories:
        rival = find(persona, fact) if question_count < limit else None
        if rival is not None and rival.pk not in settled:
            question_count += ask_about(persona, rival, fact, now)
    return question_count


def ask_about(persona: Persona, earlier: ConceptNode, news: ConceptNode, now: datetime) -> bool:
    """Add the question which of the two holds; False if it exists already."""
    text = prompt.render("rivals", persona, before=earlier.description, now_told=news.description)
    return questions.keep(persona, text, [earlier, news], now) is not None
