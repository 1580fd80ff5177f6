"""What is worth remembering of a conversation, by rule: the shape of the extraction answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from echovessel.llm.offline.dates import days_in, local_day
from echovessel.llm.offline.feeling import Weight, weighed
from echovessel.llm.offline.names import Named, names_in
from echovessel.llm.offline.person import in_third_person
from echovessel.llm.offline.text import clipped, is_chinese, is_question, sentences
from echovessel.llm.offline.topics import topics

MOST_EVENTS = 3
WORTH_KEEPING = 2
SUMMARY_CHARACTERS = 200

FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|My|we|We|our|Our|us)\b|我|咱")
CONTINUES = re.compile(
    r"^(?:他|她|它|而且|然后|还有)|^(?:he|she|it|they|his|her|its|their|he's|she's|it's|and|also)\b", re.I
)
KEEP_THIS = re.compile(r"记住|别忘|remember this|remember that|don't forget", re.I)
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


@dataclass(frozen=True)
class Told:
    """One thing that the user told: a run of sentences of one line, as they stand there."""

    line_id: str
    at: str
    quote: str
    user_name: str
    persona_name: str

    @cached_property
    def weight(self) -> Weight:
        """How heavy it weighs."""
        return weighed(self.quote)

    @cached_property
    def names(self) -> list[Named]:
        """Who is named in it."""
        return names_in(self.quote)

    @cached_property
    def topics(self) -> list[str]:
        """What it is about."""
        return topics(self.quote)

    @cached_property
    def description(self) -> str:
        """The same in the third person. A question, kept because it may be a cry for help, stays as it was
        asked."""
        if is_question(self.quote):
            asked = "{}问过：“{}”" if is_chinese(self.quote) else "{} asked: “{}”"
            return asked.format(self.user_name or ("用户" if is_chinese(self.quote) else "The user"), self.quote)
        return in_third_person(self.quote, self.user_name, self.persona_name)

    @cached_property
    def score(self) -> int:
        """How much it is worth keeping: who, what, how strongly, and whether the user asked for it."""
        strength = 4 if abs(self.weight.impact) >= 7 else 1 if self.weight.impact else 0
        about_me = 1 if FIRST_PERSON.search(self.quote) else 0
        dated = 1 if days_in(self.quote, local_day(self.at, "UTC")) else 0
        asked = 3 if KEEP_THIS.search(self.quote) else 0
        return about_me + strength + dated + asked + 2 * bool(self.names) + min(len(self.topics), 2)

    @property
    def impact(self) -> int:
        """−10 … 10. An animal at home warms a little even where no word says so."""
        return self.weight.impact or (2 if "pet" in self.topics else 0)


def extracted(material: Mapping[str, Any]) -> dict[str, Any]:
    """The extraction answer for `material` (its shape is in the package's docstring)."""
    told = list(_told(material))
    kept = worth_keeping(told)
    chinese = is_chinese("".join(one.quote for one in told), default=material["language"] == "zh")
    return {
        "events": [_event(one, material["timezone"]) for one in kept],
        "mentioned_entities": _entities(kept, material.get("known_entities", ())),
        "entity_clarification": None,
        "session_mood_signal": mood(told, chinese),
        "session_summary": _summary(kept, chinese),
        "self_check_notes": "按规则检查过强烈情绪的词。" if chinese else "Strong words were looked for by rule.",
    }


def worth_keeping(told: Sequence[Told]) -> list[Told]:
    """At most three, the weightiest, in the order in which they were said; nothing twice."""
    once = {one.description.casefold(): one for one in told if one.score >= WORTH_KEEPING}
    best = sorted(once.values(), key=lambda one: (-one.score, -abs(one.impact)))[:MOST_EVENTS]
    return [one for one in told if one in best]


def _told(material: Mapping[str, Any]) -> Iterator[Told]:
    for line in material["lines"]:
        if line["role"] == "user":
            for start, end in _statements(line["content"]):
                quote = line["content"][start:end]
                yield Told(line["id"], line["at"], quote, material["user_name"], material["persona_name"])


def _statements(content: str) -> list[tuple[int, int]]:
    """Runs of sentences that belong together: one that goes on with "he" or 他 belongs to the one before.
    Questions tell nothing, unless they are a cry for help."""
    runs: list[tuple[int, int]] = []
    open_run = False
    for start, end in sentences(content):
        sentence = content[start:end]
        if is_question(sentence) and not weighed(sentence).in_crisis:
            open_run = False
        elif open_run and CONTINUES.search(sentence):
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
            open_run = True
    return runs


def _event(one: Told, timezone: str) -> dict[str, Any]:
    days = days_in(one.quote, local_day(one.at, timezone))
    return {
        "description": one.description,
        "emotional_impact": one.impact,
        "emotion_tags": one.weight.tags(is_chinese(one.quote)),
        "relational_tags": relational_tags(one.quote),
        "subject": "user",
        "event_time": days.as_json() if days else None,
        "evidence": [{"message_id": one.line_id, "quote": one.quote}],
        "supersedes": [],
        "confidence": round(min(0.5 + 0.1 * (one.score - 1), 0.9), 1),
    }


def relational_tags(text: str) -> list[str]:
    """The tags of seed 001 whose triggers stand in `text`; mostly none."""
    return [tag for tag, trigger in RELATIONAL.items() if re.search(trigger, text, re.I)][:3]


def _entities(kept: Sequence[Told], known: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
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


def mood(told: Sequence[Told], chinese: bool) -> dict[str, Any]:
    """How the persona is left, by the strongest thing that was said, and what the last words showed."""
    impact = max((one.impact for one in told), key=abs, default=0)
    _, zh, en, energy = next(row for row in MOODS if impact <= row[0])
    return {"mood": zh if chinese else en, "energy": energy, "last_user_signal": _signal(told)}


def _signal(told: Sequence[Told]) -> str | None:
    felt = next((one for one in reversed(told) if one.impact), None)
    if felt is None:
        return None
    if felt.impact > 0:
        return "warm"
    return next((SIGNALS[kind.tag_en] for kind in felt.weight.feelings if kind.tag_en in SIGNALS), None)


def _summary(kept: Sequence[Told], chinese: bool) -> str:
    if not kept:
        return "聊了一会儿，没有特别要记的事。" if chinese else "A light chat with nothing that needed keeping."
    return clipped(("" if chinese else " ").join(one.description for one in kept), SUMMARY_CHARACTERS)
