"""How fast one may talk: so many lines of a user in a sliding minute."""

from chat import knobs
from echovessel.web.rate_limit import RateLimiter

lines = RateLimiter(knobs.lines_per_minute)
admit, forget = lines.admit, lines.forget
