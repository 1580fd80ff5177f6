"""Facts that cannot both hold, where no model said that one replaces the other: the owner is asked, once.

Somebody lives in one place, has one partner, eats meat or does not. Two facts about the same person that say so
differently both stand, for either may be the mistake; the persona wonders which, and asks when the talk comes near it.
What says itself that it is over is no rival, nor is a plan.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from memory.consolidation import prompt
from memory.curation import questions
from memory.models import ConceptNode, Mention
from memory.store.deduplication import telling_words
from persona.models import Persona

MAX_ASKED = 2  # of one session
MAX_COMPARED = 200
# Of each of these only one holds at a time.
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
_OVER = re.compile(
    r"\b(?:no longer|any ?more|used to|formerly|once|former|ex-?|until|left|gave up|broke up|divorced|died|late)\b|"
    r"不再|以前|曾经|过去|原来|前(?:男友|女友|夫|妻)|已故|去世|分手|离婚|戒了",
    re.I,
)


def slot_of(description: str) -> str:
    """What the fact fills of which there is only one; "" where there may be several, or where it is over.

    >>> slot_of("Ana lives in Basel."), slot_of("Ana no longer lives in Basel."), slot_of("Ana plays the cello.")
    ('home', '', '')
    """
    if _OVER.search(description):
        return ""
    return next((slot for slot, words in _BY_SLOT.items() if words.search(description)), "")


def are_rivals(one: str, other: str) -> bool:
    """Whether two facts about one person fill the same place differently: each says something that the other does not.

    >>> are_rivals("Ana lives in Basel.", "Ana lives in Oslo."), are_rivals("Ana is vegan.", "Ana is vegan now.")
    (True, False)
    """
    slot, first, second = slot_of(one), telling_words(one), telling_words(other)
    return bool(slot) and slot == slot_of(other) and bool(first - second and second - first)


def ask(persona: Persona, written: Iterable[ConceptNode], now: datetime) -> int:
    """Wonder about the new facts that rival an earlier one; returns how many questions are new. Call in the transaction
    that writes them, after their names are resolved."""
    asked = 0
    for fact in written:
        if fact.kind != ConceptNode.Kind.FACT or fact.status != ConceptNode.Status.ACTIVE or fact.plan_state:
            continue
        earlier = _earlier(persona, fact)
        rival = next((other for other in earlier if are_rivals(other.description, fact.description)), None)
        if rival is not None and asked < MAX_ASKED:
            text = prompt.render("rivals", persona, before=rival.description, now_told=fact.description)
            asked += questions.keep(persona, text, [rival, fact], now) is not None
    return asked


def _earlier(persona: Persona, fact: ConceptNode) -> Sequence[ConceptNode]:
    """The facts of earlier sessions about the same person, the newest first: of somebody else those that mention them,
    too."""
    earlier = persona.nodes.active().filter(kind=ConceptNode.Kind.FACT, subject=fact.subject, plan_state="")
    earlier = earlier.exclude(session=fact.session).exclude(pk=fact.pk)
    if fact.subject == ConceptNode.Subject.OTHER:
        mentioned = Mention.objects.filter(node=fact).values("entity")
        earlier = earlier.filter(mentions__entity__in=mentioned).distinct()
    return list(earlier.order_by("-last_mentioned_at", "-id")[:MAX_COMPARED])
