"""Durable events: written in the transaction that makes them true, read by every server process."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn


class OutboxEvent(models.Model):
    """One event of one stream, such as a persona. Clients resume from the id, which grows."""

    stream = models.UUIDField(_("stream"), editable=False)
    name = models.CharField(_("name"), max_length=60)
    data = models.JSONField(_("data"))
    at = models.DateTimeField(_("at"))
    text_columns = {"data": TextColumn(DELETE_ROW), "name": NO_WORDS}

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["stream", "id"], name="outbox_by_stream"),
            models.Index(fields=["at"], name="outbox_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"
