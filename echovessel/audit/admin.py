"""The admin page of looks: who read whose words, and when. Read-only."""

from django.contrib import admin

from echovessel.admin import Lately, ReadOnlyAdmin
from echovessel.audit.models import Look


@admin.register(Look)
class LookAdmin(ReadOnlyAdmin):
    persona_path = None
    list_display = ["at", "user", "what", "count", "persona_uuid"]
    list_filter = [Lately.of("at")]
    list_select_related = ["user"]
    search_fields = ["persona_uuid", "user__username"]
    fields = ["at", "user", "what", "count", "persona_uuid", "object_ids"]
