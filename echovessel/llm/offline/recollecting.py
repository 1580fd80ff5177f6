"""Which of the given recollections answers a question, and how to tell it to the one it is about."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from echovessel.llm.offline.person import in_second_person
from echovessel.llm.offline.text import CJK, is_question, words
from echovessel.llm.offline.topics import shared_topics, topics

# What is left of a question after these is what it asks for.
SMALL_ZH = re.compile(
    "还记得|记不记得|记得|知不知道|知道|告诉过|告诉|上次|之前|以前|说过的|说过|说的|什么|名字|怎么样|怎么|哪里|哪儿|多少|"
    "关于|我们|事情|那个|这个|一下|还有|现在|最近|你|我|他|她|它|吗|呢|吧|啊|呀|么|的|了|过|是|有|叫|谁|哪|几|在|和|说|事|会|要|想"
)
SMALL_EN = words(
    """a an the do does did you your i me my mine we our is are was were am be been have has had of in
    on at to for with about and or but if so that this it its he she they his her their what who where
    when why how which remember recall know tell told say said still name names called anything
    something everything any some ever last time can could would will not no yes please just really
    think mean i'm i've what's who's where's when's don't"""
)
SAME = 0.5  # share of common pairs of letters above which two recollections tell the same


@dataclass(frozen=True)
class Memory:
    """Something the persona may say that it remembers: `told` speaks to the user; `text` is as it was
    given."""

    text: str
    told: str
    layer: str


def memories(material: Mapping[str, Any]) -> list[Memory]:
    """What may be told, best first: recollections, then what the user said a moment ago. Neither the
    persona's own words nor questions nor the lines to be answered: none of them is a memory."""
    burst = {line.strip() for line in material["lines"]}
    recent = [
        {"text": line["content"], "layer": "L2", "speaker": line["role"]}
        for line in reversed(material.get("recent", ()))
    ]
    told = [
        _memory(item, material)
        for item in (*material.get("recollections", ()), *recent)
        if item["text"].strip() not in burst and not _is_no_memory(item)
    ]
    return _without_repeats(told)


def about(question: str, known: Sequence[Memory]) -> list[Memory]:
    """Those of `known` that `question` asks for, best first; all of them, if it asks for nothing in
    particular."""
    wanted = asked_for(question)
    if not wanted and not topics(question):
        return list(known)
    scored = [(_fit(memory.text, wanted, question), memory) for memory in known]
    return [memory for fit, memory in sorted(scored, key=lambda pair: -pair[0]) if fit > 0]


def asked_for(question: str) -> list[str]:
    """The telling words of a question: Latin words, and Chinese pairs (or what is left of one character).

    >>> asked_for("你还记得我的猫吗？"), asked_for("Do you remember my cat's name?")
    (['猫'], ['cat'])
    """
    chinese = [
        run[at : at + 2]
        for run in re.findall(r"[\u3400-\u9fff]+", SMALL_ZH.sub(" ", question))
        for at in range(max(1, len(run) - 1))
    ]
    latin = [re.sub(r"'s$", "", word) for word in re.findall(r"[a-z][a-z'-]+", question.casefold().replace("’", "'"))]
    return [*chinese, *(word.rstrip("s") for word in latin if word not in SMALL_EN)]


def _fit(text: str, wanted: Sequence[str], question: str) -> int:
    lower = text.casefold()
    return sum(word in lower for word in wanted) + 2 * shared_topics(question, text)


def _is_no_memory(item: Mapping[str, Any]) -> bool:
    return item["layer"] == "L2" and (item["speaker"] != "user" or is_question(item["text"]))


def _memory(item: Mapping[str, Any], material: Mapping[str, Any]) -> Memory:
    text = item["text"].strip()
    if item["layer"] == "L2":
        return Memory(text, text, "L2")
    told = in_second_person(text, material["user_name"], material["persona_name"])
    return Memory(text, told, item["layer"])


def _without_repeats(told: Sequence[Memory]) -> list[Memory]:
    kept: list[Memory] = []
    for memory in told:
        if all(_alike(memory.text, other.text) < SAME for other in kept):
            kept.append(memory)
    return kept


def _alike(one: str, other: str) -> float:
    """Common pairs of letters as a share of the shorter text's."""
    pairs = [{text[at : at + 2] for at in range(len(text) - 1)} for text in (_letters(one), _letters(other))]
    return len(pairs[0] & pairs[1]) / max(1, min(map(len, pairs)))


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum() or CJK.match(character))
