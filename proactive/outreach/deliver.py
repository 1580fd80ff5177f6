"""Deliver an outreach: ask the gates a last time, store and publish the message, and mark the outreach as delivered.

All in one transaction: a message is published if and only if its outreach is marked."""

from django.db import transaction

from chat.turns import first_word
from echovessel.jobs.lease import Lease
from proactive.models import Outreach
from proactive.models.consideration import Consideration, Gate
from proactive.outreach import replies
from proactive.outreach.write import WrittenFirstWord
from proactive.policy import outreach_context
from proactive.policy.consider import reconsider

Status, Verdict = Outreach.Status, Consideration.Verdict


class Deferred(Exception):
    """Try again a little later for the same reason, because the owner is writing; or `immediately`, because something
    in the model's prompt was forgotten meanwhile."""

    def __init__(self, *, immediately: bool = False) -> None:
        super().__init__()
        self.immediately = immediately


class GateRefusal(Exception):
    """A gate refuses now."""

    def __init__(self, gate: str) -> None:
        super().__init__(gate)
        self.gate = gate


def deliver(lease: Lease[Outreach], written_word: WrittenFirstWord) -> None:
    """Publish the message. Raises Deferred, GateRefusal, ReasonGone or LeaseLost without publishing anything.

    The transaction holds the write lock from its beginning, so nobody else writes meanwhile.
    """
    now = lease.clock()
    with transaction.atomic():
        lease.checkpoint()
        if not replies.exist(lease.row):
            raise Deferred(immediately=True)
        ask_the_gates(lease)
        outreach_context.of(lease.row)
        try:
            turn = first_word.say(lease.row.persona, written_word.text, written_word.xray, now)
        except first_word.FirstWordRefused as error:
            raise Deferred from error
        replies.delete(lease.row)
        lease.release(status=Status.DELIVERED, delivered_at=now, turn_uuid=turn.uuid, attempts=0)


def ask_the_gates(lease: Lease[Outreach]) -> None:
    """Raises Deferred or GateRefusal if this is no longer the time."""
    decision = reconsider(lease.row, lease.clock())
    if decision.verdict == Verdict.DEFER:
        raise Deferred
    if decision.verdict == Verdict.REFUSE:
        raise GateRefusal(decision.gate or Gate.TRIGGER)
