"""The occasion of a first word: why she writes now, and the memory it is about as that stands at this moment."""

from dataclasses import dataclass
from datetime import date, datetime

from chat.models import Message
from memory.models import ConceptNode
from memory.recall.lessons import boundaries_of, crosses
from proactive.models import Outreach
from proactive.models.outreach import Trigger

AWAITED = (Trigger.PROMISE, Trigger.EXPECTATION)


class ReasonGone(Exception):
    """What she was to write about is not there any more, or is not awaited any more, or is to be left alone."""


@dataclass(frozen=True)
class OutreachContext:
    """`since` it was decided on; `day` is when it is due, or when the user said something last."""

    trigger: str
    since: datetime
    about: ConceptNode | None = None
    day: date | None = None

    @property
    def words(self) -> str:
        """Of the memory it is about, in one line; "" where there is none."""
        return " ".join(self.about.description.split()) if self.about else ""


def of(outreach: Outreach) -> OutreachContext:
    """That of an outreach, now. Raises Gone."""
    if outreach.about_uuid is None:
        said = Message.objects.filter(persona=outreach.persona, role=Message.Role.USER).said_here().on_record()
        last_day = said.order_by("-created_at", "-id").values_list("day", flat=True).first()
        return OutreachContext(outreach.trigger, outreach.wanted_at, day=last_day)
    about = ConceptNode.objects.of(outreach.persona).recallable().filter(uuid=outreach.about_uuid).first()
    if about is None or (outreach.trigger in AWAITED and about.outcome != ConceptNode.Outcome.OPEN):
        raise ReasonGone
    if crosses(boundaries_of(outreach.persona), about.description):
        raise ReasonGone
    return OutreachContext(outreach.trigger, outreach.wanted_at, about, about.event_time_end)
