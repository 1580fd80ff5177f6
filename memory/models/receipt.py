"""A receipt of forgetting: what was deleted, in numbers and ids, and whether the bytes are gone. It holds no words."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import NAMES_FORGOTTEN_IDS
from persona.models import Persona


class Receipt(PublicId):
    """One act of forgetting.

    `targets` are [kind, uuid] pairs; `choice` the options that were chosen; `counts` per table, or table and column;
    `erased` the uuids of deleted rows, by kind; `prints` keyed digests of runs of words, by which `verify_forgetting`
    searches for the deleted texts without knowing them; `stones` the keys of the tombstones that were added.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("erasing bytes")
        DONE = "done", _("done")

    persona = models.ForeignKey(
        Persona, models.SET_NULL, null=True, blank=True, related_name="receipts", verbose_name=_("persona")
    )
    persona_uuid = models.UUIDField(_("persona uuid"), null=True, editable=False)
    owner_id = models.BigIntegerField(_("owner id"), editable=False)
    targets = models.JSONField(_("targets"), default=list)
    choice = models.JSONField(_("choice"), default=dict)
    counts = models.JSONField(_("counts"), default=dict)
    erased = models.JSONField(_("erased"), default=dict)
    prints = models.JSONField(_("fingerprints"), default=list)
    stones = models.JSONField(_("tombstones"), default=list)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("by")
    )
    at = models.DateTimeField(_("at"))
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.PENDING)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    text_columns = {
        "external_id": NAMES_FORGOTTEN_IDS,
        "targets": NAMES_FORGOTTEN_IDS,
        "choice": NAMES_FORGOTTEN_IDS,
        "counts": NAMES_FORGOTTEN_IDS,
        "erased": NAMES_FORGOTTEN_IDS,
        "prints": NAMES_FORGOTTEN_IDS,
        "stones": NAMES_FORGOTTEN_IDS,
    }

    class Meta:
        verbose_name = _("receipt")
        verbose_name_plural = _("receipts")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["owner_id", "-id"], name="receipt_of_owner"),
            models.Index(fields=["status"], condition=models.Q(status="pending"), name="receipt_pending"),
        ]

    def __str__(self) -> str:
        return f"receipt {self.pk}"

    @property
    def is_reverted(self) -> bool:
        """Whether the deleted data may be imported again."""
        return not self.choice.get("bury", True)
