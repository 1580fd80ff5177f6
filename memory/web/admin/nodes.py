"""Admin pages of L3 and L4: memories. Their wording can be corrected here; the messages they came from cannot."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminDateWidget
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from echovessel.admin import AboutPersona, AdminPage, Lately, ReadOnlyInline, WordsIndexed, excerpt
from memory.consolidation import open_items
from memory.curation import correct
from memory.curation.actions import NODE_ACTIONS
from memory.models import ConceptNode, Event, Expectation, Fact, Intention, Lesson, Mention, Thought
from memory.models.node import MAX_IMPACT, RELATIONAL_TAGS
from memory.store import vectors
from memory.web.forms import FEELING_LABELS, REFUSALS, TAG_LABELS, CorrectionForm, FactForm, explain_refusal
from memory.web.presenters.admin_node import node_address, node_context
from memory.web.search import filter_by_feeling

Status, Verification, Outcome = ConceptNode.Status, ConceptNode.Verification, ConceptNode.Outcome


@dataclass(frozen=True)
class NodeAction:
    """An action on a memory besides correcting it: the function, its label, when it makes sense, and for which
    kinds."""

    do: Callable[[ConceptNode], bool]
    label: Any
    fits: Callable[[ConceptNode], bool]
    kinds: Collection[str] = tuple(ConceptNode.Kind.values)


def _make_settle_action(name: str, label: Any, fits: Callable[[ConceptNode], bool]) -> NodeAction:
    return NodeAction(lambda node: open_items.BY_HAND[name](node, timezone.now()), label, fits, open_items.KINDS)


ACTIONS: dict[str, NodeAction] = {
    "let_in": NodeAction(
        NODE_ACTIONS["let_in"], _("Release from quarantine"), lambda node: node.status == Status.QUARANTINED
    ),
    "hide": NodeAction(NODE_ACTIONS["hide"], _("Hide"), lambda node: node.status == Status.ACTIVE),
    "show": NodeAction(NODE_ACTIONS["show"], _("Show again"), lambda node: node.status == Status.HIDDEN),
    "confirm": NodeAction(
        NODE_ACTIONS["confirm"], _("Confirm"), lambda node: node.verification != Verification.CONFIRMED
    ),
    "dispute": NodeAction(
        NODE_ACTIONS["dispute"], _("Not sure"), lambda node: node.verification != Verification.DISPUTED
    ),
    "pin": NodeAction(NODE_ACTIONS["pin"], _("Pin"), lambda node: not node.pinned),
    "unpin": NodeAction(NODE_ACTIONS["unpin"], _("Unpin"), lambda node: node.pinned),
    "archive": NodeAction(NODE_ACTIONS["archive"], _("Archive"), lambda node: node.status == Status.ACTIVE),
    "unarchive": NodeAction(NODE_ACTIONS["unarchive"], _("Show again"), lambda node: node.status == Status.ARCHIVED),
    "came_true": _make_settle_action("came_true", _("Mark as fulfilled"), lambda node: node.outcome == Outcome.OPEN),
    "did_not": _make_settle_action("did_not", _("Mark as not fulfilled"), lambda node: node.outcome == Outcome.OPEN),
    "reopen": _make_settle_action("reopen", _("Reopen"), lambda node: node.outcome != Outcome.OPEN),
}

IMPACTS = {
    "heavy": (_("heavy (−10 to −5)"), -MAX_IMPACT, -5),
    "sad": (_("sad (−4 to −1)"), -4, -1),
    "none": (_("none (0)"), 0, 0),
    "glad": (_("glad (1 to 4)"), 1, 4),
    "great": (_("great (5 to 10)"), 5, MAX_IMPACT),
}


class Impact(admin.SimpleListFilter):
    """Filter by impact, in bands."""

    title, parameter_name = _("impact"), "impact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        return [(name, label) for name, (label, _low, _high) in IMPACTS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet | None:
        band = IMPACTS.get(self.value() or "")
        return queryset.filter(emotional_impact__range=band[1:]) if band else None


class TagFilter(admin.SimpleListFilter):
    """Filter by relational tag."""

    title, parameter_name = _("tag"), "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        return [(tag, TAG_LABELS[tag]) for tag in RELATIONAL_TAGS]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet | None:
        tag = self.value()
        return queryset.filter(relational_tags__icontains=f'"{tag}"') if tag in RELATIONAL_TAGS else None


class FeelingFilter(admin.SimpleListFilter):
    """Filter by feeling."""

    title, parameter_name = _("feeling"), "feeling"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        return FEELING_LABELS.items()

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet | None:
        feeling = self.value()
        return filter_by_feeling(queryset, feeling) if feeling in FEELING_LABELS else None


class MentionInline(ReadOnlyInline):
    model = Mention
    verbose_name_plural = _("entities")
    fields = ["entity_name"]
    readonly_fields = ["entity_name"]
    related = ["entity"]

    @admin.display(description=_("name"))
    def entity_name(self, mention: Mention) -> str:
        return mention.entity.canonical_name


class AdminCorrectionForm(CorrectionForm):
    """The correction form with the admin's calendar."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in {"event_time_start", "event_time_end"} & self.fields.keys():
            self.fields[name].widget = AdminDateWidget()


class NodeAdmin(WordsIndexed, AdminPage):
    """Base of the pages of all kinds of memories."""

    words = ["description", "emotion_tags", "beginning"]
    forgets = "node"
    substrings = vectors.SUBSTRINGS
    form = AdminCorrectionForm
    change_form_template = "admin/memory/node.html"
    list_display = ["created_at", "beginning", "persona", "emotional_impact", "state", "source"]
    list_filter = [
        "status",
        "verification",
        "pinned",
        "source",
        "subject",
        Impact,
        TagFilter,
        FeelingFilter,
        Lately,
        AboutPersona,
    ]
    list_select_related = ["persona"]
    search_fields = ["description", "uuid"]
    text_fields: ClassVar[list[Any]] = [
        "description",
        "emotional_impact",
        "emotion_tags",
        "relational_tags",
        "event_time_start",
        "event_time_end",
    ]
    detail_fields: ClassVar[list[Any]] = [
        "persona",
        "status",
        "archived_because",
        "verification",
        "pinned",
        "source",
        "confidence",
        "subject",
        "session",
        "created_at",
        "mention_count",
        "last_mentioned_at",
        "access_count",
        "last_accessed_at",
        "outcome",
        "resolved_at",
        "uuid",
        "external_id",
    ]
    fieldsets = [(None, {"fields": text_fields}), (_("Details"), {"fields": detail_fields, "classes": ["collapse"]})]
    readonly_fields = detail_fields

    def get_urls(self) -> list[URLPattern]:
        view, name = self.admin_site.admin_view, f"memory_{self.opts.model_name}"
        return [
            path("<int:key>/do/<str:action>/", view(require_POST(self.run_action)), name=f"{name}_do"),
            path("<int:key>/restore/<int:version>/", view(require_POST(self.restore)), name=f"{name}_restore"),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("persona")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Mapping[str, Any] | None = None,
    ) -> HttpResponse:
        """Skip Django's transaction around the view: a correction embeds its text before it begins its own."""
        return self._changeform_view(request, object_id, form_url, extra_context)  # type: ignore[attr-defined]

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> ConceptNode:
        return form.instance

    def save_model(self, request: HttpRequest, obj: ConceptNode, form: Any, change: bool) -> None:
        by, change_wanted = cast(User, request.user), form.correction()
        self._show_refusal(request, lambda: correct.correct(obj, change_wanted, by, timezone.now()))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Do nothing: no related rows are edited here."""

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        node = options.get("obj")
        if node is not None and self.reads(request, node):
            context["details"] = node_context(node)
        if node is not None and self.has_change_permission(request, node):
            context["actions"] = [
                (name, action.label) for name, action in self.node_actions.items() if action.fits(node)
            ]
        return super().render_change_form(request, context, *args, **options)

    # --- actions ----------------------------------------------------------------------------------------------------

    @property
    def node_actions(self) -> dict[str, NodeAction]:
        """The actions for this kind of memory."""
        return {name: action for name, action in ACTIONS.items() if self.model.objects.kind in action.kinds}

    def has_curate_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = self.node_actions if self.has_curate_permission(request) else {}
        return {
            name: (lambda page, request, rows, name=name: page.do_all(request, rows, name), name, action.label)
            for name, action in actions.items()
        } | super().get_actions(request)

    def do_all(self, request: HttpRequest, rows: QuerySet, name: str) -> None:
        """Run the action on each of the chosen rows that may be changed, and show how many it changed."""
        nodes = [node for node in self.limited_rows(request, rows) if self.has_change_permission(request, node)]
        changed = [node for node in nodes if ACTIONS[name].do(node)]
        for node in changed:
            self.log_change(request, node, name)
        text = ngettext("%(count)d memory was changed.", "%(count)d memories were changed.", len(changed))
        self.message_user(request, text % {"count": len(changed)}, messages.SUCCESS)

    def run_action(self, request: HttpRequest, key: int, action: str) -> HttpResponse:
        node = self._changeable(request, key)
        if action not in self.node_actions:
            raise Http404
        self.do_all(request, self.get_queryset(request).filter(pk=node.pk), action)
        return redirect(node_address(node))

    def restore(self, request: HttpRequest, key: int, version: int) -> HttpResponse:
        """Restore the wording of one of the memory's versions."""
        node = self._changeable(request, key)
        earlier = get_object_or_404(node.versions, version=version)
        by = cast(User, request.user)
        if self._show_refusal(request, lambda: correct.restore(node, earlier, by, timezone.now())):
            self.log_change(request, node, f"version {version} restored")
            self.message_user(request, _("The earlier wording is restored."), messages.SUCCESS)
        return redirect(node_address(node))

    def _changeable(self, request: HttpRequest, key: int) -> ConceptNode:
        node = get_object_or_404(self.get_queryset(request), pk=key)
        if not self.has_change_permission(request, node):
            raise PermissionDenied
        return node

    def _show_refusal(self, request: HttpRequest, change: Callable[[], object]) -> bool:
        """Whether the change succeeded; if not, the user is shown the reason."""
        try:
            change()
        except tuple(REFUSALS) as error:
            self.message_user(request, explain_refusal(error), messages.ERROR)
            return False
        return True

    @admin.display(description=_("memory"))
    def beginning(self, node: ConceptNode) -> str:
        return excerpt(node.description)

    @admin.display(description=_("state"))
    def state(self, node: ConceptNode) -> str:
        """The status, whether somebody has confirmed or doubted it, and whether it is pinned."""
        trust = [] if node.verification == Verification.UNVERIFIED else [node.get_verification_display()]
        return ", ".join([node.get_status_display(), *trust, *([str(_("pinned"))] if node.pinned else [])])


class OpenItemAdmin(NodeAdmin):
    """Pages of promises and expectations: additionally the due day and the outcome."""

    list_display = [*NodeAdmin.list_display[:3], "event_time_end", "outcome", *NodeAdmin.list_display[3:5]]
    list_filter = ["outcome", *NodeAdmin.list_filter]


class FactAdmin(NodeAdmin):
    """Pages of facts: domain, and since and until when it holds, instead of impact and days."""

    form = FactForm  # type: ignore[assignment]
    words = ["description", "beginning"]
    list_display = [*NodeAdmin.list_display[:3], "domain", "plan_state", *NodeAdmin.list_display[4:]]
    list_filter = [
        "domain",
        "plan_state",
        *(
            list_filter_item
            for list_filter_item in NodeAdmin.list_filter
            if list_filter_item not in (Impact, TagFilter, FeelingFilter)
        ),
    ]
    text_fields: ClassVar[list[Any]] = ["description", "domain", "since", "until", "plan_state"]
    fieldsets = [
        (None, {"fields": text_fields}),
        (_("Details"), {"fields": NodeAdmin.detail_fields, "classes": ["collapse"]}),
    ]


class LessonAdmin(NodeAdmin):
    """Pages of standing wishes: additionally when they apply."""

    words = [*NodeAdmin.words, "condition"]
    list_display = [*NodeAdmin.list_display[:3], "scope", "is_boundary", *NodeAdmin.list_display[4:]]
    list_filter = ["scope", "is_boundary", *NodeAdmin.list_filter]
    detail_fields: ClassVar[list[Any]] = ["scope", "condition", "is_boundary", *NodeAdmin.detail_fields]
    fieldsets = [
        (None, {"fields": NodeAdmin.text_fields}),
        (_("Details"), {"fields": detail_fields, "classes": ["collapse"]}),
    ]
    readonly_fields = detail_fields


for model, page in (
    (Event, NodeAdmin),
    (Fact, FactAdmin),
    (Thought, NodeAdmin),
    (Intention, OpenItemAdmin),
    (Expectation, OpenItemAdmin),
    (Lesson, LessonAdmin),
):
    admin.site.register(model, page)
