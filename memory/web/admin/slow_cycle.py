"""Admin pages of the slow cycle: its runs, described by the rows they refer to, and the persona's open questions."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from echovessel.admin import AboutPersona, Lately, ReadOnlyAdmin, ReadOnlyInline, excerpt
from memory.curation import questions
from memory.models import ConceptNode, Question, QuestionGround, SlowCycleRun
from memory.web.presenters.admin_node import node_address
from memory.web.presenters.slow_cycle import MAX_EXCERPT, run_context


@admin.register(SlowCycleRun)
class SlowCycleRunAdmin(ReadOnlyAdmin):
    """One run: its reason, its inputs, and the outcome of each result."""

    words = ["account"]
    exclude = ["given", "made"]
    readonly_fields = ["account"]
    unlisted = ["given", "made"]
    list_display = ["at", "persona", "reason", "outcome", "failure", "dropped", "tokens_in", "tokens_out"]
    list_filter = ["reason", "outcome", Lately.of("at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["persona__name", "persona__uuid", "session__uuid"]

    @admin.display(description=_("inputs and results"))
    def account(self, run: SlowCycleRun) -> str:
        return render_to_string("admin/memory/_slow_cycle.html", run_context(run))


class GroundInline(ReadOnlyInline):
    model = QuestionGround
    verbose_name_plural = _("sources")
    fields = ["memory"]
    readonly_fields = ["memory"]
    related = ["node"]

    @admin.display(description=_("memory"))
    def memory(self, ground: QuestionGround) -> str:
        return format_html(
            '<a href="{}">{}</a>', node_address(ground.node), excerpt(ground.node.description, MAX_EXCERPT)
        )


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    """A question of the persona; somebody who knows better can drop it."""

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
        return (
            format_html('<a href="{}">{}</a>', node_address(node), excerpt(node.description, MAX_EXCERPT))
            if node
            else "–"
        )

    def has_drop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memory.change_question")

    @admin.action(description=_("Drop the question"), permissions=["drop"])
    def drop(self, request: HttpRequest, chosen: QuerySet[Question]) -> None:
        now = timezone.now()
        readable = [question for question in self.limited_rows(request, chosen) if self.reads(request, question)]
        dropped = sum(questions.drop(question, now) for question in readable)
        text = ngettext("%(count)d question was dropped.", "%(count)d questions were dropped.", dropped)
        self.message_user(request, text % {"count": dropped})


def _node_link(node: ConceptNode) -> str:
    return format_html('<a href="{}">{}</a>', node_address(node), excerpt(node.description, MAX_EXCERPT))
