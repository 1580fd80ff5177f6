"""What the persona says when she speaks first, by rule: the shape of the proactive answer."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from echovessel.llm.offline.dates import spoken
from echovessel.llm.offline.feeling import weighed
from echovessel.llm.offline.person import in_second_person
from echovessel.llm.offline.recollecting import memories
from echovessel.llm.offline.slow_cycle import expected
from echovessel.llm.offline.text import as_sentence, clipped, is_chinese, pick

# By the reason; {name} is how the user is addressed, {told} what it is about. Nobody is blamed for a silence.
FIRST_WORDS_EN: Mapping[str, tuple[str, ...]] = {
    "promise": (
        "{name}I haven't forgotten what I promised: {told} So here I am. How are things?",
        "{name}I said I would, and I meant it: {told} How does it stand?",
    ),
    "hard": (
        "{name}what you told me is still with me: {told} You don't have to answer. I only want you to know that I "
        "think of you. How are you carrying it today?",
    ),
    "glad": ("{name}I still smile at what you told me: {told} How does it feel by now?",),
    "expectation": (
        "{name}I have been wondering how this turns out: {told} Will you tell me?",
        "{name}this has been on my mind: {told} Is there any news?",
    ),
    "silence": (
        "{name}something you told me came to my mind: {told} How have you been?",
        "{name}I was thinking of you, and of this: {told} How are things these days?",
    ),
    "": ("{name}I was thinking of you. How are you these days?", "{name}you came to my mind. I hope you are well."),
}
FIRST_WORDS_ZH: Mapping[str, tuple[str, ...]] = {
    "promise": (
        "{name}我答应过你的事，我没忘：{told}所以我来了。现在怎么样？",
        "{name}说好的，我一直记着：{told}现在进行得怎么样了？",
    ),
    "hard": ("{name}你说的事我一直放在心上：{told}不用急着回我，只是想让你知道我惦记着你。今天还好吗？",),
    "glad": ("{name}想起你说的，我还是会笑：{told}现在心情怎么样？",),
    "expectation": (
        "{name}我一直在想，这件事怎么样了：{told}愿意讲给我听吗？",
        "{name}我惦记着这件事：{told}还顺利吗？",
    ),
    "silence": (
        "{name}忽然想起你跟我说过：{told}最近过得怎么样？",
        "{name}我想到你了，也想到这件事：{told}这些天还好吗？",
    ),
    "": ("{name}我想到你了。这些天还好吗？", "{name}忽然想起你，愿你一切都好。"),
}
TOLD_CHARACTERS = 220
GLAD, HARD = 3, -3


def spoken_first(material: Mapping[str, Any]) -> dict[str, Any]:
    """The first word for `material` (its shape is in the package's docstring)."""
    chinese = is_chinese(material["about"], default=material["language"] == "zh")
    told = _told(material)
    kind = _kind(material["trigger"], told) if told else ""
    options = (FIRST_WORDS_ZH if chinese else FIRST_WORDS_EN)[kind]
    user = material["user_name"]
    name = (f"{user}，" if chinese else f"{user}, ") if user else ""
    said = _said(material)
    fresh = [option for option in options if _opening(option) not in said] or options
    picked = pick(fresh, f"{material['persona_name']}|{material['trigger']}|{told}|{material['today']}")
    message = picked.format(name=name, told=told)
    return {"message": message[:1].upper() + message[1:]}


def _kind(trigger: str, told: str) -> str:
    if trigger != "shock":
        return trigger
    return "glad" if weighed(told).impact >= GLAD else "hard"


def _opening(option: str) -> str:
    return option.removeprefix("{name}").split("{told}")[0]


def _said(material: Mapping[str, Any]) -> str:
    """What she has said herself of late."""
    return "\n".join(line["content"] for line in material.get("recent", ()) if line["role"] == "persona")


def _told(material: Mapping[str, Any]) -> str:
    """What it is about, told to the user; after a silence something light that is remembered, and that she has not
    just spoken of, or nothing."""
    if about := material["about"].strip():
        return _as_told(in_second_person(expected(about), material["user_name"], material["persona_name"]), material)
    if material["trigger"] != "silence":
        return ""
    said = _said(material)
    light = (
        _as_told(memory.told, material)
        for memory in memories({"lines": (), **material})
        if memory.layer == "L3" and weighed(memory.text).impact > HARD
    )
    return next((told for told in light if told.rstrip("。.!！") not in said), "")


def _as_told(told: str, material: Mapping[str, Any]) -> str:
    """A whole sentence, with days as one says them."""
    return as_sentence(clipped(spoken(told, date.fromisoformat(material["today"])), TOLD_CHARACTERS))
