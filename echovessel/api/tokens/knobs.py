"""Knobs of the API."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import whole

requests_per_minute = whole(
    "api.requests_per_minute",
    600,
    low=1,
    high=100_000,
    unit=_("requests"),
    why=_("Ten a second for each token or login: more than a program needs, and too few to make others wait."),
)
