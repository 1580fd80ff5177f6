"""List filters that need not read all rows to list their choices."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

DAYS = {"1": _("the last day"), "7": _("the last 7 days"), "30": _("the last 30 days"), "365": _("the last year")}


class Lately(SimpleListFilter):
    """Filters by age; a subclass sets the field."""

    title, parameter_name, field = _("when"), "lately", "created_at"

    @classmethod
    def of(cls, field: str) -> type["Lately"]:
        """The filter by another field."""
        return type("LatelyBy", (cls,), {"field": field})

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Iterable[tuple[str, Any]]:
        return DAYS.items()

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet | None:
        if self.value() not in DAYS:
            return None
        return queryset.filter(**{f"{self.field}__gte": timezone.now() - timedelta(days=int(self.value() or 0))})


class _RelatedRowFilter(SimpleListFilter):
    """Filters rows that belong to one other row, which a link has chosen; there is no list of choices."""

    path: str

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Iterable[tuple[str, Any]]:
        selected_value = self.value() or ""
        return (
            [(selected_value, f"{self.title} {selected_value}")]
            if selected_value.isascii() and selected_value.isdecimal() and len(selected_value) < 19
            else []
        )

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.filter(**{self.path: int(self.value() or 0)})


class AboutPersona(_RelatedRowFilter):
    title, parameter_name, path = _("persona"), "persona", "persona"


class InSession(_RelatedRowFilter):
    title, parameter_name, path = _("session"), "session", "session"
