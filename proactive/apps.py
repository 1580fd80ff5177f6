from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProactiveConfig(AppConfig):
    name = "proactive"
    verbose_name = _("Reaching out")
