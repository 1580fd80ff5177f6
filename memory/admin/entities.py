"""The desk's pages of L5: who and what memories are about, and the question whether two are one."""

from typing import cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

from echovessel.desk import Seen, SeenInline, excerpt
from memory.admin.nodes import MentionInline
from memory.entities import merging
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal

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


class MentionedInInline(MentionInline):
    verbose_name_plural = _("what remains of it")
    fields = ["memory"]
    readonly_fields = ["memory"]

    @admin.display(description=_("memory"))
    def memory(self, mention: Mention) -> str:
        return mention.node.description


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
