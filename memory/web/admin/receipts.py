"""Admin pages of receipts, in numbers and ids; and of imports, which can be forgotten as a whole."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from echovessel.admin import FORGET, AboutPersona, Lately, ReadOnlyAdmin
from memory.models import ImportRun, Receipt
from memory.web.presenters.forgetting import describe_counts


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    """Receipts, for users who may see them or may forget something."""

    change_form_template = "admin/memory/receipt.html"
    list_display = ["at", "target_kinds", "persona", "by", "status", "finished_at"]
    list_filter = ["status", Lately.of("at"), AboutPersona]
    list_select_related = ["persona", "by"]
    search_fields = ["uuid", "persona_uuid"]
    fields = [
        "uuid",
        "at",
        "by",
        "persona",
        "persona_uuid",
        "target_kinds",
        "choice",
        "deleted_counts",
        "status",
        "finished_at",
        "attempts",
    ]
    readonly_fields = ["target_kinds", "deleted_counts"]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or request.user.has_perm(FORGET)

    @admin.display(description=_("what was chosen"))
    def target_kinds(self, receipt: Receipt) -> str:
        return ", ".join(str(kind) for kind, _uuid in receipt.targets[:10])

    @admin.display(description=_("what was deleted"))
    def deleted_counts(self, receipt: Receipt) -> str:
        return format_html_join("", "<div>{}: {}</div>", describe_counts(receipt.counts)) or "–"


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    forgets = "import"
    list_display = ["at", "persona"]
    list_filter = [Lately.of("at"), AboutPersona]
    list_select_related = ["persona"]
    search_fields = ["uuid"]
    fields = ["uuid", "at", "persona", "counts"]
