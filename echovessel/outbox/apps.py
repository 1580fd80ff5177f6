from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OutboxConfig(AppConfig):
    name = "echovessel.outbox"
    verbose_name = _("Events")
