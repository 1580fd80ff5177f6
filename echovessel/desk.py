"""What the admin pages of the layers share: seen by all staff who may, changed only where a person is the author."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class Seen(admin.ModelAdmin):
    """Rows that are looked at: neither added, nor changed, nor deleted here."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SeenInline(admin.TabularInline):
    """Rows shown inside the page of what they belong to."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def excerpt(text: str, length: int = 90) -> str:
    """The beginning of `text`, for a column."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
