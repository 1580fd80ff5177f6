"""Forgetting as forms of pages and the admin send it: the choices, and the plan that is confirmed.

The API and the command build the same choices with `forgetting.make_choice`.
"""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _

from memory import forgetting
from memory.forgetting import Busy, Choice, Plan, PlanChanged, make_choice
from memory.models import Receipt
from memory.web.keys import read_key

BUSY = _("A reply is being written. Wait until it has arrived, then try again.")
CHANGED = _("The list has changed in the meantime. Please check the new list and confirm again.")
LAST_SUPERUSER = _(
    "You are the only administrator, and others have accounts here. Make one of them an administrator (superuser) "
    "first."
)
UNCLEAR = _("This choice was not understood. Nothing was forgotten; please choose again.")


def read_choice(data: QueryDict) -> Choice:
    """The choices in a form or a query string; missing ones have their defaults. Raises InvalidChoice.

    A mode that a preview proposed for a message that also mentions it, and that nobody changed, is left out: it follows
    the other choices.
    """
    modes = {}
    for name, mode in data.items():
        prefix, _dash, key = name.partition("-")
        if prefix == "mention" and read_key(key) and mode != data.get(f"proposed-{key}"):
            modes[read_key(key)] = str(mode)
    fields = {name: str(data[name]) for name in ("dependents", "messages", "mentions") if name in data}
    staying = filter(None, map(read_key, data.getlist("staying")))
    return make_choice(**fields, modes=modes.items(), staying=staying)


@dataclass(frozen=True)
class ForgetRefusal:
    """Nothing was forgotten: the plan as it is now, and the reason in words."""

    plan: Plan
    trouble: Any


def confirm_plan(request: HttpRequest, plan: Plan) -> Receipt | ForgetRefusal:
    """Forget, if the confirmed plan is still this one; returns the receipt, or else the reason why nothing was
    forgotten."""
    if not constant_time_compare(request.POST.get("digest", ""), plan.digest):
        return ForgetRefusal(plan, CHANGED)
    try:
        return forgetting.forget(plan, request.user, timezone.now())  # type: ignore[arg-type]
    except Busy:
        return ForgetRefusal(plan, BUSY)
    except PlanChanged as error:
        return ForgetRefusal(error.plan, CHANGED)
