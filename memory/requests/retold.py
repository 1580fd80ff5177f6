"""Replies that mention imported memories. They stay when the import is reverted, because they were written here: one
press withholds them, as "don't remember that" does, and another shows them again.

    `memory.import.retold`     receipt_id; message_ids of the replies
    `memory.import.withheld`   the same, with hidden_ids, replaced_ids and ended (see `withhold`)
    `memory.import.shown`      receipt_id; message_ids; withheld_ids: their message was reworded, they stay aside
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction

from chat.models import Message
from echovessel.language import tokenizer
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory.models import Receipt
from memory.requests.find import share_of, words_of
from memory.requests.withhold import ids_of, show_messages, withhold_messages
from persona.models import Persona

RETOLD, WITHHELD, SHOWN = "memory.import.retold", "memory.import.withheld", "memory.import.shown"
LEAST_SHARE = 0.5  # of the words of a memory recalled for the reply


@dataclass(frozen=True)
class Retold:
    """The remaining replies of a reverted import, and whether they are withheld."""

    count: int
    is_withheld: bool


def find_retold_replies(persona: Persona, texts: Mapping[str, str]) -> list[Message]:
    """The replies that mention one of `texts` (by id, about to be deleted): it was recalled for the reply, which
    contains most of its words."""
    replies = Message.objects.filter(persona=persona, role=Message.Role.PERSONA, withheld=False, import_uuid=None)
    retold_replies = []
    for reply in replies.exclude(turn=None).select_related("turn").order_by("id").iterator():
        chosen_items = ((reply.turn.xray if reply.turn else {}).get("recollections") or {}).get("chosen", [])
        words = set(tokenizer.tokenize(reply.content))
        recalled = (texts[item["id"]] for item in chosen_items if item["id"] in texts)
        if any(share_of(words_of(text, persona), words) >= LEAST_SHARE for text in recalled):
            retold_replies.append(reply)
    return retold_replies


def note_retold(receipt: Receipt, replies: Iterable[Message]) -> None:
    """Publish which replies a reverted import leaves, for its receipt."""
    if (ids := ids_of([reply.uuid for reply in replies])) and receipt.persona:
        events.publish(receipt.persona.uuid, RETOLD, receipt_id=str(receipt.uuid), message_ids=ids)


def retold_of(receipt: Receipt) -> Retold | None:
    """The replies that the receipt of a reverted import offers to withhold."""
    event = _last_event(receipt)
    count = Message.objects.filter(persona=receipt.persona, uuid__in=event.data["message_ids"]).count() if event else 0
    return Retold(count, event.name == WITHHELD) if event and count else None


def withhold_retold(receipt: Receipt) -> None:
    """Withhold the replies. A repeat does nothing more."""
    with transaction.atomic():
        event = _last_event(receipt)
        if event and event.name != WITHHELD:
            messages = list(Message.objects.filter(uuid__in=event.data["message_ids"], withheld=False))
            events.publish(
                event.stream,
                WITHHELD,
                receipt_id=str(receipt.uuid),
                message_ids=ids_of([message.uuid for message in messages]),
                **withhold_messages(messages),
            )


def show_retold(receipt: Receipt) -> None:
    """Show the withheld replies again."""
    with transaction.atomic():
        event = _last_event(receipt)
        if event and receipt.persona and event.name == WITHHELD:
            ids = event.data["message_ids"]
            shown_ids = show_messages(receipt.persona, ids, event.data)
            events.publish(
                event.stream,
                SHOWN,
                receipt_id=str(receipt.uuid),
                message_ids=ids,
                withheld_ids=sorted({*ids} - {*shown_ids}),
            )


def _last_event(receipt: Receipt) -> OutboxEvent | None:
    if receipt.persona is None:
        return None
    rows = OutboxEvent.objects.filter(stream=receipt.persona.uuid, name__in=(RETOLD, WITHHELD, SHOWN))
    return rows.filter(data__receipt_id=str(receipt.uuid)).order_by("-id").first()
