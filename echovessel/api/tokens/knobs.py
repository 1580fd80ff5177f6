"""Knobs of the API."""

from echovessel.knobs import whole

requests_per_minute = whole(
    "api.requests_per_minute",
    600,
    low=1,
    high=100_000,
    unit="requests",
    why="Ten a second for each token or login: more than a program needs, and less than what makes others wait.",
)
