"""The occasion of a first message: why the persona writes now, and the current state of the memory it is about."""

from dataclasses import dataclass
from datetime import date, datetime

from chat.models import Message
from memory.models import ConceptNode
from memory.recall.lessons import boundaries_of, crosses
from proactive.models import Outreach
from proactive.models.outreach import Trigger

AWAITED = (Trigger.PROMISE, Trigger.EXPECTATION)


class ReasonExpired(Exception):
    """The memory of the outreach no longer exists, is no longer awaited, or is one the owner wants left alone."""


@dataclass(frozen=True)
class OutreachContext:
    """`since`: when the outreach was decided on. `day`: when the matter is due; for a silence, the day of the owner's
    last message."""

    trigger: str
    since: datetime
    about: ConceptNode | None = None
    day: date | None = None

    @property
    def words(self) -> str:
        """The description of the memory in one line; "" if there is none."""
        return " ".join(self.about.description.split()) if self.about else ""


def of(outreach: Outreach) -> OutreachContext:
    """The context of an outreach now. Raises ReasonGone."""
    if outreach.about_uuid is None:
        owner_messages = (
            Message.objects.filter(persona=outreach.persona, role=Message.Role.USER).without_imports().on_record()
        )
        last_day = owner_messages.order_by("-created_at", "-id").values_list("day", flat=True).first()
        return OutreachContext(outreach.trigger, outreach.wanted_at, day=last_day)
    about = ConceptNode.objects.of(outreach.persona).recallable().filter(uuid=outreach.about_uuid).first()
    if about is None or (outreach.trigger in AWAITED and about.outcome != ConceptNode.Outcome.OPEN):
        raise ReasonExpired
    if crosses(boundaries_of(outreach.persona), about.description):
        raise ReasonExpired
    return OutreachContext(outreach.trigger, outreach.wanted_at, about, about.event_time_end)
