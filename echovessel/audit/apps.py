"""App config of the audit: who looked at whose words."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    """Records of staff who looked at other people's words."""

    name = "echovessel.audit"
    label = "audit"
    verbose_name = _("Audit")
