"""The plan of forgetting, and its receipt: for the owner's pages and the admin (`templates/memory/_plan.html`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import npgettext_lazy

from chat.rendering.markdown import as_line
from memory.forgetting import KINDS, REASONS, Affected, Plan
from memory.models import Receipt

MAX_SHOWN = 40  # of one kind; the rest is counted
ORDER = (
    "event", "fact", "node", "thought", "intention", "expectation", "lesson", "message", "session", "entity", "alias",
)  # fmt: skip

# Labels of the counted tables that mean something to a person; the others hold copies and index entries.
TABLE_LABELS = {
    "persona_persona": npgettext_lazy("counted", "companion", "companions", "n"),
    "chat_session": npgettext_lazy("counted", "conversation", "conversations", "n"),
    "chat_message": npgettext_lazy("counted", "message", "messages", "n"),
    "memory_conceptnode": npgettext_lazy("counted", "memory", "memories", "n"),
    "memory_evidence": npgettext_lazy("counted", "quote", "quotes", "n"),
    "memory_nodevector": npgettext_lazy("counted", "search vector", "search vectors", "n"),
    "memory_entity": npgettext_lazy("counted", "person, place or thing", "people, places and things", "n"),
    "memory_photo": npgettext_lazy("counted", "photo", "photos", "n"),
    "memory_alias": npgettext_lazy("counted", "name", "names", "n"),
    "chat_session.summary": npgettext_lazy("counted", "summary cleared", "summaries cleared", "n"),
    "persona_moodchange": npgettext_lazy("counted", "mood note", "mood notes", "n"),
}
OTHER_TABLES = npgettext_lazy("counted", "copy or index entry", "copies and index entries", "n")
MENTION_MODES = [
    ("forget", _("forget it too")),
    ("withhold", _("keep it, but never bring it up")),
    ("leave", _("leave it as it is")),
]


@dataclass(frozen=True)
class PlanItem:
    """One row of a plan."""

    key: int
    text: str
    why: str
    may_stay: bool
    stays: bool
    mode: str = ""  # of a message that also mentions it
    proposed: str = ""
    role: str = ""


@dataclass(frozen=True)
class PlanGroup:
    """Rows of one kind: the first of them, and how many more there are."""

    label: str
    items: Sequence[PlanItem]
    hidden_count: int


def plan_context(plan: Plan, *, show_words: bool = True) -> dict[str, Any]:
    """The template's context for a plan. Without `show_words` it has counts and reasons, and no texts."""
    mentioned = {affected.key for affected in plan.mentioned}
    # Messages that also mention it have their own section, with a choice for each.
    sections = {
        name: [affected for affected in rows if affected.kind != "message" or affected.key not in mentioned]
        for name, rows in plan.sections.items()
    }
    kinds = {target.kind for target in plan.targets}
    has_memories = any(affected.kind not in ("message", "session") for affected in plan.deleted)
    chosen_kinds = {affected.kind for affected in plan.deleted if affected.why == "chosen"}
    return {name: _groups(affected, plan, show_words) for name, affected in sections.items()} | {
        "mentioned": _groups(plan.mentioned, plan, show_words),
        "modes": MENTION_MODES,
        "choice": plan.choice,
        "is_reverted": not plan.choice.block_reimport,
        "digest": plan.digest,
        "is_empty": plan.is_empty,
        "counts": describe_counts(plan.counts),
        "may_choose": plan.choice.block_reimport and not plan.is_empty and not kinds & {"persona", "owner"},
        "is_of_messages": kinds <= {"message", "session"},
        "is_of_wishes": chosen_kinds == {"lesson"},
        "has_conclusions": has_memories or plan.choice.dependents == "orphan",
    }


def receipt_context(receipt: Receipt) -> dict[str, Any]:
    """The template's context for a receipt."""
    return {
        "receipt": receipt,
        "counts": describe_counts(receipt.counts),
        "is_pending": receipt.status == Receipt.Status.PENDING,
        "kept_elsewhere": receipt.choice.get("kept_elsewhere", 0),
        "by_another": receipt.by_id not in (None, receipt.owner_id),
    }


def describe_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The counts of a plan or receipt in words, the most familiar kinds first."""
    known_counts = [
        (str(label % {"n": counts[name]}), counts[name]) for name, label in TABLE_LABELS.items() if counts.get(name)
    ]
    other_count = sum(count for name, count in counts.items() if name not in TABLE_LABELS)
    return [*known_counts, (str(OTHER_TABLES % {"n": other_count}), other_count)] if other_count else known_counts


def _groups(affected: Iterable[Affected], plan: Plan, show_words: bool) -> list[PlanGroup]:
    by_kind: dict[str, list[Affected]] = {}
    for row in affected:
        by_kind.setdefault(row.kind, []).append(row)
    groups = []
    for kind in sorted(by_kind, key=lambda kind: ORDER.index(kind) if kind in ORDER else len(ORDER)):
        items = [
            PlanItem(
                key=row.key,
                text=(as_line(row.text) if row.kind == "message" else row.text) if show_words else "",
                why=str(REASONS.get(row.why, row.why)),
                may_stay=row.may_stay,
                stays=row.key in plan.choice.staying and row.kind not in ("message", "session", "entity", "alias"),
                mode=row.mode or "",
                proposed=row.proposed or "",
                role=row.role,
            )
            for row in by_kind[kind][:MAX_SHOWN]
        ]
        groups.append(PlanGroup(str(KINDS.get(kind, kind)), items, len(by_kind[kind]) - len(items)))
    return groups
