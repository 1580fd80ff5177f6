"""Model replies for one outreach, stored until its delivery together with the x-ray of their prompt.

Forgetting deletes the stored replies of a persona, and a reply is not stored if something was forgotten after its
prompt was made: the model is asked again.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from echovessel.jobs.lease import Lease, LeasedReplyStore
from echovessel.llm import Reply
from memory.models import ModelReply, Receipt
from persona.models import Persona
from proactive.models import Outreach


class FirstWordReplies(LeasedReplyStore):
    """The replies to one outreach. Create it before the prompt, and set `prompt_xray` before the model is asked."""

    def __init__(self, lease: Lease[Outreach]) -> None:
        self.outreach = lease.row
        question = {"persona_id": self.outreach.persona_id, "session": None, "step": _step(self.outreach)}
        super().__init__(lease, ModelReply.objects, is_checkpoint=True, **question)
        self.receipt = _last_receipt(self.outreach.persona)
        self.prompt_xray: Mapping[str, Any] = {}

    def xray(self) -> dict[str, Any]:
        """The x-ray of the prompt of the stored replies; empty if none are stored."""
        stored_xray = _rows(self.outreach, _xray_step(self.outreach)).values_list("text", flat=True).first()
        return json.loads(stored_xray) if stored_xray else {}

    def save(self, number: int, reply: Reply) -> None:
        with transaction.atomic():
            if _last_receipt(self.outreach.persona) != self.receipt or not self.lease.leased_row().exists():
                return
            super().save(number, reply)
            question = self.question | {"step": _xray_step(self.outreach), "number": 0}
            ModelReply.objects.update_or_create(**question, defaults={"text": json.dumps(self.prompt_xray)})


def exist(outreach: Outreach) -> bool:
    return _rows(outreach, _step(outreach)).exists()


def delete(outreach: Outreach) -> None:
    _rows(outreach, _step(outreach), _xray_step(outreach)).delete()


def delete_before(outreach: Outreach, moment: datetime) -> None:
    """Delete replies that were stored before `moment`: they were written for another hour or session."""
    if _rows(outreach, _step(outreach)).filter(at__lt=moment).exists():
        delete(outreach)


def _rows(outreach: Outreach, *steps: str) -> QuerySet[ModelReply]:
    return ModelReply.objects.filter(persona=outreach.persona_id, session=None, step__in=steps)


def _step(outreach: Outreach) -> str:
    return f"outreach:{outreach.pk}"


def _xray_step(outreach: Outreach) -> str:
    return f"outreach:{outreach.pk}:xray"


def _last_receipt(persona: Persona) -> int:
    return Receipt.objects.filter(persona=persona).order_by("-pk").values_list("pk", flat=True).first() or 0
