"""Django's admin with sections in layer order, and without pages that could run code or delete unnoticed."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib.admin.sites import AdminSite
from django.db.models import Model
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from echovessel.admin.knobs_page import list_knobs

# A schedule can run any function by its path, and a queue row is a pickle: neither belongs where staff review memories
# (platform.md, finding 8).
NOT_ON_THE_DESK = {"django_q.Schedule", "django_q.OrmQ"}

SECTIONS: list[tuple[Any, list[str]]] = [
    (_("Companions"), ["persona.Persona", "persona.CoreBlock", "persona.CoreDraft", "persona.MoodChange"]),
    (_("Conversations"), ["chat.Session", "chat.Message", "chat.Turn", "chat.CrisisFlag"]),
    (
        _("Memories"),
        [
            *("memory.Event", "memory.Fact", "memory.Thought", "memory.Intention", "memory.Expectation"),
            *("memory.Lesson", "memory.Question", "memory.Thread"),
        ],
    ),
    (_("People and things"), ["memory.Entity", "memory.MergeProposal"]),
    (_("Writing first"), ["proactive.Outreach", "proactive.Consideration"]),
    (_("Forgetting and imports"), ["memory.Receipt", "memory.ImportRun"]),
    (
        _("Background jobs"),
        ["memory.Extraction", "memory.ReflectionRun", "memory.SlowCycleRun", "llm.LLMCall"],
    ),
    (_("People who sign in"), ["auth.User", "auth.Group", "tokens.ApiToken", "audit.Look"]),
]
# Names of the lists as the pages use them. Models in no section are listed in the last one, "Technical".
NAMES: dict[str, Any] = {
    "persona.Persona": _("Companions"),
    "persona.CoreBlock": _("Descriptions and style"),
    "persona.CoreDraft": _("Drafts"),
    "persona.MoodChange": _("Moods"),
    "chat.Session": _("Conversations"),
    "chat.Message": _("Messages"),
    "chat.Turn": _("Replies"),
    "memory.Event": _("What happened"),
    "memory.Fact": _("Facts"),
    "memory.Thought": _("Thoughts"),
    "memory.Intention": _("Promises"),
    "memory.Expectation": _("Expectations"),
    "memory.Lesson": _("Wishes"),
    "memory.Entity": _("People and things"),
    "memory.MergeProposal": _("Same person?"),
    "memory.Receipt": _("Forgotten"),
    "proactive.Outreach": _("First messages"),
    "proactive.Consideration": _("Recent decisions"),
    "auth.User": _("Users"),
    "auth.Group": _("Groups"),
    "axes.AccessAttempt": _("Sign-in attempts"),
    "axes.AccessFailureLog": _("Failed sign-ins"),
    "axes.AccessLog": _("Sign-ins"),
    "django_q.Success": _("Successful jobs"),
    "django_q.Failure": _("Failed jobs"),
    "outbox.OutboxEvent": _("Outgoing events"),
}


class EchoVesselAdminSite(AdminSite):
    """Django's admin site, with sections in the order of memory's layers, and the names that the pages use."""

    names = NAMES

    site_header = _("EchoVessel · Admin")
    site_title = _("EchoVessel")
    index_title = _("Overview")

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        models: Iterable[type[Model]] = (
            [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        )
        models_on_desk = [model for model in models if model._meta.label not in NOT_ON_THE_DESK]
        if models_on_desk:
            super().register(models_on_desk, admin_class, **options)
        for model in models_on_desk:
            page = self._registry[model]
            if not hasattr(page, "list_title") and model._meta.label in NAMES:  # a list of another package
                title = {"title": NAMES[model._meta.label]}
                page.changelist_view = partial(page.changelist_view, extra_context=title)  # type: ignore[method-assign]

    def get_urls(self) -> list[Any]:
        from memory.web.admin.forgetting import forget  # noqa: PLC0415  (its pages register themselves with this site)

        return [
            path("forget/", self.admin_view(forget), name="forget"),
            path("knobs/", self.admin_view(list_knobs), name="knobs"),
            *super().get_urls(),
        ]

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """The sections, with what waits for a decision and the state of the installation."""
        from memory.web.admin import dashboard  # noqa: PLC0415  (as above)

        dashboard_context = dashboard.dashboard_context(request.user, timezone.now())
        return super().index(request, {**dashboard_context, **(extra_context or {})})

    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """The index: its sections are not the apps, whose names are those of the code."""
        return self.index(request, extra_context)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        model_by_label = {model["model"]._meta.label: (app, model) for app in apps for model in app["models"]}
        sections = [_section(title, labels, model_by_label) for title, labels in SECTIONS]
        placed = {label for _title, labels in SECTIONS for label in labels}
        rest = [label for label in model_by_label if label not in placed]
        return [
            app for app in [*sections, _installation(), _section(_("Technical"), rest, model_by_label)] if app["models"]
        ]


def _section(title: Any, labels: list[str], model_by_label: dict[str, Any]) -> dict[str, Any]:
    models = [model_by_label[label] for label in labels if label in model_by_label]
    return {
        "name": title,
        "app_label": models[0][0]["app_label"] if models else "",
        "app_url": reverse("admin:index"),
        "has_module_perms": True,
        "models": [model | {"name": NAMES.get(model["model"]._meta.label, model["name"])} for _app, model in models],
    }


def _installation() -> dict[str, Any]:
    """Pages of the installation that list no model, in the form of a section."""
    pages = [(_("Knobs"), "admin:knobs"), (_("Language model"), "connect_model")]
    links = [
        {"name": name, "object_name": view, "admin_url": reverse(view), "add_url": None, "view_only": True}
        for name, view in pages
    ]
    return {
        "name": _("Installation"),
        "app_label": "installation",
        "app_url": reverse("admin:knobs"),
        "has_module_perms": True,
        "models": links,
    }


# Strings of django-axes, which has no Chinese translation: listed here for our catalogue.
WORDS_OF_AXES = (
    gettext_noop("User Agent"),
    gettext_noop("IP Address"),
    gettext_noop("Username"),
    gettext_noop("HTTP Accept"),
    gettext_noop("Path"),
    gettext_noop("Attempt Time"),
    gettext_noop("Access lock out"),
    gettext_noop("access failure"),
    gettext_noop("access failures"),
    gettext_noop("GET Data"),
    gettext_noop("POST Data"),
    gettext_noop("Failed Logins"),
    gettext_noop("access attempt"),
    gettext_noop("access attempts"),
    gettext_noop("Access Attempt"),
    gettext_noop("Expires At"),
    gettext_noop("The time when access attempt expires and is no longer valid."),
    gettext_noop("access attempt expiration"),
    gettext_noop("access attempt expirations"),
    gettext_noop("Logout Time"),
    gettext_noop("Session key hash (sha256)"),
    gettext_noop("access log"),
    gettext_noop("access logs"),
    gettext_noop("Locked Out"),
    gettext_noop("Yes"),
    gettext_noop("No"),
    gettext_noop("Form Data"),
    gettext_noop("Meta Data"),
    gettext_noop("Clean up expired attempts"),
    gettext_noop("Not set"),
    gettext_noop("Attempt Remaining"),
)
