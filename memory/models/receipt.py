"""A receipt: what was forgotten, in numbers and ids, and whether the bytes are gone. It holds no words."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.identity import PublicId
from persona.models import Persona


class Receipt(PublicId):
    """One forgetting.

    `targets` are [kind, uuid] pairs; `choice` as it was made; `counts` per table, or table and column; `erased` the
    uuids of what went, by kind; `prints` keyed digests of runs of words, by which `verify_forgetting` looks for what
    went without knowing it; `stones` the keys of the tombstones that were set.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("the bytes are being erased")
        DONE = "done", _("done")

    persona = models.ForeignKey(Persona, models.SET_NULL, null=True, blank=True, related_name="receipts")
    persona_uuid = models.UUIDField(null=True, editable=False)
    owner_id = models.BigIntegerField(editable=False)
    targets = models.JSONField(default=list)
    choice = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    erased = models.JSONField(default=dict)
    prints = models.JSONField(default=list)
    stones = models.JSONField(default=list)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    status = models.CharField(max_length=8, choices=Status, default=Status.PENDING)
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["owner_id", "-id"], name="receipt_of_owner"),
            models.Index(fields=["status"], condition=models.Q(status="pending"), name="receipt_pending"),
        ]

    def __str__(self) -> str:
        return f"receipt {self.pk}"
