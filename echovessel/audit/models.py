"""A look: a staff member read words of a persona that is not their own. It contains no words."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import NAMES_FORGOTTEN_IDS, NO_WORDS


class Look(models.Model):
    """One page of such words: the model's label (`what`), the persona and the rows. Never changed."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("who")
    )
    persona_uuid = models.UUIDField(_("whose persona"), null=True)
    what = models.CharField(_("what was viewed"), max_length=60)
    object_ids = models.JSONField(_("rows"), default=list)
    count = models.PositiveIntegerField(_("how many"))
    at = models.DateTimeField(_("when"))
    text_columns = {"what": NO_WORDS, "object_ids": NAMES_FORGOTTEN_IDS}

    class Meta:
        ordering = ["-id"]
        verbose_name = _("view")
        verbose_name_plural = _("views of other people's messages")
        indexes = [models.Index(fields=["persona_uuid", "-id"], name="look_by_persona")]

    def __str__(self) -> str:
        return f"look {self.pk}"
