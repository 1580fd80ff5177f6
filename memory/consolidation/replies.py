"""Model replies to the steps of a session, stored until a step has used them."""

from chat.models import Session
from echovessel.jobs.lease import Lease, LeasedReplyStore
from memory.models import ModelReply

EXTRACTION = "extraction:"


def of_extraction(lease: Lease[Session], through: int) -> LeasedReplyStore:
    """The replies about the piece that ends with the message of this key. A repeat must ask about the same messages,
    whatever was sent since: `asked_through` returns their end."""
    return _of(lease, f"{EXTRACTION}{through}")


def of_reflection(lease: Lease[Session]) -> LeasedReplyStore:
    return _of(lease, "reflection")


def of_reconciliation(lease: Lease[Session]) -> LeasedReplyStore:
    return _of(lease, "reconciliation")


def asked_through(session: Session) -> int | None:
    """The last message of the piece that was asked about and not finished; None if there is none."""
    steps = ModelReply.objects.filter(session=session, step__startswith=EXTRACTION).values_list("step", flat=True)
    return max((int(step.removeprefix(EXTRACTION)) for step in steps), default=None)


def delete(session: Session) -> None:
    """Call in the transaction that uses them."""
    ModelReply.objects.filter(session=session).delete()


def _of(lease: Lease[Session], step: str) -> LeasedReplyStore:
    session = lease.row
    return LeasedReplyStore(lease, ModelReply.objects, persona_id=session.persona_id, session=session, step=step)
