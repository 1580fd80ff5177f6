"""What a model said to a step of work, kept from the moment it is paid for until something was made of it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from chat.models import Session
from echovessel.llm import Reply, Usage
from memory.claims import Claim
from memory.models import ModelReply


class Replies:
    """The journal (`echovessel.llm.Journal`) of one step, of a session or, without one, between talks."""

    def __init__(self, claim: Claim[Any], step: str, *, persona_id: int, session: Session | None = None) -> None:
        self._claim = claim
        self._which: dict[str, Any] = {"persona_id": persona_id, "session": session, "step": step}

    def heard(self) -> Sequence[Reply]:
        kept = ModelReply.objects.filter(**self._which).order_by("number")
        return [Reply(one.text, one.whole, Usage(**one.usage)) for one in kept]

    def keep(self, number: int, reply: Reply) -> None:
        """Store it as long as the row is ours: whoever has it now asks for itself. Both at once, for whoever takes the
        row from us to forget something of it has deleted what was kept."""
        with transaction.atomic():
            if self._is_wanted():
                self._store(number, reply)

    def _is_wanted(self) -> bool:
        return self._claim.mine().exists()

    def _store(self, number: int, reply: Reply) -> None:
        ModelReply.objects.create(
            **self._which, number=number, text=reply.text, whole=reply.whole, usage=asdict(reply.usage)
        )


class RepliesOfManySteps(Replies):
    """The same where each reply is a step forward of its own: what follows has all its tries, and a whole lease."""

    def _is_wanted(self) -> bool:
        if not super()._is_wanted():
            return False
        self._claim.forward()
        return True
