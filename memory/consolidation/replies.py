"""What the model said to a step, kept from the moment it is paid for until the step has made something of it."""

from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction

from chat.models import Session
from echovessel.llm import Reply, Usage
from memory.consolidation.claims import Claim
from memory.models import ModelReply

READING = "extraction:"


class Replies:
    """The journal (`echovessel.llm.Journal`) of one step of a session."""

    def __init__(self, claim: Claim, step: str) -> None:
        self._claim = claim
        self._step = step

    def heard(self) -> Sequence[Reply]:
        kept = ModelReply.objects.filter(session=self._claim.session, step=self._step)
        return [Reply(one.text, one.whole, Usage(**one.usage)) for one in kept.order_by("number")]

    def keep(self, number: int, reply: Reply) -> None:
        """Store it as long as the session is ours: whoever has it now asks for itself. Both at once, for whoever takes
        the session from us to forget something of it has deleted what was kept."""
        with transaction.atomic():
            if self._claim.mine().exists():
                ModelReply.objects.create(
                    persona_id=self._claim.session.persona_id,
                    session=self._claim.session,
                    step=self._step,
                    number=number,
                    text=reply.text,
                    whole=reply.whole,
                    usage=asdict(reply.usage),
                )


def of_reading(claim: Claim, through: int) -> Replies:
    """The journal of the reading that ends with the line of this key. A repeat has to ask about the same lines,
    whatever has been said since: `asked_through` tells it which."""
    return Replies(claim, f"{READING}{through}")


def of_reflection(claim: Claim) -> Replies:
    return Replies(claim, "reflection")


def asked_through(session: Session) -> int | None:
    """The last line of the reading that was asked for and not finished; None where there is none."""
    steps = ModelReply.objects.filter(session=session, step__startswith=READING).values_list("step", flat=True)
    return max((int(step.removeprefix(READING)) for step in steps), default=None)


def forget(session: Session) -> None:
    """Delete what was kept of the session's steps. Call in the transaction that makes something of it."""
    ModelReply.objects.filter(session=session).delete()
