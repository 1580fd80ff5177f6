"""The admin page of the event log: names and times."""

from django.contrib import admin

from echovessel.admin import Lately, ReadOnlyAdmin
from echovessel.outbox.models import OutboxEvent


@admin.register(OutboxEvent)
class OutboxEventAdmin(ReadOnlyAdmin):
    persona_path = None
    list_display = ["id", "name", "stream", "at"]
    list_filter = [Lately.of("at")]
    search_fields = ["stream"]
    exclude = ["data"]
    unlisted = ["data"]
