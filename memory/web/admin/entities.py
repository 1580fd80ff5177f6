"""Admin pages of L5: the entities that memories are about, and the question whether two are the same."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from echovessel.admin import AboutPersona, Lately, ReadOnlyAdmin, ReadOnlyInline, excerpt
from memory.entities import merge as entities_merge
from memory.entities import rename
from memory.entities.proposal_reasons import REASONS
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from memory.web.admin import merge_review
from memory.web.admin.nodes import MentionInline
from memory.web.entity_actions import REFUSALS, run_entity_action
from memory.web.keys import read_key
from memory.web.presenters.merge_proposals import DECIDED

MAX_MEMORIES_SHOWN, MAX_MEMORY_CHARACTERS = 5, 200
MAX_TO_SPLIT = 100
MAX_ALIASES = 500
LATER_MERGE = _("It cannot be undone before a later merge of the same entities is undone.")
DECISION_MESSAGES = {
    "merge": _("The last two are merged."),
    "keep_apart": _("The last two are kept apart and will not be asked about again."),
    "undo": _("Undone: everything is as it was before."),
}
LOGGED = {"merge": "merged", "keep_apart": "kept apart", "undo": "taken back"}
DECISIONS: Mapping[str, entities_merge.Decision] = {
    "merge": entities_merge.merge,
    "keep_apart": entities_merge.keep_apart,
    "undo": entities_merge.undo,
}

# Action names in the admin's URLs, with the names of the actions.
ACTIONS = {"rename": "rename", "name": "add_name", "unname": "remove_name", "split": "split"}


class MentionedInInline(MentionInline):
    verbose_name_plural = _("memories")
    fields = ["memory"]
    readonly_fields = ["memory"]
    related = ["node"]

    @admin.display(description=_("memory"))
    def memory(self, mention: Mention) -> str:
        return mention.node.description


class AliasInline(ReadOnlyInline):
    model = Alias
    fields = ["text", "normalized"]


def _find_by_alias(names: str, entities: QuerySet[Entity]) -> list[int]:
    """The keys of those of `entities` with an alias that contains the text, newest aliases first."""
    aliases = Alias.objects.filter(text__icontains=names, entity__in=entities)
    return list(aliases.order_by("-pk").values_list("entity_id", flat=True)[:MAX_ALIASES])


@admin.register(Entity)
class EntityAdmin(ReadOnlyAdmin):
    """A person, place or thing with a name; the page can change its names, and split it in two."""

    words = ["canonical_name", "description"]
    forgets = "entity"
    change_form_template = "admin/memory/entity.html"
    list_display = ["canonical_name", "kind", "persona", "status", "created_at"]
    list_filter = ["kind", "status", Lately, AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["canonical_name", "uuid"]
    inlines = [AliasInline, MentionedInInline]

    class Media:
        css = {"all": ["css/review.css"]}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:key>/do/<str:action>/", view(require_POST(self.run_action)), name="memory_entity_do"),
            *super().get_urls(),
        ]

    def matching_rows(self, request: HttpRequest, rows: QuerySet, term: str) -> tuple[QuerySet, bool]:
        return rows.filter(pk__in=_find_by_alias(term, rows)), False

    def may_curate(self, request: HttpRequest, entity: Entity) -> bool:
        """Whether this user may change the names of `entity`; users who may not read them may not change them."""
        is_unmerged = entity.status != Entity.Status.MERGED
        return is_unmerged and request.user.has_perm("memory.change_entity") and self.reads(request, entity)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        entity = options.get("obj")
        if entity is not None and self.may_curate(request, entity):
            mentions = entity.mentions.select_related("node").order_by("-node__created_at", "-node_id")
            context["curated"] = {
                "names": list(entity.aliases.all()),
                "mentions": list(mentions[:MAX_TO_SPLIT]),
                "more": max(0, mentions.count() - MAX_TO_SPLIT),
                "longest": rename.MAX_NAME,
            }
        return super().render_change_form(request, context, *args, **options)

    def run_action(self, request: HttpRequest, key: int, action: str) -> HttpResponse:
        """Rename, add or remove a name, or split; then show the result."""
        entity = get_object_or_404(self.get_queryset(request), pk=key)
        if action not in ACTIONS:
            raise Http404
        if not self.may_curate(request, entity):
            raise PermissionDenied
        try:
            outcome = run_entity_action(ACTIONS[action], entity, request)
        except REFUSALS as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.log_change(request, entity, action)
            self.message_user(request, outcome, messages.SUCCESS)
        return redirect("admin:memory_entity_change", key)


@admin.register(MergeProposal)
class MergeProposalAdmin(ReadOnlyAdmin):
    """The question whether two entities are the same: answered in the list for many, or one by one on the review
    page."""

    words = ["first_name", "first_known_by", "second_name", "second_known_by"]
    persona_path = "a.persona"
    change_list_template = "admin/memory/mergeproposal.html"
    list_display = ["first_name", "second_name", "why", "score", "status", "decided_by", "decided_at"]
    list_filter = ["status"]
    list_select_related = ["a__persona", "b", "decided_by"]
    search_fields = ["a__canonical_name", "b__canonical_name", "uuid"]
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

    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "HEAD", "POST"])(self.review)
        return [
            path("review/", self.admin_site.admin_view(view), name="memory_mergeproposal_review"),
            *super().get_urls(),
        ]

    def matching_rows(self, request: HttpRequest, rows: QuerySet, term: str) -> tuple[QuerySet, bool]:
        keys = _find_by_alias(term, Entity.objects.filter(persona__in=rows.order_by().values("a__persona")))
        return rows.filter(Q(a__in=keys) | Q(b__in=keys)), False

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memory.change_mergeproposal")

    # --- one by one -------------------------------------------------------------------------------------------------

    def review(self, request: HttpRequest) -> HttpResponse:
        """Show one pair side by side, to be decided by a key; then the next one."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._apply_decision(request)
        proposal = merge_review.proposal_to_review(MergeProposal.objects.all(), request.GET)
        reads = proposal is not None and self.reads(request, proposal)
        if proposal is not None:
            self.log_view(request, [proposal])
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Are these two the same?"),
            "proposal": proposal,
            "pair": merge_review.pair_of(proposal) if proposal is not None and reads else None,
            "may_decide": self.has_decide_permission(request),
            "is_open": proposal is not None and proposal.status in UNDECIDED,
            "is_decided": proposal is not None and proposal.status in DECIDED,
            "last": MergeProposal.objects.filter(pk=read_key(request.GET.get("last", "")), status__in=DECIDED).first(),
            "others": MergeProposal.objects.open().exists(),
        }
        return TemplateResponse(request, "admin/memory/review.html", context)

    def _apply_decision(self, request: HttpRequest) -> HttpResponseRedirect:
        """Decide, and redirect to the next pair; after an undo, to the same pair again."""
        if not self.has_decide_permission(request):
            raise PermissionDenied
        decision = request.POST.get("decision", "")
        if decision not in DECISIONS:
            raise Http404
        proposal = get_object_or_404(MergeProposal, pk=read_key(request.POST.get("pair", "")))
        key = proposal.pk
        try:
            decided = DECISIONS[decision](proposal, cast(User, request.user), timezone.now())
        except entities_merge.LaterMergeStands:
            self.message_user(request, LATER_MERGE, messages.ERROR)
            return _to_review(pair=key)
        if not decided:
            self.message_user(request, _("Somebody else has already decided this."), messages.WARNING)
            return _to_review(pair=key)
        self.log_change(request, proposal, LOGGED[decision])
        self.message_user(request, DECISION_MESSAGES[decision], messages.SUCCESS)
        return _to_review(pair=key) if decision == "undo" else _to_review(after=key, last=key)

    # --- many at once -----------------------------------------------------------------------------------------------

    @admin.action(description=_("Same: merge"), permissions=["decide"])
    def merge(self, request: HttpRequest, proposals: QuerySet[MergeProposal]) -> None:
        self._decide(request, proposals, "merge")

    @admin.action(description=_("Different: keep apart"), permissions=["decide"])
    def keep_apart(self, request: HttpRequest, proposals: QuerySet[MergeProposal]) -> None:
        self._decide(request, proposals, "keep_apart")

    @admin.action(description=_("Undo the decision"), permissions=["decide"])
    def undo(self, request: HttpRequest, proposals: QuerySet[MergeProposal]) -> None:
        self._decide(request, proposals, "undo")

    def _decide(self, request: HttpRequest, proposals: QuerySet[MergeProposal], decision: str) -> None:
        """Decide row by row, newest decision first. Each decision is complete, whether or not the next one succeeds."""
        outcome = stuck = 0
        for proposal in proposals.order_by("-decided_at", "-id"):
            try:
                decided = DECISIONS[decision](proposal, cast(User, request.user), timezone.now())
            except entities_merge.LaterMergeStands:
                stuck += 1
                continue
            if decided:
                self.log_change(request, proposal, LOGGED[decision])
                outcome += 1
        self.message_user(request, _("Decided: %(done)d.") % {"done": outcome})
        if stuck:
            text = _("%(count)d cannot be undone before a later merge of the same entities is undone.")
            self.message_user(request, text % {"count": stuck}, messages.WARNING)

    # --- what is shown ----------------------------------------------------------------------------------------------

    @admin.display(description=_("this"))
    def first_name(self, proposal: MergeProposal) -> str:
        return proposal.a.canonical_name

    @admin.display(description=_("memories"))
    def first_known_by(self, proposal: MergeProposal) -> str:
        return _memories_of(proposal.a)

    @admin.display(description=_("and that"))
    def second_name(self, proposal: MergeProposal) -> str:
        return proposal.b.canonical_name

    @admin.display(description=_("memories"))
    def second_known_by(self, proposal: MergeProposal) -> str:
        return _memories_of(proposal.b)

    @admin.display(description=_("reasons"))
    def why(self, proposal: MergeProposal) -> str:
        return ", ".join(str(REASONS.get(reason, reason)) for reason in proposal.reasons)


UNDECIDED = (MergeProposal.Status.OPEN, MergeProposal.Status.UNDONE)


def _to_review(**params: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:memory_mergeproposal_review')}?{urlencode(params)}")


def _memories_of(entity: Entity) -> str:
    """The newest memories of the entity, one per line."""
    newest = ConceptNode.objects.filter(mentions__entity=entity).newest_first()[:MAX_MEMORIES_SHOWN]
    excerpts = ((excerpt(node.description, MAX_MEMORY_CHARACTERS),) for node in newest)
    return format_html_join(mark_safe("<br>"), "{}", excerpts) or "–"
