"""The desk's pages of L1 and L6. L1 is editable: it is written by people, and only by them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from echovessel.desk import Seen, SeenInline, excerpt
from persona.models import CoreBlock, CoreBlockVersion, MoodChange, Persona


@admin.register(Persona)
class PersonaAdmin(admin.ModelAdmin):
    list_display = ["name", "owner", "language", "timezone", "mood", "created_at"]
    list_filter = ["language"]
    list_select_related = ["owner"]
    search_fields = ["name", "user_name", "owner__username", "uuid"]
    readonly_fields = ["uuid", "external_id", "owner", "episodic_state", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("mood"))
    def mood(self, persona: Persona) -> str:
        return str(persona.episodic_state.get("mood", ""))


class VersionInline(SeenInline):
    model = CoreBlockVersion
    fields = ["version", "content", "edited_by", "edited_at"]


@admin.register(CoreBlock)
class CoreBlockAdmin(admin.ModelAdmin):
    list_display = ["persona", "label", "beginning", "version", "edited_by", "edited_at"]
    list_filter = ["label"]
    list_select_related = ["persona", "edited_by"]
    search_fields = ["content", "persona__name"]
    fields = ["persona", "label", "content", "version", "edited_by", "edited_at"]
    readonly_fields = ["persona", "label", "version", "edited_by", "edited_at"]
    inlines = [VersionInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: CoreBlock, form: Any, change: bool) -> None:
        """Keep the old text as a version; the form holds the new one."""
        stored = CoreBlock.objects.get(pk=obj.pk)
        stored.rewrite(obj.content, request.user)  # type: ignore[arg-type]

    @admin.display(description=_("text"))
    def beginning(self, block: CoreBlock) -> str:
        return excerpt(block.content)


@admin.register(MoodChange)
class MoodChangeAdmin(Seen):
    list_display = ["persona", "mood", "energy", "last_user_signal", "at"]
    list_select_related = ["persona"]
    search_fields = ["mood", "last_user_signal", "persona__name"]
    date_hierarchy = "at"
