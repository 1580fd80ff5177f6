"""What is worth remembering of a conversation, by rule: the shape of the extraction answer."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from echovessel.language.corrections import apply_correction, takes_back
from echovessel.language.dates import Days, days_in
from echovessel.language.tokenizer import content_words
from echovessel.llm.offline.asking import asks, is_question
from echovessel.llm.offline.dates import dated, local_day, weekday_ahead
from echovessel.llm.offline.feeling import Weight, weighed
from echovessel.llm.offline.names import Named, names_in
from echovessel.llm.offline.person import in_third_person
from echovessel.llm.offline.same import clarified
from echovessel.llm.offline.text import clauses, clipped, holds, is_chinese, sentences
from echovessel.llm.offline.topics import TOPICS, topics

MOST_EVENTS = 3
WORTH_KEEPING = 2
SUMMARY_CHARACTERS = 200

FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|My|we|We|our|Our|us)\b|我|咱")
CONTINUES = re.compile(
    r"^(?:他|她|它|而且|然后|还有)|^(?:he|she|it|they|his|her|its|their|he's|she's|it's|and|also)\b", re.I
)
KEEP_THIS = re.compile(r"记住|别忘|remember this|remember that|don't forget", re.I)
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
    r"about how )?(?=\w)|"
    r"^(?:do you |can you )?(?:know|believe|imagine) (?:that |what )?(?=i\b|my\b)|"
    r"^(?:我(?:之前|上次)?(?:有没有|是不是)?(?:跟|和|对)你(?:说|讲|提)过(?:没有)?|你知道吗?)[，,]?(?=\S)",
    re.I,
)
WHAT_NOW = re.compile(
    r"(?:我)?(?:现在)?(?:该|应该|要|到底)?(?:怎么办|咋办|怎么做|如何是好)(?:才好)?(?:呢|啊|呀)?[？?。.!！]*$|"
    r"[吗么？?]+$"
)
OPENS_A_CONDITION = re.compile(
    r"^(?:if|when|while|after|before|since|until|unless|because|as|如果|要是|假如|万一|等)\b|^(?:如果|要是|假如|"
    r"万一|等)",
    re.I,
)
CORRECTS = re.compile(
    r"^\W*(?:不对|不是|错了|说错|我说错|等等|其实|actually|no\b|sorry|wait|oops|correction|i meant|i mean)|"
    r"说错了|记错了|打错了|i was wrong|i misspoke|i meant",
    re.I,
)
CORRECT_NAME = re.compile(
    r"\b(?:[Ii] meant?|it's|it is|he's|she's|is)\s+([A-Z][\w-]*\w)\b|(?:是|叫)\s*([A-Z][A-Za-z-]+|"
    r"[\u3400-\u9fff]{1,3})(?=[，,。.!！]|$)"
)
HEAVY = 7
# So many lines, or things that were told, before a correction are looked at for what it corrects.
LATELY = 4
BEARERS = frozenset(word for kind in ("pet", "family", "people") for word in TOPICS[kind])


@dataclass(frozen=True)
class Statement:
    """One thing that the user told: a run of sentences of one line, as they stand there.

    `before` is what was told just before, `corrected` what this was called before it was put right, `continued`
    what a later line added to it, and `also` those other sayings (line id, quote). `reworded` is all of it with the
    day that a later line gave it, `outdated` how it was told before; `known_as` a known event with the day that this
    gives it, and `supersedes` the id of that. `hearer` is whom "you" means, "" where that is nobody in particular;
    `is_to_persona` unless that is somebody else. `is_new` unless all of it was read before; `is_dated` unless nobody
    knows on what day it was told.
    """

    line_id: str
    day: date
    quote: str
    user_name: str
    hearer: str
    before: str = ""
    corrected: tuple[tuple[str, str], ...] = ()
    continued: str = ""
    also: tuple[tuple[str, str], ...] = ()
    reworded: str = ""
    outdated: tuple[str, ...] = ()
    known_as: str = ""
    supersedes: str = ""
    is_new: bool = True
    is_dated: bool = True
    is_to_persona: bool = True

    @property
    def text(self) -> str:
        """All that was said of it."""
        return self.known_as or self.reworded or f"{self.quote} {self.continued}".strip()

    @cached_property
    def weight(self) -> Weight:
        """How heavy it weighs."""
        return weighed(self.text)

    @cached_property
    def names(self) -> list[Named]:
        """Who is named in it, by the names that hold in the end."""
        goes_on = CONTINUES.search(self.quote) or CORRECTS.search(self.quote)
        right = dict(self.corrected)
        found = names_in(self.text, self.before if goes_on else "")
        return [Named(right.get(named.name, named.name), named.kind) for named in found]

    @cached_property
    def topics(self) -> list[str]:
        """What it is about."""
        return topics(self.text)

    @cached_property
    def description(self) -> str:
        """The same in the third person, with days for "today" and "yesterday". A question, kept because it
        may be a cry for help, stays as it was asked."""
        if self.known_as:
            return self.known_as
        if is_question(self.quote):
            asked = "{}问过：“{}”" if is_chinese(self.quote) else "{} asked: “{}”"
            return asked.format(self.user_name or ("用户" if is_chinese(self.quote) else "The user"), self.quote)
        told = in_third_person(self.text, self.user_name, self.hearer)
        told = dated(told, self.day) if self.is_dated else told
        for wrong, right in self.corrected:
            told = told.replace(wrong, right)
        return told

    @cached_property
    def days(self) -> Days | None:
        """When it happens, where it says so."""
        return days_in(self.text, self.day) if self.is_dated else None

    @cached_property
    def score(self) -> int:
        """How much it is worth keeping: who, what, how strongly, and whether the user asked for it."""
        strength = 4 if abs(self.weight.impact) >= HEAVY else 1 if self.weight.impact else 0
        about_me = 1 if FIRST_PERSON.search(self.quote) else 0
        asked = 3 if KEEP_THIS.search(self.quote) and self.says_something else 0
        right = 2 if self.puts_right else 0
        when = bool(self.days or weekday_ahead(self.text, self.day))
        return about_me + strength + when + asked + right + 2 * bool(self.names) + min(len(self.topics), 2)

    @property
    def puts_right(self) -> bool:
        """Whether what was told or known before is told otherwise by it."""
        return bool(self.reworded or self.known_as)

    @property
    def says_something(self) -> bool:
        """Whether there is more to it than the wish that something else be remembered."""
        return any(sign.isalnum() for sign in ASKING_TO_KEEP.sub("", self.quote))

    @property
    def impact(self) -> int:
        """−10 … 10. An animal at home warms a little even where no word says so."""
        return self.weight.impact or (2 if "pet" in self.topics else 0)


Keeping = Callable[[Sequence[Statement]], list[Statement]]


def extracted(material: Mapping[str, Any], keep: Keeping | None = None) -> dict[str, Any]:
    """The extraction answer for `material` (its shape is in the package's docstring): of what `keep` keeps, else of
    the three weightiest things."""
    known = material.get("known", ())
    told = [_put_right_known(one, known, material) for one in joined(list(_told(material)), known) if one.is_new]
    kept = (keep or worth_keeping)(told)
    said = "".join(one.quote for one in told) or "".join(line["content"] for line in material["lines"])
    chinese = is_chinese(said, default=material["language"] == "zh")
    return {
        "events": [_event(one, known) for one in kept],
        "mentioned_entities": _entities(kept, material.get("known_entities", ())),
        "entity_clarification": clarified(material),
        "session_mood_signal": mood(told, chinese),
        "session_summary": _summary(kept, chinese),
        "self_check_notes": "按规则检查过强烈情绪的词。" if chinese else "Strong words were looked for by rule.",
    }


def worth_keeping(told: Sequence[Statement], most: int = MOST_EVENTS) -> list[Statement]:
    """At most so many, the weightiest, in the order in which they were said; nothing twice."""
    once: dict[str, Statement] = {}
    for one in told:
        if one.score >= WORTH_KEEPING:
            once.setdefault(one.description.casefold(), one)
    best = sorted(once.values(), key=lambda one: (-one.score, -abs(one.impact)))[:most]
    chosen = {id(one) for one in best}
    return [one for one in told if id(one) in chosen]


def joined(told: Sequence[Statement], known: Sequence[Mapping[str, str]] = ()) -> list[Statement]:
    """`told` in which a line that only goes on with the one before belongs to it: one that gives its name ("Her
    name is Mia"), or takes a name back ("no, his name is Max"), which then is the right one from the start.
    """
    kept: list[Statement] = []
    for one in told:
        wrong, day = _named_wrong(kept, one), _dated_wrong(kept, one, known)
        if day:
            at, right = day
            outdated = (*kept[at].outdated, kept[at].description)
            kept[at] = replace(_with(kept[at], one), reworded=right, outdated=outdated)
        elif wrong:
            at, name, right = wrong
            kept[at] = replace(_with(kept[at], one), corrected=(*kept[at].corrected, (name, right)))
        elif kept and one.names and CONTINUES.search(one.quote) and not kept[-1].names:
            kept[-1] = replace(_with(kept[-1], one), continued=f"{kept[-1].continued} {one.quote}".strip())
        else:
            kept.append(one)
    return kept


def _with(told: Statement, other: Statement) -> Statement:
    return replace(told, also=(*told.also, (other.line_id, other.quote)), is_new=told.is_new or other.is_new)


def _dated_wrong(
    kept: Sequence[Statement], one: Statement, known: Sequence[Mapping[str, str]]
) -> tuple[int, str] | None:
    """Where what day was given that `one` takes back, and how that reads with the right one; unless what is known from
    before fits better."""
    lately = range(max(0, len(kept) - LATELY), len(kept))
    for loosely in (False, True):
        rights = ((at, apply_correction(kept[at].text, one.quote, loosely=loosely)) for at in reversed(lately))
        if found := next(((at, right) for at, right in rights if right), None):
            return found
        if any(apply_correction(event["description"], one.quote) for event in known):
            return None
    return None


def _put_right_known(one: Statement, known: Sequence[Mapping[str, str]], material: Mapping[str, Any]) -> Statement:
    """`one`, as what it makes of the known event whose day it takes back: of several, the one that was spoken of just
    before, else the nearest."""
    if one.reworded or not takes_back(one.quote):
        return one
    before = _said_before(one, material)
    strict = [(event, apply_correction(event["description"], one.quote)) for event in known]
    loose = [(event, apply_correction(event["description"], one.quote, loosely=True)) for event in known]
    rights = [(event, right) for event, right in strict if right] or [(event, right) for event, right in loose if right]
    if not rights:
        return one
    event, right = max(rights, key=lambda pair: len(before & set(content_words(pair[0]["description"]))))
    return replace(one, known_as=dated(right, one.day), supersedes=event["id"])


def _said_before(one: Statement, material: Mapping[str, Any]) -> set[str]:
    """The words of the last lines before it, and its own."""
    ids = [line["id"] for line in material["lines"]]
    at = ids.index(one.line_id)
    lines = material["lines"][max(0, at - LATELY) : at + 1]
    return {word for line in lines for word in content_words(line["content"])}


def _named_wrong(kept: Sequence[Statement], one: Statement) -> tuple[int, str, str] | None:
    """Where what name was given that `one` takes back, and the right one; None if it speaks of another."""
    right = _right_name(one)
    at = next((at for at in reversed(range(len(kept))) if kept[at].names), None)
    if right is None or at is None or set(holds(one.quote, BEARERS)) - set(holds(kept[at].text, BEARERS)):
        return None
    name = kept[at].names[-1].name
    return (at, name, right) if name != right else None


def _right_name(one: Statement) -> str | None:
    """The name that `one` puts in the place of another, if it does."""
    if not CORRECTS.search(one.quote):
        return None
    if one.names:
        return one.names[0].name
    found = CORRECT_NAME.search(one.quote)
    name = (found[1] or found[2]) if found else None
    return name if name and names_in(f"named {name}" if name.isascii() else f"名叫{name}") else None


def _told(material: Mapping[str, Any]) -> Iterator[Statement]:
    before = ""
    for line in material["lines"]:
        if line["role"] == "user":
            day = local_day(line["at"], material["timezone"])
            for start, end in _statements(line["content"]):
                quote = line["content"][start:end]
                names = material["user_name"], hearer_of(quote, material)
                told = Statement(line["id"], day, quote, *names, before, is_new=not line.get("read"))
                is_to_persona = not (material.get("others") or material.get("prose"))
                yield replace(told, is_dated=material.get("dated", True), is_to_persona=is_to_persona)
                before = quote


def hearer_of(quote: str, material: Mapping[str, Any]) -> str:
    """Whom "you" in the quote means: the persona, unless the talk is one with other people, or prose. Of several others
    it is the one who is called by name, else "somebody"."""
    others = material.get("others", ())
    if not others:
        return "" if material.get("prose") else material["persona_name"]
    called = [name for name in others if re.match(rf"\W*{re.escape(name.split()[0])}\b", quote, re.I)]
    if len(others) == 1 or len(called) == 1:
        name = others[0] if len(others) == 1 else called[0]
        if name.casefold() != material["persona_name"].casefold():
            return name
    return "对方" if is_chinese(quote) else "somebody"


def _statements(content: str) -> list[tuple[int, int]]:
    """Runs of sentences that belong together: one that goes on with "he" or 他 belongs to the one before.
    Questions tell nothing, except for what they tell beside asking, and where they weigh heavy."""
    runs: list[tuple[int, int]] = []
    open_run = False
    for start, end in sentences(content):
        sentence = content[start:end]
        if is_question(sentence):
            open_run = False
            runs += [(start + first, start + last) for first, last in told_in_question(sentence)]
        elif open_run and CONTINUES.search(sentence) and not CORRECTS.search(sentence):
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
            open_run = True
    return runs


def told_in_question(sentence: str) -> list[tuple[int, int]]:
    """Where a question tells something, at most once: the clauses that do not ask, what it reports
    ("Did I tell you …"), or all of it if it is a cry for help or speaks of a heavy thing that happened.

    >>> [("我被裁了怎么办？")[a:b] for a, b in told_in_question("我被裁了怎么办？")]
    ['我被裁了']
    """
    weight = weighed(sentence)
    if weight.in_crisis:
        return [(0, len(sentence))]
    stated = _stated(sentence)
    if stated:
        return [stated]
    if abs(weight.impact) < HEAVY or not FIRST_PERSON.search(sentence):
        return []
    reported = _reported(sentence)
    return [reported] if reported else [] if LOOKS_UP.search(sentence) else [(0, len(sentence))]


def _stated(sentence: str) -> tuple[int, int] | None:
    """The first run of clauses that neither ask nor only set a condition."""
    run: tuple[int, int] | None = None
    for start, end in clauses(sentence):
        clause = sentence[start:end]
        marked = end < len(sentence) and sentence[end:].lstrip()[:1] in "?？" and bool(sentence[end:].strip())
        plain = not marked and not asks(clause) and not OPENS_A_CONDITION.search(clause)
        if plain:
            run = (run[0], end) if run else (start, end)
        elif run:
            break
    return run


def _reported(sentence: str) -> tuple[int, int] | None:
    lead, tail = TELLING.search(sentence), WHAT_NOW.search(sentence)
    start, end = lead.end() if lead else 0, tail.start() if tail else len(sentence)
    kept = sentence[start:end].rstrip(" ，,")
    changed = lead or (tail and tail[0].strip("吗么？?"))
    return (start, start + len(kept)) if changed and len(kept) > 1 and weighed(kept).impact else None


def _event(one: Statement, known: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    said = ((one.line_id, one.quote), *one.also)
    return {
        "description": one.description,
        "emotional_impact": one.impact,
        "emotion_tags": one.weight.tags(is_chinese(one.quote)),
        "relational_tags": [
            tag
            for tag in relational_tags(" ".join(quote for _, quote in said), puts_right=one.puts_right)
            if one.is_to_persona or tag not in OF_THE_TWO
        ],
        "subject": "user",
        "event_time": one.days.as_json() if one.days else None,
        "evidence": [{"message_id": line_id, "quote": quote} for line_id, quote in said],
        "supersedes": [event["id"] for event in known if _is_outdated(event, one)],
        "confidence": round(min(0.5 + 0.1 * (one.score - 1), 0.9), 1),
    }


def _is_outdated(event: Mapping[str, str], one: Statement) -> bool:
    """Whether a known event tells what `one` has put right: in an earlier talk, or when this one was read early."""
    told = {outdated.casefold() for outdated in one.outdated}
    return event["id"] == one.supersedes or event["description"].casefold() in told


def relational_tags(text: str, *, puts_right: bool = False) -> list[str]:
    """The tags of seed 001 whose triggers stand in `text`; mostly none."""
    found = [tag for tag, trigger in RELATIONAL.items() if re.search(trigger, text, re.I)]
    return list(dict.fromkeys([*(["correction"] if puts_right else []), *found]))[:3]


def _entities(kept: Sequence[Statement], known: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    kinds = {entity["name"]: entity["kind"] for entity in known}
    for one in kept:
        kinds = {named.name: named.kind for named in one.names} | kinds
    user_names = {one.user_name.casefold() for one in kept}
    return [
        {"canonical_name": name, "aliases": [], "kind": kind, "in_events": mentions}
        for name, kind in kinds.items()
        if name.casefold() not in user_names
        and (mentions := [at for at, one in enumerate(kept) if name in one.description])
    ]


MOODS = ((-7, "心疼", "aching for them", 3), (-2, "有点担心", "a little worried", 4), (1, "平静", "calm", 5),
         (4, "温暖", "warm", 6), (10, "为TA高兴", "glad for them", 7))  # fmt: skip
SIGNALS = {"tired": "tired", "angry": "frustrated", "annoyed": "frustrated"}


def mood(told: Sequence[Statement], chinese: bool) -> dict[str, Any]:
    """How the persona is left, by the strongest thing that was said, and what the last words showed."""
    impact = max((one.impact for one in told), key=abs, default=0)
    _, zh, en, energy = next(row for row in MOODS if impact <= row[0])
    return {"mood": zh if chinese else en, "energy": energy, "last_user_signal": _signal(told)}


def _signal(told: Sequence[Statement]) -> str | None:
    felt = next((one for one in reversed(told) if one.impact), None)
    if felt is None:
        return None
    if felt.impact > 0:
        return "warm"
    return next((SIGNALS[kind.tag_en] for kind in felt.weight.feelings if kind.tag_en in SIGNALS), None)


def _summary(kept: Sequence[Statement], chinese: bool) -> str:
    """What was kept, in a line; nothing where nothing was, for it may stand beside the summary of another piece."""
    return clipped(("" if chinese else " ").join(_ended(one.description) for one in kept), SUMMARY_CHARACTERS)


def _ended(told: str) -> str:
    if told[-1] in '。.!！?？…”"~～':
        return told
    return told + ("。" if is_chinese(told) else ".")
