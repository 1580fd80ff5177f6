"""After a turn: what its messages ask for is offered to the page, once, and by ids alone.

`memory.forget.asked`       turn_id; message_ids and node_ids that are meant; asked_id of the message that names what
                            shall be forgotten, to be searched for; withheld_ids, what was withheld at once; sure
`memory.correction.asked`   turn_id; asked_id of the message that corrects; node_ids that it may be about
`memory.message.restored`   turn_id, message_ids: what was withheld is told to models again
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from chat.models import Message, Turn
from echovessel.language.requests import Request, RequestKind, read_requests
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory.models import ConceptNode
from memory.recall.passages import is_question
from memory.requests.corrections import contradicted
from memory.requests.withhold import ASKED, ids_of, withhold

CORRECTED = "memory.correction.asked"


def offer(turn: Turn, messages: Sequence[Message]) -> None:
    """Offer what the messages of the turn ask for; doing it twice does nothing more. No transaction may be open."""
    for message in reversed(messages):
        before = messages_before(message)
        previous = next((one.content for one in before if one.role == Message.Role.USER), "")
        for request in read_requests(message.content, previous=previous):
            match request.kind:
                case RequestKind.FORGET:
                    publish_once(
                        turn, ASKED, message_ids=[], node_ids=[], asked_id=str(message.uuid), sure=request.sure
                    )
                case RequestKind.FORGET_THIS:
                    _offer_to_forget_this(turn, message, request)
                case RequestKind.CORRECTION:
                    nodes = contradicted(turn.persona, request, before)
                    if nodes:
                        ids = ids_of([node.uuid for node in nodes])
                        publish_once(turn, CORRECTED, asked_id=str(message.uuid), node_ids=ids)


def publish_once(turn: Turn, name: str, **data: object) -> bool:
    """Publish the event of a turn, unless it was; call it in the transaction of what it tells, if there is any."""
    stream, turn_id = turn.persona.uuid, str(turn.uuid)
    with transaction.atomic():
        if OutboxEvent.objects.filter(stream=stream, name=name, data__turn_id=turn_id).exists():
            return False
        events.publish(stream, name, turn_id=turn_id, **data)
    return True


def messages_before(message: Message, limit: int = 4) -> list[Message]:
    """The last messages before it in its session, newest first."""
    said = Message.objects.filter(session=message.session_id, withheld=False).exclude(role=Message.Role.SYSTEM)
    return list(said.before(message).order_by("-created_at", "-id")[:limit])


def meant_message(message: Message, request: Request) -> Message | None:
    """The message that "forget that" means: the one before, if it tells something, or itself."""
    if not request.points_back:
        return message
    theirs = Message.objects.filter(session=message.session_id, role=Message.Role.USER, withheld=False).before(message)
    last = theirs.select_related("persona", "session").order_by("-created_at", "-id").first()
    return last if last and not is_question(last.content) else None


def _offer_to_forget_this(turn: Turn, message: Message, request: Request) -> None:
    told = meant_message(message, request)
    nodes = [] if told else _recalled_before(turn, message)
    if not told and not nodes:
        return
    with transaction.atomic():
        if OutboxEvent.objects.filter(stream=turn.persona.uuid, name=ASKED, data__turn_id=str(turn.uuid)).exists():
            return
        withheld, hidden = withhold(told) if told and request.sure else ([], [])
        publish_once(
            turn,
            ASKED,
            message_ids=[str(told.uuid)] if told else [],
            node_ids=ids_of(nodes),
            withheld_ids=ids_of(withheld),
            hidden_ids=ids_of(hidden),
        )


def _recalled_before(turn: Turn, message: Message) -> list[UUID]:
    """The memories that came to mind for the last reply before it, as far as they still may."""
    earlier = Message.objects.filter(session=message.session_id, role=Message.Role.PERSONA).before(message)
    last = earlier.exclude(turn=None).select_related("turn").order_by("-created_at", "-id").first()
    seen = (last.turn.xray if last and last.turn else {}).get("recollections") or {}
    chosen = [item["id"] for item in seen.get("chosen", []) if item["layer"] != "L2"]
    found = ConceptNode.objects.filter(persona=turn.persona_id, uuid__in=chosen).recallable()
    return list(found.order_by("id").values_list("uuid", flat=True))
