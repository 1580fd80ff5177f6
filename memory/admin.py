"""The desk's pages of L3 to L5: what remains, with the words it came from beside it."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _

from chat import closing
from chat.admin import SessionAdmin
from chat.models import Session
from echovessel.desk import Seen, SeenInline, excerpt
from memory.consolidation import runner
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
    ReflectionRun,
    Thought,
    UnreadableAnswer,
)


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
    list_display = ["first_name", "second_name", "score", "status", "decided_by", "decided_at"]
    list_filter = ["status"]
    list_select_related = ["a", "b", "decided_by"]
    search_fields = ["a__canonical_name", "b__canonical_name"]

    @admin.display(description=_("this"))
    def first_name(self, proposal: MergeProposal) -> str:
        return proposal.a.canonical_name

    @admin.display(description=_("and that"))
    def second_name(self, proposal: MergeProposal) -> str:
        return proposal.b.canonical_name


class UnreadableInline(SeenInline):
    model = UnreadableAnswer
    verbose_name_plural = _("answers nobody could read")
    fields = ["step", "raw"]


admin.site.unregister(Session)


@admin.register(Session)
class RememberedSessionAdmin(SessionAdmin):
    """A talk with what became of it in memory; one that failed can be tried again."""

    inlines = [UnreadableInline, *SessionAdmin.inlines]
    actions = ["try_again"]

    def has_try_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_session")

    @admin.action(description=_("Remember again what failed"), permissions=["try_again"])
    def try_again(self, request: HttpRequest, sessions: QuerySet[Session]) -> None:
        retried = [session for session in sessions if runner.retry(session)]
        for session in retried:
            closing.hand_over(session)
        self.message_user(request, _("%(count)d talks wait to be remembered again.") % {"count": len(retried)})


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
