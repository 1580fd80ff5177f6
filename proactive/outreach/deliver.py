"""Delivering: the gates asked a last time, the line stored and published, the outreach stamped. One transaction: what
is seen is stamped, and what is stamped was said."""

from django.db import transaction

from chat.turns import first_word
from echovessel.jobs.lease import Lease
from proactive.models import Outreach
from proactive.models.consideration import Consideration, Gate
from proactive.outreach import replies
from proactive.outreach.write import WrittenFirstWord
from proactive.policy import outreach_context
from proactive.policy.consider import decide_again

Status, Verdict = Outreach.Status, Consideration.Verdict


class Deferred(Exception):
    """Not now, but for the same reason a little later: the owner is just writing, or `immediately`, because something
    that the model was given was forgotten."""

    def __init__(self, *, immediately: bool = False) -> None:
        super().__init__()
        self.immediately = immediately


class GateRefusal(Exception):
    """A gate refuses by now."""

    def __init__(self, gate: str) -> None:
        super().__init__(gate)
        self.gate = gate


def deliver(lease: Lease[Outreach], written: WrittenFirstWord) -> None:
    """Say it. Raises Deferred, HeldBack, Gone and LeaseLost; nothing is said then.

    Nobody else writes meanwhile: the transaction holds the write lock from its beginning on.
    """
    now = lease.clock()
    with transaction.atomic():
        lease.checkpoint()
        if not replies.exist(lease.row):
            raise Deferred(immediately=True)
        ask_the_gates(lease)
        outreach_context.of(lease.row)
        try:
            turn = first_word.say(lease.row.persona, written.text, written.xray, now)
        except first_word.NotNow as error:
            raise Deferred from error
        replies.delete(lease.row)
        lease.release(status=Status.DELIVERED, delivered_at=now, turn_uuid=turn.uuid, attempts=0)


def ask_the_gates(lease: Lease[Outreach]) -> None:
    """Raises Deferred or HeldBack where it is not the time any more."""
    decision = decide_again(lease.row, lease.clock())
    if decision.verdict == Verdict.DEFER:
        raise Deferred
    if decision.verdict == Verdict.REFUSE:
        raise GateRefusal(decision.gate or Gate.TRIGGER)
