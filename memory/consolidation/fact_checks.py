"""Decide which facts and open loops of an answer are believed. Pure.

A model may return sixty facts, take the persona's words for the owner's life, invent a date, or take a goodbye for a
promise. Each such item is left out and counted; the rest of the answer is kept.
"""

from collections.abc import Mapping
from datetime import date
from typing import Literal, NamedTuple

from echovessel.language import lazy_re as re
from echovessel.language.coarse_dates import span_of
from echovessel.language.person_names import occurs
from echovessel.language.plain_text import normalize_text
from memory.consolidation.answer_schema import (
    MAX_FACT,
    MAX_FACTS,
    MAX_PERSONA_FACTS,
    Cited,
    ExtractedEvent,
    ExtractedFact,
    ExtractedItem,
    ExtractionAnswer,
    OpenLoop,
)
from memory.consolidation.evidence import find
from memory.consolidation.prompt import message_id

MIN_FACTS = 6
TOKENS_A_FACT = 50
Whose = Literal["owner", "persona", "other"]

# Signs of a time: a number, or a word for one.
_TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|"
    r"\b(?:spring|summer|autumn|fall|winter|years?|months?|weeks?|days?|decades?|weekend|yesterday|today|tonight|tomorrow|"
    r"morning|afternoon|evening|night|ago|since|until|till|last|next|now|recently|lately|just|soon|birthday|christmas|"
    r"easter|born|age|always|childhood|anymore)\b|"
    r"[年月日号周天]|星期|礼拜|春|夏|秋|冬|昨|今|明|后天|前|去|上个|下个|刚|最近|现在|以来|从小|以前|一直|生日|岁|早|晚",
    re.I,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_RELATIVE = re.compile(
    r"\b(?:ago|last|next|this|yesterday|today|tomorrow|since|for|now|just|recently)\b|[去今明前后]年|上|下|刚|现在|以来|前",
    re.I,
)
_GOODBYE_EN = (
    r"(?:(?:ok(?:ay)?|well|alright|so|then|and|bye(?:[- ]bye)?|good ?night|good ?bye|take care|sleep (?:well|tight)|"
    r"(?:i(?:'ll| will)|we(?:'ll| will)|let's|can't wait to|see you|talk|speak|chat|catch|write|meet|be|see|hear|again|"
    r"to|you|from|with|up|back|soon|later|around|here|tomorrow|tonight|in the morning|next (?:time|week)|"
    r"this (?:evening|weekend)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|dear|love|sweet dreams|have a \w+ \w+))"
    r"[\s,.!;:…~-]*)+"
)
_GOODBYE_ZH = (
    r"(?:(?:好[的啦吧]?|那|嗯|我们?|咱们?|就|先|晚安|再见|拜拜|早点(?:睡|休息)|做个好梦|好梦|保重|明天|明早|今晚|晚点|"
    r"回头|下次|改天|待会儿?|等会儿?|下周|周[一二三四五六日末]|再|见|聊|说|联系|吧|啦|哦|喔|呀|你|跟|和|来|找)[\s，。！~…,!.]*)+"
)
_GOODBYE = re.compile(f"{_GOODBYE_EN}|{_GOODBYE_ZH}", re.I)
MAX_GOODBYE = 80


class SaidMessage(NamedTuple):
    """A message as the checks need it; `day` is its day in the owner's zone."""

    content: str
    by_user: bool
    day: date


class Names(NamedTuple):
    """The names of owner and persona, by which models may state whose a fact is."""

    owner: str
    persona: str

    def whose(self, fact: ExtractedFact) -> Whose:
        """Whose the fact is."""
        name = fact.whose.strip().casefold()
        if name in ("owner", "user", self.owner.casefold()):
            return "owner"
        return "persona" if name in ("persona", "assistant", self.persona.casefold()) else "other"


def fact_limit(tokens: int) -> int:
    """The number of facts to ask for: six of a few messages, twelve of a long session.

    >>> fact_limit(40), fact_limit(200), fact_limit(6_000)
    (6, 10, 12)
    """
    return min(MAX_FACTS, MIN_FACTS + tokens // TOKENS_A_FACT)


def believed(
    answer: ExtractionAnswer, messages_by_id: Mapping[int, SaidMessage], names: Names, limit: int, *, dated: bool = True
) -> tuple[ExtractionAnswer, int]:
    """The answer without the facts and open loops that no message supports, and the number of mistakes. `limit` is the
    number of facts that are not the persona's own."""
    descriptions = {normalize_text(event.description) for event in answer.events}
    room = {"persona": MAX_PERSONA_FACTS}
    mistakes = 0
    facts: dict[int, ExtractedFact] = {}
    for position, fact in enumerate(answer.facts):
        whose, text = names.whose(fact), normalize_text(fact.description)
        places_left = room.setdefault("persona" if whose == "persona" else "others", limit)
        if not places_left or text in descriptions or not _is_borne_out(fact, whose, messages_by_id, names):
            mistakes += 1
            continue
        descriptions.add(text)
        room["persona" if whose == "persona" else "others"] -= 1
        timed = _with_told_times(fact, messages_by_id, dated=dated)
        mistakes += (timed.since, timed.until) != (fact.since, fact.until)
        facts[position] = timed
    loops = [loop for loop in answer.open_loops if _is_owed(loop, messages_by_id)]
    mistakes += len(answer.open_loops) - len(loops)
    wanted_items = {id(answer.facts[position]) for position in facts} | {id(loop) for loop in loops}

    def is_wanted(item: ExtractedItem) -> bool:
        return isinstance(item, ExtractedEvent) or id(item) in wanted_items

    return answer.only(is_wanted).model_copy(update={"facts": list(facts.values())}), mistakes


def _is_borne_out(fact: ExtractedFact, whose: Whose, messages_by_id: Mapping[int, SaidMessage], names: Names) -> bool:
    """Whether every quote was found, one of them is by the person the fact is about, and the sentence is about this
    person: the persona's questions and guesses state nothing about the owner, and vice versa."""
    quoted = [
        (message, stands)
        for citation in fact.evidence
        if (message := _message(citation, messages_by_id))
        for stands in [_stands(citation, message)]
    ]
    if not quoted or not all(is_found for _, is_found in quoted) or len(fact.description) > MAX_FACT:
        return False
    if not any(message.by_user is (whose != "persona") for message, _ in quoted):
        return False
    if whose == "other":  # somebody without a name is somebody of the owner's
        return occurs(fact.whose.strip(), fact.description) or occurs(names.owner, fact.description)
    of, other = (names.owner, names.persona) if whose == "owner" else (names.persona, names.owner)
    is_about_other = occurs(other, fact.description) and not occurs(of, fact.description)
    return of.casefold() == other.casefold() or not is_about_other


def _with_told_times(fact: ExtractedFact, messages_by_id: Mapping[int, SaidMessage], *, dated: bool) -> ExtractedFact:
    """The fact without unsupported times: the cited messages contain no word of time or only other years, or the fact
    would end before it begins."""
    messages = [message for citation in fact.evidence if (message := _message(citation, messages_by_id))]
    text = " ".join(message.content for message in messages)
    years, is_timed = set(_YEAR.findall(text)), _TIME.search(text) is not None
    is_datable = dated and (not years or _RELATIVE.search(text) is not None)
    since, until = (code if is_timed and (code[:4] in years or is_datable) else "" for code in (fact.since, fact.until))
    first, last = span_of(since) if since else None, span_of(until) if until else None
    if first and last and last.end < first.start:
        until = ""
    if (since, until) == (fact.since, fact.until):
        return fact
    return fact.model_copy(update={"since": since, "until": until})


def _is_owed(loop: OpenLoop, messages_by_id: Mapping[int, SaidMessage]) -> bool:
    """Whether an open loop is real: it was said, is more than a goodbye, and its day was not over when it was said. A
    promise of the persona needs a day."""
    quoted = [(citation, message) for citation in loop.evidence if (message := _message(citation, messages_by_id))]
    if loop.owed_by == "persona" and loop.due is None:
        return False
    if loop.owed_by == "owner" and not any(
        message.by_user and _stands(citation, message) for citation, message in quoted
    ):
        return False
    if quoted and all(is_goodbye(citation.quote) for citation, _ in quoted):
        return False
    return loop.due is None or all(loop.due >= message.day for _, message in quoted)


def is_goodbye(text: str) -> bool:
    """Whether the text is only a goodbye.

    >>> [is_goodbye(text) for text in ("Talk to you tomorrow!", "好的，明天聊", "I'll tell you tomorrow how it went.")]
    [True, True, False]
    """
    return len(text) <= MAX_GOODBYE and bool(_GOODBYE.fullmatch(text.strip().replace("’", "'")))


def _message(citation: Cited, messages_by_id: Mapping[int, SaidMessage]) -> SaidMessage | None:
    return messages_by_id.get(message_id(citation.message_id) or 0)


def _stands(citation: Cited, message: SaidMessage) -> bool:
    return find(citation.quote, message.content) is not None
