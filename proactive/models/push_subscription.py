"""Push subscriptions: browsers of an owner that are notified of new messages, never of their text."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import OF_ACCOUNT


class PushSubscription(models.Model):
    """The Push API's PushSubscription: the endpoint at the browser maker's push service, and the keys that encrypt a
    notification for this browser."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="push_subscriptions", verbose_name=_("owner")
    )
    endpoint = models.CharField(_("endpoint"), max_length=1_000, unique=True)
    p256dh = models.CharField(max_length=200)
    auth = models.CharField(max_length=60)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    last_pushed_at = models.DateTimeField(_("last pushed at"), null=True, blank=True)
    failures = models.PositiveSmallIntegerField(_("failures"), default=0)
    text_columns = {"endpoint": OF_ACCOUNT, "p256dh": OF_ACCOUNT, "auth": OF_ACCOUNT}

    class Meta:
        verbose_name = _("push subscription")
        verbose_name_plural = _("push subscriptions")
        ordering = ["id"]

    def __str__(self) -> str:
        return f"push subscription {self.pk}"
