from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PersonaConfig(AppConfig):
    name = "persona"
    verbose_name = _("L1 identity and L6 mood")
