"""Admin pages of L1 and L6. L1 is editable, because people write it."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from echovessel.admin import AboutPersona, AdminPage, Lately, ReadOnlyAdmin, ReadOnlyInline, excerpt
from persona.companion.editing import publish_settings
from persona.models import CoreBlock, CoreBlockVersion, CoreDraft, DraftQuote, MoodChange, Persona


@admin.register(Persona)
class PersonaAdmin(AdminPage):
    words = ["name", "user_name", "greeting", "facts", "episodic_state", "mood"]
    persona_path = ""
    forgets = "persona"
    list_display = ["__str__", "name", "owner", "language", "timezone", "mood", "created_at"]
    list_filter = ["language", Lately]
    list_select_related = ["owner"]
    search_fields = ["name", "user_name", "owner__username", "uuid"]
    readonly_fields = ["uuid", "external_id", "owner", "episodic_state", "created_at"]

    def save_model(self, request: HttpRequest, obj: Persona, form: Any, change: bool) -> None:
        if "greeting" in form.changed_data:  # it is this person's from now on, and stays when others change or go
            obj.greeting_by_model, obj.greeting_import_uuid = False, None
        super().save_model(request, obj, form, change)
        if {"name", "user_name", "language", "facts"} & {*form.changed_data}:
            obj.drop_model_greeting()
        publish_settings(obj, form.changed_data)

    @admin.display(description=_("mood"))
    def mood(self, persona: Persona) -> str:
        return str(persona.episodic_state.get("mood", ""))


class VersionInline(ReadOnlyInline):
    model = CoreBlockVersion
    verbose_name_plural = _("earlier versions")
    fields = ["version", "content", "edited_by", "edited_at", "again"]
    readonly_fields = ["again"]
    related = ["edited_by", "block"]

    @admin.display(description="")
    def again(self, version: CoreBlockVersion) -> str:
        address = reverse("admin:persona_coreblock_restore", args=[version.block_id, version.version])
        return format_html(
            '<button type="submit" form="object-actions" class="button" formaction="{}">{}</button>',
            address,
            _("Restore this wording"),
        )


@admin.register(CoreBlock)
class CoreBlockAdmin(AdminPage):
    words = ["content", "beginning"]
    list_display = ["id", "label", "beginning", "persona", "version", "edited_by", "edited_at"]
    list_filter = ["label", AboutPersona]
    list_select_related = ["persona", "edited_by"]
    search_fields = ["content", "persona__name", "persona__uuid"]
    fields = ["persona", "label", "content", "version", "edited_by", "edited_at"]
    readonly_fields = ["persona", "label", "version", "edited_by", "edited_at"]
    inlines = [VersionInline]

    def get_urls(self) -> list[URLPattern]:
        restore = path(
            "<int:key>/restore/<int:version>/",
            self.admin_site.admin_view(require_POST(self.restore)),
            name="persona_coreblock_restore",
        )
        return [restore, *super().get_urls()]

    def restore(self, request: HttpRequest, key: int, version: int) -> HttpResponse:
        """Restore the text of a version."""
        block = get_object_or_404(CoreBlock.objects.select_related("persona"), pk=key)
        if not self.has_change_permission(request, block):
            raise PermissionDenied
        block.rewrite(get_object_or_404(block.versions, version=version).content, request.user)  # type: ignore[arg-type]
        self.log_change(request, block, f"version {version} restored")
        self.message_user(request, _("The earlier wording is restored."), messages.SUCCESS)
        return redirect("admin:persona_coreblock_change", key)

    def save_model(self, request: HttpRequest, obj: CoreBlock, form: Any, change: bool) -> None:
        """Keep the old text as a version; the form holds the new one."""
        stored_block = CoreBlock.objects.get(pk=obj.pk)
        stored_block.rewrite(obj.content, request.user)  # type: ignore[arg-type]

    @admin.display(description=_("text"))
    def beginning(self, block: CoreBlock) -> str:
        return excerpt(block.content)


class QuoteInline(ReadOnlyInline):
    model = DraftQuote
    verbose_name_plural = _("source messages")
    fields = ["quote", "where", "said_at", "said_in"]
    related = ["draft"]


@admin.register(CoreDraft)
class CoreDraftAdmin(ReadOnlyAdmin):
    words = ["text", "beginning"]
    list_display = ["id", "label", "beginning", "persona", "status", "created_at", "decided_at", "decided_by"]
    list_filter = ["status", "label", Lately, AboutPersona]
    list_select_related = ["persona", "decided_by"]
    search_fields = ["text", "uuid", "persona__uuid"]
    fields = ["uuid", "persona", "label", "text", "status", "created_at", "decided_at", "decided_by"]
    inlines = [QuoteInline]

    @admin.display(description=_("text"))
    def beginning(self, draft: CoreDraft) -> str:
        return excerpt(draft.text)


@admin.register(MoodChange)
class MoodChangeAdmin(ReadOnlyAdmin):
    words = ["mood", "last_user_signal"]
    list_display = ["at", "persona", "mood", "energy", "last_user_signal"]
    list_filter = [Lately.of("at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["mood", "last_user_signal", "persona__name", "uuid", "persona__uuid"]
