"""Rate limit of messages: so many of an owner in a sliding minute."""

from chat import knobs
from echovessel.web.rate_limit import RateLimiter

lines = RateLimiter(knobs.lines_per_minute)
admit, forget = lines.admit, lines.forget
