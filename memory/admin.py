"""The desk's pages of L3 to L5: what remains, with the words it came from beside it."""

import json
from typing import cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

from chat import closing
from chat.admin import SessionAdmin, TurnAdmin
from chat.models import Session, Turn
from echovessel.desk import Seen, SeenInline, excerpt
from memory import xray_sheet
from memory.consolidation import runner
from memory.entities import merging
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    Event,
    Evidence,
    Expectation,
    Extraction,
    Filling,
    Intention,
    Mention,
    MergeProposal,
    ModelReply,
    ReflectionRun,
    Thought,
)

MEMORIES_BESIDE, LONGEST_BESIDE = 5, 200

# Why two entities may be the same, in words; the reasons are kept on the proposals.
REASONS = {
    "same_name": _("the same name"),
    "shared_alias": _("a shared other name"),
    "shared_name": _("one name is short for the other"),
    "transliteration": _("one name spells the other"),
    "similar_spelling": _("the names sound alike"),
    "familiar_name": _("one may be a pet name of the other"),
    "other_script": _("names in two scripts"),
    "similar_memories": _("similar memories"),
    "shared_company": _("seen with the same people"),
    "said_so": _("it was said in a talk"),
}


class EvidenceInline(SeenInline):
    model = Evidence
    verbose_name_plural = _("the words it came from")
    fields = ["said_at", "said_by", "quote"]
    readonly_fields = ["said_at", "said_by", "quote"]

    @admin.display(description=_("said at"))
    def said_at(self, evidence: Evidence) -> str:
        return date_format(timezone.localtime(evidence.message.created_at), "DATETIME_FORMAT")

    @admin.display(description=_("said by"))
    def said_by(self, evidence: Evidence) -> str:
        return str(evidence.message.get_role_display())


class FillingInline(SeenInline):
    model = Filling
    fk_name = "parent"
    verbose_name_plural = _("what it was concluded from")
    fields = ["source", "orphaned"]
    readonly_fields = ["source", "orphaned"]

    @admin.display(description=_("memory"))
    def source(self, filling: Filling) -> str:
        return filling.child.description


class DependentInline(SeenInline):
    model = Filling
    fk_name = "child"
    verbose_name_plural = _("what was concluded from it")
    fields = ["conclusion", "orphaned"]
    readonly_fields = ["conclusion", "orphaned"]

    @admin.display(description=_("memory"))
    def conclusion(self, filling: Filling) -> str:
        return filling.parent.description


class MentionInline(SeenInline):
    model = Mention
    verbose_name_plural = _("who and what it is about")
    fields = ["entity_name"]
    readonly_fields = ["entity_name"]

    @admin.display(description=_("name"))
    def entity_name(self, mention: Mention) -> str:
        return mention.entity.canonical_name


class MentionedInInline(MentionInline):
    verbose_name_plural = _("what remains of it")
    fields = ["memory"]
    readonly_fields = ["memory"]

    @admin.display(description=_("memory"))
    def memory(self, mention: Mention) -> str:
        return mention.node.description


class NodeAdmin(Seen):
    """What the pages of events and of thoughts share."""

    list_display = [
        "created_at",
        "persona",
        "beginning",
        "emotional_impact",
        "status",
        "verification",
        "source",
    ]
    list_filter = ["status", "verification", "source", "subject", "emotional_impact"]
    list_select_related = ["persona"]
    search_fields = ["description", "persona__name", "uuid", "external_id"]
    inlines = [EvidenceInline, FillingInline, MentionInline, DependentInline]

    @admin.display(description=_("memory"))
    def beginning(self, node: ConceptNode) -> str:
        return excerpt(node.description)


for model in (Event, Thought, Intention, Expectation):
    admin.site.register(model, NodeAdmin)


class AliasInline(SeenInline):
    model = Alias
    fields = ["text", "normalized"]


@admin.register(Entity)
class EntityAdmin(Seen):
    list_display = ["canonical_name", "kind", "persona", "status", "created_at"]
    list_filter = ["kind", "status"]
    list_select_related = ["persona"]
    search_fields = ["canonical_name", "aliases__text", "persona__name", "uuid"]
    inlines = [AliasInline, MentionedInInline]


@admin.register(MergeProposal)
class MergeProposalAdmin(Seen):
    list_display = ["first_name", "second_name", "why", "score", "status", "decided_by", "decided_at"]
    list_filter = ["status"]
    list_select_related = ["a__persona", "b", "decided_by"]
    search_fields = ["a__canonical_name", "b__canonical_name"]
    fields = [
        "first_name",
        "first_known_by",
        "second_name",
        "second_known_by",
        "why",
        "score",
        "status",
        "decided_by",
        "decided_at",
        "hinted_at",
    ]
    readonly_fields = ["first_name", "first_known_by", "second_name", "second_known_by", "why"]
    actions = ["merge", "keep_apart", "undo"]

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memory.change_mergeproposal")

    @admin.action(description=_("They are the same: merge"), permissions=["decide"])
    def merge(self, request: HttpRequest, proposals: QuerySet[MergeProposal]) -> None:
        self._decide(request, proposals, merging.merge, "merged")

    @admin.action(description=_("They are two: keep apart"), permissions=["decide"])
    def keep_apart(self, request: HttpRequest, proposals: QuerySet[MergeProposal]) -> None:
        self._decide(request, proposals, merging.keep_apart, "kept apart")

    @admin.action(description=_("Take the decision back"), permissions=["decide"])
    def undo(self, request: HttpRequest, proposals: QuerySet[MergeProposal]) -> None:
        self._decide(request, proposals, merging.undo, "taken back")

    def _decide(
        self, request: HttpRequest, proposals: QuerySet[MergeProposal], decide: merging.Decision, told: str
    ) -> None:
        """One row at a time, the newest decision first: each is whole, whatever becomes of the next one."""
        done = stuck = 0
        for proposal in proposals.order_by("-decided_at", "-id"):
            try:
                decided = decide(proposal, cast(User, request.user), timezone.now())
            except merging.LaterMergeStands:
                stuck += 1
                continue
            if decided:
                self.log_change(request, proposal, f"proposal {proposal.pk} {told}")
                done += 1
        self.message_user(request, _("Decided: %(done)d.") % {"done": done})
        if stuck:
            text = _("%(count)d cannot be taken back while a later merge of the same entities stands.")
            self.message_user(request, text % {"count": stuck}, messages.WARNING)

    @admin.display(description=_("this"))
    def first_name(self, proposal: MergeProposal) -> str:
        return proposal.a.canonical_name

    @admin.display(description=_("known by"))
    def first_known_by(self, proposal: MergeProposal) -> str:
        return _memories_of(proposal.a)

    @admin.display(description=_("and that"))
    def second_name(self, proposal: MergeProposal) -> str:
        return proposal.b.canonical_name

    @admin.display(description=_("known by"))
    def second_known_by(self, proposal: MergeProposal) -> str:
        return _memories_of(proposal.b)

    @admin.display(description=_("why it is asked"))
    def why(self, proposal: MergeProposal) -> str:
        return ", ".join(str(REASONS.get(reason, reason)) for reason in proposal.reasons)


def _memories_of(entity: Entity) -> str:
    """The newest memories in which the entity occurs, a line each."""
    newest = ConceptNode.objects.filter(mentions__entity=entity).newest_first()[:MEMORIES_BESIDE]
    lines = ((excerpt(node.description, LONGEST_BESIDE),) for node in newest)
    return format_html_join(mark_safe("<br>"), "{}", lines) or "–"


class ModelReplyInline(SeenInline):
    model = ModelReply
    verbose_name_plural = _("answers of which nothing was made")
    fields = ["step", "text"]


admin.site.unregister(Session)


@admin.register(Session)
class RememberedSessionAdmin(SessionAdmin):
    """A talk with what became of it in memory; one that failed can be tried again."""

    inlines = [ModelReplyInline, *SessionAdmin.inlines]
    actions = ["try_again"]

    def has_try_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_session")

    @admin.action(description=_("Remember again what failed"), permissions=["try_again"])
    def try_again(self, request: HttpRequest, sessions: QuerySet[Session]) -> None:
        retried = [session for session in sessions if runner.retry(session)]
        for session in retried:
            closing.hand_over(session)
        self.message_user(request, _("%(count)d talks wait to be remembered again.") % {"count": len(retried)})


admin.site.unregister(Turn)


@admin.register(Turn)
class ExplainedTurnAdmin(TurnAdmin):
    """A turn with the x-ray of its recall in numbers."""

    exclude = ["xray"]
    readonly_fields = ["recalled", "account"]

    class Media:
        css = {"all": ["css/desk.css"]}

    @admin.display(description=_("what was recalled"))
    def recalled(self, turn: Turn) -> str:
        return render_to_string("admin/memory/_xray.html", xray_sheet.sheet(turn))

    @admin.display(description=_("the account as stored"))
    def account(self, turn: Turn) -> str:
        text = json.dumps(turn.xray, ensure_ascii=False, indent=1)
        return format_html("<details><summary>{}</summary><pre>{}</pre></details>", _("show"), text)


@admin.register(Extraction)
class ExtractionAdmin(Seen):
    list_display = ["id", "session", "chunk", "dropped", "created_at", "applied_at"]
    list_select_related = ["session"]
    search_fields = ["session__uuid"]


@admin.register(ReflectionRun)
class ReflectionRunAdmin(Seen):
    list_display = ["at", "persona", "reason", "thoughts", "dropped"]
    list_filter = ["reason"]
    list_select_related = ["persona"]
    search_fields = ["persona__name"]
