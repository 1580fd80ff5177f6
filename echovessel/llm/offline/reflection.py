"""One quiet impression of what was remembered, by rule: the shape of the reflection answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from echovessel.llm.offline.names import names_in
from echovessel.llm.offline.text import is_chinese, pick
from echovessel.llm.offline.topics import topics

# By the sign of what weighs most. They describe; they do not advise, label or speak of conversations.
IMPRESSIONS_ZH = {
    1: (
        "说起{thing}的时候，{user}整个人都会软下来一点。",
        "{user}讲{thing}讲得很轻，可我听得出来，那是放在心上的。",
        "{user}的日子里，{thing}是会让人笑出来的那一小块。",
    ),
    -1: (
        "{thing}这件事，{user}说得很克制，可分量一直都在。",
        "{user}把{thing}的重量自己扛着，却还是愿意说给我听。",
        "我留意到，{user}提到{thing}的时候，话会变短。",
    ),
    0: (
        "{user}愿意让我知道{thing}，我觉得这本身就很珍贵。",
        "{user}说{thing}的时候很平静，像是在慢慢让我认识TA。",
    ),
}  # fmt: skip
IMPRESSIONS_EN = {
    1: (
        "{user} softens a little when {thing} comes up.",
        "{user} tells it lightly, but I can hear how much {thing} matters.",
        "I've been noticing that {thing} is the part of the day that makes {user} smile.",
    ),
    -1: (
        "{user} speaks of {thing} quietly, and the weight of it is there all the same.",
        "I've been noticing that {user} carries what happened with {thing} mostly alone, and still told me.",
        "{user}'s words get shorter when it comes to {thing}.",
    ),
    0: (
        "{user} lets me know small things like {thing}, and I find that precious.",
        "{user} speaks of {thing} calmly, the way one lets someone get to know them.",
    ),
}
THINGS_ZH = {
    "pet": "家里的小动物", "health": "身体", "work": "工作", "study": "学业", "family": "家里人",
    "plan": "接下来的打算",
    "home": "住的地方", "people": "身边的人", "birthday": "生日", "taste": "喜欢的东西",
}  # fmt: skip
THINGS_EN = {
    "pet": "the animal at home", "health": "health", "work": "work", "study": "studying", "family": "family",
    "plan": "what comes next", "home": "home", "people": "the people close by", "birthday": "that day",
    "taste": "favourite things",
}  # fmt: skip
STRONGEST = 8
NAMELESS = ("this", "这件事")


def reflected(material: Mapping[str, Any]) -> dict[str, Any]:
    """The reflection answer for `material`: one thought, or none where there are no events."""
    events = material["events"]
    if not events:
        return {"thoughts": []}
    top = max(events, key=lambda event: abs(event["emotional_impact"]))
    about = thing_of(top["description"], material["user_name"])
    return {
        "thoughts": [
            {
                "description": _impression(top, about, material["user_name"]),
                "emotional_impact": quieter(top["emotional_impact"]),
                "subject": "user",
                "filling": _filling(events, top, about),
            }
        ]
    }


def _impression(event: Mapping[str, Any], thing: str, user_name: str) -> str:
    chinese = is_chinese(event["description"])
    impact = event["emotional_impact"]
    options = (IMPRESSIONS_ZH if chinese else IMPRESSIONS_EN)[(impact > 0) - (impact < 0)]
    user = user_name or ("用户" if chinese else "The user")
    return pick(options, event["description"]).format(thing=thing, user=user)


def thing_of(description: str, user_name: str) -> str:
    """What the impression is about: a name, else a topic, the most telling first."""
    named = [named.name for named in names_in(description) if named.name != user_name]
    if named:
        return named[0]
    things = THINGS_ZH if is_chinese(description) else THINGS_EN
    found = topics(description)
    telling = next((topic for topic in things if topic in found), None)
    if telling:
        return things[telling]
    return NAMELESS[things is THINGS_ZH]


def quieter(impact: int) -> int:
    """A thought about a thing weighs less than the thing."""
    return max(-STRONGEST, min(STRONGEST, round(impact * 0.6)))


def _filling(events: Sequence[Mapping[str, Any]], top: Mapping[str, Any], thing: str) -> list[str]:
    """The event itself, and up to two others that name the same."""
    others = [event["id"] for event in events if event is not top and thing in event["description"]]
    return [top["id"], *others[:2]]
