"""The desk's page of the event log: names and times."""

from django.contrib import admin

from echovessel.desk import Seen
from echovessel.outbox.models import OutboxEvent


@admin.register(OutboxEvent)
class OutboxEventAdmin(Seen):
    list_display = ["id", "name", "stream", "at"]
    list_filter = ["name"]
    search_fields = ["stream"]
    exclude = ["data"]
