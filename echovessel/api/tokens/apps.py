"""App config of the API's tokens."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TokensConfig(AppConfig):
    """Tokens with which programs sign in."""

    name = "echovessel.api.tokens"
    label = "tokens"
    verbose_name = _("Tokens")
