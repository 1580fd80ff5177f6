"""The ledger in the admin: to look at, not to change."""

from django.contrib import admin

from echovessel.desk import Seen
from echovessel.llm.models import LLMCall


@admin.register(LLMCall)
class LLMCallAdmin(Seen):
    """Read only: an account that can be edited is none."""

    list_display = [
        "at", "purpose", "provider", "model", "tokens_in", "tokens_cached", "tokens_out", "estimated",
        "cost", "latency_ms", "outcome", "owner",
    ]  # fmt: skip
    list_filter = ["purpose", "outcome", "provider", "model", "estimated", "at"]
    search_fields = ["persona_uuid", "session_uuid", "turn_uuid"]
    list_select_related = ["owner"]
    date_hierarchy = "at"
    show_facets = admin.ShowFacets.NEVER
