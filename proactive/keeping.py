"""What the model said for a first word, kept from the moment it is paid for until it was said, so that a repeat asks
nobody; and the account of the prompt it was said to, which is the one that belongs to the line.

Whoever is forgotten something of in the meantime is asked anew: forgetting deletes what is kept of a persona between
her talks, and a prompt that was made before a receipt is answered in vain.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from echovessel.llm import Reply
from memory.models import ModelReply, Receipt
from memory.replies import RepliesOfManySteps
from persona.models import Persona
from proactive.claims import Claim
from proactive.models import Outreach


class Kept(RepliesOfManySteps):
    """The journal of one outreach. Make it before the prompt, and give it the account of that before it is asked."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim, _step(claim.outreach), persona_id=claim.persona.pk)
        self._outreach, self._receipt = claim.outreach, _last_receipt(claim.persona)
        self._account: Mapping[str, Any] = {}

    def belongs_to(self, account: Mapping[str, Any]) -> None:
        """What is heard from now on is the answer to the prompt of this account."""
        self._account = account

    def account(self) -> dict[str, Any]:
        """That of the prompt which what is kept was said to; empty where nothing is kept."""
        stored = _accounts(self._outreach).values_list("text", flat=True).first()
        return json.loads(stored) if stored else {}

    def _is_wanted(self) -> bool:
        """Whether it is ours still, and nothing was forgotten since the prompt was made."""
        return _last_receipt(self._outreach.persona) == self._receipt and super()._is_wanted()

    def _store(self, number: int, reply: Reply) -> None:
        super()._store(number, reply)
        ModelReply.objects.update_or_create(
            persona_id=self._outreach.persona_id,
            session=None,
            step=_account_step(self._outreach),
            number=0,
            defaults={"text": json.dumps(self._account)},
        )


def is_there(outreach: Outreach) -> bool:
    """Whether something is kept of it."""
    return _replies(outreach).exists()


def forget(outreach: Outreach) -> None:
    """Delete what is kept of it."""
    (_replies(outreach) | _accounts(outreach)).delete()


def forget_before(outreach: Outreach, moment: datetime) -> None:
    """Delete what was kept of it before this moment: words for another hour of the day, or another talk."""
    if _replies(outreach).filter(at__lt=moment).exists():
        forget(outreach)


def _replies(outreach: Outreach) -> QuerySet[ModelReply]:
    return ModelReply.objects.filter(persona=outreach.persona_id, session=None, step=_step(outreach))


def _accounts(outreach: Outreach) -> QuerySet[ModelReply]:
    return ModelReply.objects.filter(persona=outreach.persona_id, session=None, step=_account_step(outreach))


def _step(outreach: Outreach) -> str:
    return f"outreach:{outreach.pk}"


def _account_step(outreach: Outreach) -> str:
    return f"outreach:{outreach.pk}:xray"


def _last_receipt(persona: Persona) -> int:
    return Receipt.objects.filter(persona=persona).order_by("-pk").values_list("pk", flat=True).first() or 0
