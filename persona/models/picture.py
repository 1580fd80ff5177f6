"""Pictures, stored without the metadata of cameras and editors."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import WRITTEN_BY_OWNER
from persona.models.persona import Persona


class StoredPicture(models.Model):
    """Stored in the database and not in a folder, so that it is encrypted, backed up and deleted with everything
    else."""

    class Format(models.TextChoices):
        PNG = "png", "PNG"
        JPEG = "jpeg", "JPEG"
        WEBP = "webp", "WebP"

    format = models.CharField(_("format"), max_length=4, choices=Format)
    content = models.BinaryField(_("content"))
    saved_at = models.DateTimeField(_("saved at"), default=timezone.now)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=models.Q(format__in=["png", "jpeg", "webp"]), name="%(class)s_format_known"
            ),
        ]

    @property
    def version(self) -> str:
        """Identifies this picture among its successors."""
        return str(round(self.saved_at.timestamp() * 1e6))


class Picture(StoredPicture):
    """The picture of a persona."""

    persona = models.OneToOneField(Persona, models.CASCADE, related_name="picture", verbose_name=_("persona"))
    text_columns = {"content": WRITTEN_BY_OWNER}

    class Meta(StoredPicture.Meta):
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")

    def __str__(self) -> str:
        return f"picture {self.pk}"
