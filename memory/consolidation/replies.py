"""What the model said to the steps of a session (see `memory.replies`)."""

from chat.models import Session
from memory.consolidation.claims import Claim
from memory.models import ModelReply
from memory.replies import Replies

READING = "extraction:"


def of_reading(claim: Claim, through: int) -> Replies:
    """The journal of the reading that ends with the line of this key. A repeat has to ask about the same lines,
    whatever has been said since: `asked_through` tells it which."""
    return _of(claim, f"{READING}{through}")


def of_reflection(claim: Claim) -> Replies:
    return _of(claim, "reflection")


def asked_through(session: Session) -> int | None:
    """The last line of the reading that was asked for and not finished; None where there is none."""
    steps = ModelReply.objects.filter(session=session, step__startswith=READING).values_list("step", flat=True)
    return max((int(step.removeprefix(READING)) for step in steps), default=None)


def forget(session: Session) -> None:
    """Delete what was kept of the session's steps. Call in the transaction that makes something of it."""
    ModelReply.objects.filter(session=session).delete()


def _of(claim: Claim, step: str) -> Replies:
    return Replies(claim, step, persona_id=claim.session.persona_id, session=claim.session)
