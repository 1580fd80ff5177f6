"""The token of a request. A valid one is always accepted. After five wrong ones from an address, further wrong ones
from there are answered with a time to wait, as at the login.

Nobody is locked out by the guesses of others: behind a proxy, or in one home, all share an address. A secret has 256
bits, so the lock protects the log and the database from noise, not the secret from being guessed.
"""

import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from axes.helpers import get_cool_off
from django.conf import settings
from django.http import HttpRequest

from echovessel.api.tokens.secret import valid_token
from echovessel.web.client_address import client_address

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_ADDRESSES = 10_000  # the address whose last failure is oldest is dropped first
_failures: OrderedDict[str, tuple[int, float]] = OrderedDict()


@dataclass(frozen=True)
class ShownToken:
    """The user of a valid token, and the token's primary key."""

    user: "User"
    token_id: int


class WrongToken(Exception):
    """The request has a token that is not valid."""


class LockedOut(Exception):
    """A wrong token from an address that has sent too many; `seconds` until the address may try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"locked out for {seconds} seconds")
        self.seconds = seconds


def bearer_of(request: HttpRequest, now: datetime) -> "User | None":
    """The user whose token is in `Authorization: Bearer`, or None without one. Raises WrongToken, LockedOut.

    Queries the database: from async code call it in a thread.
    """
    bearer = shown_by(request, now)
    return bearer.user if bearer else None


def shown_by(request: HttpRequest, now: datetime) -> ShownToken | None:
    """As `bearer_of`, with the token's primary key."""
    kind, _space, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":
        return None
    token = valid_token(secret.strip(), now)  # for every address: locked or not takes the same time
    if token is not None:
        return ShownToken(token.owner, token.pk)
    # After too many wrong tokens an address waits as long as a login is locked.
    address, clock, cool_off = client_address(request), time.monotonic(), get_cool_off()
    patience = cool_off.total_seconds() if cool_off else 0.0
    count, last = _failures.get(address, (0, clock))
    seconds_left = last + patience - clock
    if count >= settings.AXES_FAILURE_LIMIT and seconds_left > 0:
        raise LockedOut(max(1, math.ceil(seconds_left)))
    _failures.pop(address, None)  # moves the address to the end, as the newest
    _failures[address] = (count + 1 if clock - last < patience else 1, clock)
    while len(_failures) > MAX_ADDRESSES:
        _failures.popitem(last=False)
    raise WrongToken


def forget_failures() -> None:
    """Reset the failures of all addresses."""
    _failures.clear()
