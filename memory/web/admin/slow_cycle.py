"""The desk's pages of what she makes of things between talks: the runs, told by the rows they refer to, and what she
wonders about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from echovessel.admin import AboutPersona, Lately, Seen, SeenInline, excerpt, page_of
from memory.models import ConceptNode, Entity, Question, QuestionGround, SlowCycleRun
from memory.slow_cycle import questions
from memory.web.admin.node_page import address

LONGEST = 300
MADE = {
    "thought": _("thought"),
    "expectation": _("expectation"),
    "question": _("question"),
    "outcome": _("how something ended"),
    "answer": _("answer to a question"),
    "description": _("description"),
    "events": _("events"),
    "item": _("something else"),
}
BECAME = {
    "new": _("new"),
    "repeated": _("said before"),
    "reinforced": _("said before, in other words"),
    "fulfilled": _("fulfilled"),
    "violated": _("violated"),
}
DROPPED = {
    "no_ground": _("dropped: it rests on nothing that was given and is there still"),
    "too_many": _("dropped: one too many"),
    "past_due": _("dropped: its day is over"),
    "unknown": _("dropped: about something that was not given"),
    "said_twice": _("dropped: said twice"),
    "unreadable": _("dropped: it could not be read"),
    "asked_before": _("dropped: she wonders about it already"),
    "not_open": _("dropped: it was settled already"),
    "forgotten": _("dropped: it was forgotten"),
    "changed": _("dropped: it was put right meanwhile"),
}
GIVEN = {
    "events": _("new events"),
    "awaited": _("awaited"),
    "questions": _("questions"),
    "thoughts": _("thoughts"),
    "entities": _("who was to be described"),
}
# Where the keys of what is given or made are looked up; all others are memories.
ASKING, DESCRIBING = ("question", "answer"), ("description",)
TABLES = {
    "questions": "question",
    "entities": "entity",
    **dict.fromkeys(ASKING, "question"),
    **dict.fromkeys(DESCRIBING, "entity"),
}


@dataclass(frozen=True)
class ShownRow:
    """A row of which a run tells: its words and its page; of one that is gone, neither."""

    text: str
    address: str


@dataclass(frozen=True)
class MadeRow:
    """What a run said, what became of it, and by what it was said."""

    kind: Any
    became: Any
    what: ShownRow | None
    by: Sequence[ShownRow]


def run_context(run: SlowCycleRun) -> dict[str, Any]:
    """What the page of a run tells, in a constant number of statements."""
    given = {name: run.given.get(name, []) for name in GIVEN}
    nodes = {*given["events"], *given["awaited"], *given["thoughts"], *_node_keys(run.made)}
    rows: dict[str, Mapping[int, Any]] = {
        "node": ConceptNode.objects.in_bulk(nodes),
        "question": Question.objects.in_bulk({*_keys(run.made, ASKING), *given["questions"]}),
        "entity": Entity.objects.in_bulk({*_keys(run.made, DESCRIBING), *given["entities"]}),
    }
    told = [(label, _all_shown(rows, TABLES.get(name, "node"), given[name])) for name, label in GIVEN.items()]
    return {"given": [one for one in told if one[1]], "made": [_made(rows, item) for item in run.made]}


def _keys(made: Iterable[Mapping[str, Any]], kinds: Sequence[str]) -> set[int]:
    return {item["id"] for item in made if "id" in item and item["kind"] in kinds}


def _node_keys(made: Iterable[Mapping[str, Any]]) -> set[int]:
    others = (*ASKING, *DESCRIBING)
    return {item["id"] for item in made if "id" in item and item["kind"] not in others} | {
        key for item in made for key in item.get("by", ())
    }


def _made(rows: Mapping[str, Mapping[int, Any]], item: Mapping[str, Any]) -> MadeRow:
    kind, why = item["kind"], item.get("dropped", "")
    became = DROPPED.get(why, why) if why else BECAME.get(item.get("outcome", ""), "")
    what = _shown(rows, TABLES.get(kind, "node"), item["id"]) if "id" in item else None
    return MadeRow(MADE.get(kind, kind), became, what, _all_shown(rows, "node", item.get("by", ())))


def _all_shown(rows: Mapping[str, Mapping[int, Any]], table: str, keys: Iterable[int]) -> list[ShownRow]:
    return [_shown(rows, table, key) for key in keys]


def _shown(rows: Mapping[str, Mapping[int, Any]], table: str, key: int) -> ShownRow:
    row = rows[table].get(key)
    if row is None:
        return ShownRow("", "")
    if isinstance(row, ConceptNode):
        return ShownRow(excerpt(row.description, LONGEST), address(row))
    return ShownRow(row.text if isinstance(row, Question) else row.canonical_name, page_of(row))


@admin.register(SlowCycleRun)
class SlowCycleRunAdmin(Seen):
    """One run: why, what it was given, and what became of each thing it said."""

    words = ["account"]
    exclude = ["given", "made"]
    readonly_fields = ["account"]
    unlisted = ["given", "made"]
    list_display = ["at", "persona", "reason", "outcome", "failure", "dropped", "tokens_in", "tokens_out"]
    list_filter = ["reason", "outcome", Lately.of("at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["persona__name", "persona__uuid", "session__uuid"]

    @admin.display(description=_("what it was given, and what it made"))
    def account(self, run: SlowCycleRun) -> str:
        return render_to_string("admin/memory/_slow_cycle.html", run_context(run))


class GroundInline(SeenInline):
    model = QuestionGround
    verbose_name_plural = _("what it rests on")
    fields = ["memory"]
    readonly_fields = ["memory"]
    related = ["node"]

    @admin.display(description=_("memory"))
    def memory(self, ground: QuestionGround) -> str:
        return format_html('<a href="{}">{}</a>', address(ground.node), excerpt(ground.node.description, LONGEST))


@admin.register(Question)
class QuestionAdmin(Seen):
    """What she wonders about; whoever knows better has her wonder about it no more."""

    words = ["text", "answered"]
    list_display = ["asked_at", "persona", "text", "status", "settled_at"]
    list_filter = ["status", Lately.of("asked_at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["text", "persona__uuid"]
    readonly_fields = ["answered"]
    exclude = ["content_hash", "answered_by"]
    inlines = [GroundInline]
    actions = ["drop"]
    on_page = ["drop"]

    def waits(self, row: Question) -> bool:
        return row.status == Question.Status.OPEN

    @admin.display(description=_("answered by"))
    def answered(self, question: Question) -> str:
        node = question.answered_by
        return format_html('<a href="{}">{}</a>', address(node), excerpt(node.description, LONGEST)) if node else "–"

    def has_drop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memory.change_question")

    @admin.action(description=_("Wonder about it no more"), permissions=["drop"])
    def drop(self, request: HttpRequest, chosen: QuerySet[Question]) -> None:
        now = timezone.now()
        readable = [question for question in self.chosen(request, chosen) if self.reads(request, question)]
        dropped = sum(questions.drop(question, now) for question in readable)
        text = ngettext("%(count)d question was dropped.", "%(count)d questions were dropped.", dropped)
        self.message_user(request, text % {"count": dropped})
