"""A plan of forgetting as its preview shows it: what goes, what stays, in groups of a kind, with the reasons in words.

For `templates/memory/_plan.html`, which the owner's page and the desk share.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.forgetting import KINDS, REASONS, Affected, Plan

MOST_SHOWN = 40  # of one kind; the rest is counted
ORDER = ("event", "node", "thought", "intention", "expectation", "message", "session", "entity", "alias")

# What a person can picture of the tables that a plan counts; the rest are copies of it and entries of indexes.
COUNTED = {
    "persona_persona": _("companions"),
    "chat_session": _("talks"),
    "chat_message": _("lines"),
    "memory_conceptnode": _("memories"),
    "memory_evidence": _("quotes"),
    "memory_nodevector": _("vectors"),
    "memory_entity": _("people, places and things"),
    "memory_alias": _("names"),
    "chat_session.summary": _("summaries emptied"),
    "persona_moodchange": _("notes about the mood"),
}
REST = _("copies and index entries")
MENTION_MODES = [
    ("forget", _("forget it too")),
    ("withhold", _("keep it, and never bring it up")),
    ("leave", _("leave it")),
]


@dataclass(frozen=True)
class Thing:
    """One thing that a plan touches."""

    key: int
    text: str
    why: str
    may_stay: bool
    stays: bool
    mode: str = ""  # of a message in which it is also mentioned
    proposed: str = ""
    said_by: str = ""


@dataclass(frozen=True)
class Group:
    """Things of one kind: the first of them, and how many more there are."""

    label: str
    things: Sequence[Thing]
    more: int


def plan_context(plan: Plan, *, show_words: bool = True) -> dict[str, Any]:
    """What the template needs. Without `show_words` there are counts and reasons, and no words."""
    mentioned = {one.key for one in plan.mentioned}
    sections = {
        name: _groups(_unless_mentioned(getattr(plan, name), mentioned), plan, show_words)
        for name in ("going", "staying", "withheld", "erased", "elsewhere")
    }
    return sections | {
        "mentioned": _groups(plan.mentioned, plan, show_words),
        "modes": MENTION_MODES,
        "choice": plan.choice,
        "is_taken_back": not plan.choice.bury,
        "digest": plan.digest,
        "is_empty": plan.is_empty,
        "counts": describe_counts(plan.counts),
        "may_choose": _may_choose(plan),
        "is_of_lines": _is_of_lines(plan),
        "has_conclusions": _has_conclusions(plan),
    }


def _unless_mentioned(affected: Iterable[Affected], mentioned: Collection[int]) -> list[Affected]:
    """Without the messages that are listed with a choice of their own."""
    return [one for one in affected if one.kind != "message" or one.key not in mentioned]


def describe_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The counts of a plan or receipt in words, the pictured ones first."""
    known = [(str(label), counts[name]) for name, label in COUNTED.items() if counts.get(name)]
    rest = sum(count for name, count in counts.items() if name not in COUNTED)
    return [*known, (str(REST), rest)] if rest else known


def _may_choose(plan: Plan) -> bool:
    """Whether anything is there of which one can choose whether it goes."""
    kinds = {target.kind for target in plan.targets}
    return plan.choice.bury and not plan.is_empty and not kinds & {"persona", "owner"}


def _is_of_lines(plan: Plan) -> bool:
    """Whether it was lines that were chosen, and not what came of them."""
    return {target.kind for target in plan.targets} <= {"message", "session"}


def _has_conclusions(plan: Plan) -> bool:
    """Whether anything but lines is in question: else there is nothing to choose of what was concluded."""
    return plan.choice.dependents == "orphan" or any(one.kind not in ("message", "session") for one in plan.going)


def _groups(affected: Iterable[Affected], plan: Plan, show_words: bool) -> list[Group]:
    by_kind: dict[str, list[Affected]] = {}
    for one in affected:
        by_kind.setdefault(one.kind, []).append(one)
    in_order = sorted(by_kind, key=lambda kind: ORDER.index(kind) if kind in ORDER else len(ORDER))
    return [_group(kind, by_kind[kind], plan, show_words) for kind in in_order]


def _group(kind: str, found: Sequence[Affected], plan: Plan, show_words: bool) -> Group:
    things = [
        Thing(
            key=one.key,
            text=one.text if show_words else "",
            why=str(REASONS.get(one.why, one.why)),
            may_stay=one.may_stay,
            stays=one.key in plan.choice.staying and one.kind not in ("message", "session", "entity", "alias"),
            mode=one.mode or "",
            proposed=one.proposed or "",
            said_by=one.said_by,
        )
        for one in found[:MOST_SHOWN]
    ]
    return Group(str(KINDS.get(kind, kind)), things, len(found) - len(things))
