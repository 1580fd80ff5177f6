"""What pages and the admin send to have something forgotten: the choice, and the plan that is confirmed.

The API and the command make the same choice, by `forgetting.make_choice`.
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
NOBODY_LEFT = _(
    "You are the only administrator, and others have accounts here. Make one of them an administrator (superuser) "
    "first."
)
UNCLEAR = _("This choice was not understood. Nothing was forgotten; please choose again.")


def read_choice(data: QueryDict) -> Choice:
    """The choice in a form or an address; what is left out is as by default. Raises InvalidChoice.

    Of a message that also mentions it, a mode that a preview proposed and nobody changed is left out: it follows the
    other choices.
    """
    modes = {}
    for name, mode in data.items():
        prefix, _dash, key = name.partition("-")
        if prefix == "mention" and read_key(key) and mode != data.get(f"proposed-{key}"):
            modes[read_key(key)] = str(mode)
    words = {name: str(data[name]) for name in ("dependents", "messages", "mentions") if name in data}
    staying = filter(None, map(read_key, data.getlist("staying")))
    return make_choice(**words, modes=modes.items(), staying=staying)


@dataclass(frozen=True)
class NotDone:
    """Nothing was forgotten: what would go now, and why nothing did, in words."""

    plan: Plan
    trouble: Any


def confirm_plan(request: HttpRequest, plan: Plan) -> Receipt | NotDone:
    """The receipt, where it was this plan that was confirmed and it could be done; else why not."""
    if not constant_time_compare(request.POST.get("digest", ""), plan.digest):
        return NotDone(plan, CHANGED)
    try:
        return forgetting.forget(plan, request.user, timezone.now())  # type: ignore[arg-type]
    except Busy:
        return NotDone(plan, BUSY)
    except PlanChanged as error:
        return NotDone(error.plan, CHANGED)
