"""Crisis flags: messages that staff with the permission should look at soon. A flag holds no words; the message has
them."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.message import Message


class CrisisFlag(models.Model):
    """Raised for a message and seen once; deleted with the message."""

    message = models.OneToOneField(Message, models.CASCADE, related_name="crisis_flag")
    raised_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("raised by")
    )
    # Once heard as a crisis message it stays one, whatever the detector learns later: help beside it and the way it is
    # answered depend on this. A flag that a person raised is not shown to the owner.
    by_detector = models.BooleanField(_("raised by the detector"), default=False, editable=False)
    # The connected model reported it when it read the session; help stands beside the message as for the detector.
    by_model = models.BooleanField(_("raised by the connected model"), default=False, editable=False)
    raised_at = models.DateTimeField(_("raised at"))
    seen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("seen by")
    )
    seen_at = models.DateTimeField(_("seen at"), null=True, blank=True)

    class Meta:
        ordering = ["-raised_at", "-id"]
        verbose_name = _("crisis flag")
        verbose_name_plural = _("crisis flags")
        indexes = [models.Index(fields=["-raised_at", "-id"], name="crisis_flag_newest")]

    def __str__(self) -> str:
        return f"crisis flag {self.pk}"

    @property
    def shows_help(self) -> bool:
        return self.by_detector or self.by_model
