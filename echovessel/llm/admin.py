"""The ledger in the admin, read-only, with today's usage and caps above it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.admin import Lately, ReadOnlyAdmin
from echovessel.llm import ledger
from echovessel.llm.models import LLMCall, Purpose


@dataclass(frozen=True)
class Today:
    """One row of today's usage: owner, purpose, usage and cap."""

    owner: str
    purpose: str
    used: ledger.OwnerUsage
    most_tokens: int

    @property
    def spent(self) -> bool:
        return self.used.owner_id is not None and 0 < self.most_tokens <= self.used.tokens


def today(now: datetime) -> list[Today]:
    """Today's rows of all owners, sorted by owner name."""
    used = ledger.usage_today(now)
    owners = get_user_model().objects.in_bulk(
        {usage_row.owner_id for usage_row in used if usage_row.owner_id is not None}
    )
    rows = [
        Today(
            owner=str(owners.get(usage_row.owner_id, "")) if usage_row.owner_id else "",
            purpose=str(Purpose(usage_row.purpose).label),
            used=usage_row,
            most_tokens=ledger.caps(usage_row.purpose)[0],
        )
        for usage_row in used
    ]
    return sorted(rows, key=lambda row: row.owner)


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnlyAdmin):
    """Read-only, so that the ledger cannot be falsified."""

    persona_path = None
    list_display = ["at", "owner", "purpose", "used_model", "tokens", "dollars", "seconds", "outcome"]
    list_filter = ["purpose", "outcome", "estimated", Lately.of("at")]
    search_fields = ["persona_uuid", "session_uuid", "turn_uuid"]
    list_select_related = ["owner"]

    @admin.display(description=_("model"))
    def used_model(self, call: LLMCall) -> str:
        return f"{call.model} ({call.provider})"

    @admin.display(description=_("tokens in → out"))
    def tokens(self, call: LLMCall) -> str:
        about = "≈ " if call.estimated else ""
        cached = f" ({_('%(n)s cached') % {'n': f'{call.tokens_cached:,}'}})" if call.tokens_cached else ""
        return f"{about}{call.tokens_in:,}{cached} → {call.tokens_out:,}"

    @admin.display(description=_("US dollars"))
    def dollars(self, call: LLMCall) -> str:
        return "?" if call.cost is None else f"{call.cost:.4f}"

    @admin.display(description=_("seconds"))
    def seconds(self, call: LLMCall) -> str:
        return f"{call.latency_ms / 1_000:.1f}"

    def changelist_view(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "today": today(timezone.now())})
