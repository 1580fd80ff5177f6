"""Tombstones keep forgotten data from coming back. They hold no words."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import NO_WORDS
from persona.models import Persona


class Tombstone(models.Model):
    """A keyed digest of something forgotten. The write gate refuses forgotten texts, the importer also ids and names.

    `key_id` names the installation's key that the digest was made with.
    """

    class Kind(models.TextChoices):
        TEXT = "text", _("a text")
        LINE = "line", _("a short message of one day")
        NAME = "name", _("a name")
        EXTERNAL = "external", _("an id in an archive")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="tombstones", verbose_name=_("persona"))
    kind = models.CharField(_("kind"), max_length=8, choices=Kind, default=Kind.TEXT)
    digest = models.CharField(_("digest"), max_length=64)
    key_id = models.CharField(_("key id"), max_length=8, default="")
    refused = models.PositiveIntegerField(_("times refused"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    text_columns = {"digest": NO_WORDS, "key_id": NO_WORDS}

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["persona", "digest"], name="tombstone_once")]

    def __str__(self) -> str:
        return f"tombstone {self.pk}"
