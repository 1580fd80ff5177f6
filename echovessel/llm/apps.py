"""App config of the model ledger and the model connection."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LLMConfig(AppConfig):
    """Providers, structured answers and the ledger of calls."""

    name = "echovessel.llm"
    label = "llm"
    verbose_name = _("Language models")
