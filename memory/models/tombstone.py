"""A tombstone: what was forgotten must not come back. It holds no words."""

from django.db import models

from persona.models import Persona


class Tombstone(models.Model):
    """The keyed digest of a forgotten text. The write gate refuses what has it, and counts."""

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="tombstones")
    digest = models.CharField(max_length=64)
    refused = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["persona", "digest"], name="tombstone_once")]

    def __str__(self) -> str:
        return f"tombstone {self.pk}"
