"""Admin pages of reaching out: considerations, outreaches, and a calendar of both. They show no words of people."""

import datetime as dt
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from chat.admin import may_see_flags
from chat.models import Turn
from echovessel.admin import AboutPersona, Lately, ReadOnlyAdmin, ReadOnlyInline
from persona.models import Persona
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.models.consideration import Gate
from proactive.presenters import calendar as presenters_calendar

MAX_PERSONAS = 200


class OnDay(admin.SimpleListFilter):
    """The rows of one day, chosen in the calendar."""

    title, parameter_name = _("day"), "day"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> Iterable[tuple[str, Any]]:
        day_text = self.value() or ""
        return [(day_text, day_text)] if _day(day_text) else []

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.filter(day=_day(self.value() or ""))


@admin.register(Consideration)
class ConsiderationAdmin(ReadOnlyAdmin):
    change_list_template = "admin/proactive/consideration.html"
    list_display = ["at", "persona", "day", "verdict", "gate", "trigger", "times", "outreach"]
    list_filter = ["verdict", "gate", "trigger", Lately.of("at"), AboutPersona, OnDay]
    list_select_related = ["persona", "outreach"]
    unlisted = ["facts"]
    search_fields = ["persona__uuid", "outreach__uuid"]
    fields = [
        "persona",
        "day",
        "verdict",
        "gate",
        "trigger",
        "trigger_key",
        "times",
        "first_at",
        "at",
        "outreach",
        "account",
    ]
    readonly_fields = ["account"]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).exclude(gate__in=_hidden_from(request))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_safe(self.calendar))
        return [path("calendar/", view, name="proactive_consideration_calendar"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> HttpResponse:
        query = _query_string({"persona": _persona(request)}) or "?"
        return super().changelist_view(request, {**(extra_context or {}), "calendar_asks": query})

    def calendar(self, request: HttpRequest) -> HttpResponse:
        """A month, day by day; each day links to its considerations."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        persona = _persona(request)
        persona_row = Persona.objects.filter(pk=persona).first() if persona else None
        today = timezone.now().astimezone(persona_row.zone if persona_row else dt.UTC).date()
        first = presenters_calendar.first_day(request.GET.get("month", ""), today)
        sheet = presenters_calendar.month_calendar(first, persona, besides=_hidden_from(request))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Calendar of reaching out"),
            "sheet": sheet,
            "today": today,
            "persona": persona,
            "personas": ReachingOut.objects.order_by("pk").values_list("pk", flat=True)[:MAX_PERSONAS],
            "before": _query_string({"month": sheet.before, "persona": persona}) if sheet.before else "",
            "after": _query_string({"month": sheet.after, "persona": persona}) if sheet.after else "",
            "list_asks": _query_string({"persona": persona}),
        }
        return TemplateResponse(request, "admin/proactive/calendar.html", context)

    @admin.display(description=_("facts"))
    def account(self, consideration: Consideration) -> str:
        return format_html("<pre>{}</pre>", json.dumps(consideration.facts, indent=1, ensure_ascii=False))


class ConsiderationInline(ReadOnlyInline):
    model = Consideration
    fields = ["at", "verdict", "gate", "trigger", "times"]
    ordering = ["-at", "-id"]
    show_change_link = True


@admin.register(Outreach)
class OutreachAdmin(ReadOnlyAdmin):
    list_display = ["wanted_at", "persona", "trigger", "status", "reason", "delivered_at", "pushed_at", "attempts"]
    list_filter = ["status", "trigger", Lately.of("wanted_at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["uuid", "turn_uuid", "about_uuid", "persona__uuid"]
    fields = [
        "uuid",
        "persona",
        "trigger",
        "trigger_key",
        "about_uuid",
        "status",
        "reason",
        "wanted_at",
        "delivered_at",
        "turn",
        "pushed_at",
        "attempts",
        "lease_until",
    ]
    readonly_fields = ["turn"]
    inlines = [ConsiderationInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).exclude(reason__in=_hidden_from(request))

    @admin.display(description=_("turn"))
    def turn(self, outreach: Outreach) -> str:
        turn = Turn.objects.filter(uuid=outreach.turn_uuid).first() if outreach.turn_uuid else None
        if turn is None:
            return str(_("none"))
        return format_html('<a href="{}">{}</a>', reverse("admin:chat_turn_change", args=[turn.pk]), turn)


def _hidden_from(request: HttpRequest) -> Collection[Gate]:
    """Gates that would reveal to this user whose message was flagged; seeing flags is a permission of its own."""
    return () if may_see_flags(request) else (Gate.CRISIS_HOLD,)


def _day(text: str) -> dt.date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None


def _persona(request: HttpRequest) -> int | None:
    text = request.GET.get("persona", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def _query_string(values: Mapping[str, Any]) -> str:
    """The query string of the values that are set; "" if none is."""
    there = {name: value for name, value in values.items() if value}
    return f"?{urlencode(there)}" if there else ""
