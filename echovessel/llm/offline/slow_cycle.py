"""What goes on between talks, by rule: the shape of the slow cycle's answer.

An event that lies ahead is expected; one that shares its telling words with what was expected, and says plainly that it
came about or did not, is its outcome. One heavy thing gives a thought, one unresolved thing a question.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.dates import COMING_ZH, WEEKDAYS_EN, local_day, weekday_ahead
from echovessel.llm.offline.recollecting import asked_for
from echovessel.llm.offline.reflection import NAMELESS, quieter, thing_of
from echovessel.llm.offline.text import clipped, is_chinese, pick

MOST_EXPECTATIONS = 2
WEIGHS = 5
HARD = -5
SHARED = 2
FARTHEST_DAYS = 370
QUESTION_CHARACTERS = 300

# What is hoped, feared or not known yet settles nothing.
UNSETTLED = re.compile(
    r"\b(?:hopes?|hoping|if|whether|maybe|perhaps|might|waiting|still|yet|wonders?|wondering|going to|will|tomorrow|"
    r"postponed)\b|"
    r"希望|如果|要是|也许|可能|还没|还在|等(?!到|来)|不知道|会不会|明天|下周|推迟|但愿",
    re.I,
)
DID_NOT = re.compile(
    r"\b(?:didn't|did not|never|rejected|rejection|refused|failed|cancelled|canceled|called off|fell through|"
    r"turned (?:\w+ )?down|no longer|not (?:get|pass|come|happen|accepted|chosen|selected)|wasn't|was not|weren't|"
    r"were not|lost|in vain|nothing came|gave up|went wrong|went badly)\b|"
    r"没通过|没有通过|没过|没考上|没拿到|没有拿到|没收到|没成|没去成|没来|没有来|被拒|拒绝了?|取消|失败|落选|泡汤|"
    r"黄了|吹了|不行了|没发生|没能|没等到|放弃",
    re.I,
)
CAME_TRUE = re.compile(
    r"\b(?:got|passed|accepted|offered|offer|came (?:through|true|out|back|today|yesterday|by|in)|arrived|finally|"
    r"worked out|went (?:\w+ )?(?:well|fine|smoothly|great)|succeeded|success|heard back|received|won|is here|was born|"
    r"happened|finished|done|made it|moved (?:in|to)|kept)\b|"
    r"通过了|过了|考上|录取|拿到|收到|成功|顺利|出来了|出了|到了|来了|终于|做到|实现|完成|办好|等到|等来|生了|成了|搬(?:进|到)",
    re.I,
)

EXPECTED_EN, EXPECTED_ZH = "I expect to hear how this turns out: ", "应该很快就有下文了："
WEIGHS_EN = (
    "What happened with {thing} will stay with {user} for a while, I think.",
    "I keep coming back to what {user} told of {thing}.",
)
WEIGHS_ZH = ("{thing}的事，大概会在{user}心里留一阵子。", "{user}说的{thing}，我总会想起来。")
NAMELESS_EN = ("What {user} told me will stay with {user} for a while, I think.",)
NAMELESS_ZH = ("这件事，大概会在{user}心里留一阵子。",)
QUESTION_EN, QUESTION_ZH = "How has it been for {user} since then: {told}", "那之后，{user}怎么样了：{told}"

Event = Mapping[str, Any]


def wondered(material: Mapping[str, Any]) -> dict[str, Any]:
    """The slow cycle's answer for `material` (its shape is in the package's docstring)."""
    events: Sequence[Event] = material["events"]
    return {
        "salient_questions": _questions(events, material),
        "thoughts": _thoughts(events, material),
        "expectations": _expectations(events, material),
        "outcomes": _outcomes(events, material),
        "answered_questions": _answered(events, material),
    }


def expected(description: str) -> str:
    """What an expectation of ours is about.

    >>> expected("I expect to hear how this turns out: Ana sits an exam.")
    'Ana sits an exam.'
    """
    return description.removeprefix(EXPECTED_EN).removeprefix(EXPECTED_ZH)


def telling_words(text: str, material: Mapping[str, Any]) -> set[str]:
    """What `text` is about, without the two who talk, days and numbers."""
    bare = expected(text)
    for name in (material["user_name"], material["persona_name"]):
        bare = bare.replace(name, " ") if name else bare
    bare = COMING_ZH.sub(" ", re.sub(rf"\b(?:{'|'.join(WEEKDAYS_EN)})\b|\d+", " ", bare, flags=re.I))
    return set(asked_for(bare))


def _outcomes(events: Sequence[Event], material: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for awaited in material["awaited"]:
        telling = [event for event in events if _turned_out(event["description"])]
        best = _nearest(awaited["description"], telling, material)
        if best:
            outcome = _turned_out(best["description"])
            found.append({"of": awaited["id"], "outcome": outcome, "evidence": [best["id"]]})
    return found


def _turned_out(told: str) -> str:
    """How a thing ended that `told` speaks of; "" where it does not say so plainly."""
    if UNSETTLED.search(told) or is_question(told):
        return ""
    return "violated" if DID_NOT.search(told) else "fulfilled" if CAME_TRUE.search(told) else ""


def _nearest(text: str, events: Iterable[Event], material: Mapping[str, Any]) -> Event | None:
    """Of those that share enough telling words with `text` the one that shares most; of equals the newest."""
    wanted = telling_words(text, material)
    enough = min(SHARED, len(wanted)) or SHARED
    shared = [
        (len(wanted & telling_words(event["description"], material)), at, event) for at, event in enumerate(events)
    ]
    fitting = [one for one in shared if one[0] >= enough]
    return max(fitting, key=lambda one: one[:2])[2] if fitting else None


def _expectations(events: Sequence[Event], material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What lies ahead of now, the next first; what is expected already not again."""
    today = local_day(material["now"], material["timezone"])
    dated = [(due, event) for event in events if (due := _ahead(event, material)) and due >= today]
    dated.sort(key=lambda pair: pair[0])
    awaited = [one["description"] for one in material["awaited"]]
    fresh = [(due, event) for due, event in dated if not _repeats(event["description"], awaited, material)]
    return [
        {"description": _expects(event["description"]), "due": due.isoformat(), "filling": [event["id"]]}
        for due, event in fresh[:MOST_EXPECTATIONS]
    ]


def _ahead(event: Event, material: Mapping[str, Any]) -> date | None:
    """The day after the telling by which something is to come, where it says so: what has just been may have a sequel
    ("the interview was today, the result comes on Friday")."""
    told_on = local_day(event["told_at"], material["timezone"])
    if event["event_time"]:
        last = date.fromisoformat(event["event_time"]["end"])
        if told_on < last:
            return last if last <= told_on + timedelta(days=FARTHEST_DAYS) else None
    return weekday_ahead(event["description"], told_on)


def _repeats(told: str, known: Iterable[str], material: Mapping[str, Any]) -> bool:
    words = telling_words(told, material)
    return any(len(words & telling_words(other, material)) >= max(SHARED, len(words) * 2 // 3) for other in known)


def _expects(told: str) -> str:
    return f"{EXPECTED_ZH if is_chinese(told) else EXPECTED_EN}{told}"


def _thoughts(events: Sequence[Event], material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One, of what weighs most, where it weighs enough."""
    top = max(events, key=lambda event: abs(event["emotional_impact"]), default=None)
    if top is None or abs(top["emotional_impact"]) < WEIGHS or is_question(top["description"]):
        return []
    chinese = is_chinese(top["description"])
    thing = thing_of(top["description"], material["user_name"])
    said = pick(_weighing(thing, chinese), top["description"]).format(thing=thing, user=_user(material, chinese))
    if any(thought["description"] == said for thought in material["thoughts"]):
        return []
    thought = {"description": said, "emotional_impact": quieter(top["emotional_impact"]), "subject": "user"}
    return [thought | {"filling": [top["id"]]}]


def _weighing(thing: str, chinese: bool) -> Sequence[str]:
    if thing in NAMELESS:
        return NAMELESS_ZH if chinese else NAMELESS_EN
    return WEIGHS_ZH if chinese else WEIGHS_EN


def _questions(events: Sequence[Event], material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One, of what is unresolved or hard, the weightiest first; not one that is asked already."""
    open_ones = [event for event in events if _is_open(event)]
    known = [question["text"] for question in material["questions"]]
    fresh = [event for event in open_ones if not _repeats(event["description"], known, material)]
    top = max(fresh, key=lambda event: abs(event["emotional_impact"]), default=None)
    if top is None:
        return []
    chinese = is_chinese(top["description"])
    asked = QUESTION_ZH if chinese else QUESTION_EN
    told = clipped(top["description"], QUESTION_CHARACTERS)
    return [{"text": asked.format(user=_user(material, chinese), told=told), "about": [top["id"]]}]


def _is_open(event: Event) -> bool:
    return "unresolved" in event["relational_tags"] or event["emotional_impact"] <= HARD


def _answered(events: Sequence[Event], material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The questions that a later event has the telling words of."""
    found = ((question, _nearest(_about(question["text"]), events, material)) for question in material["questions"])
    return [{"question": question["id"], "by": event["id"]} for question, event in found if event]


def _about(question: str) -> str:
    return re.split("[:：]", question, maxsplit=1)[-1]


def _user(material: Mapping[str, Any], chinese: bool) -> str:
    return str(material["user_name"] or ("用户" if chinese else "the user"))
