"""Offers: after a turn the requests in its messages are published to the page, once, by ids and places only.

`memory.forget.asked`       turn_id; message_ids and node_ids that are meant; asked_id of the message whose text at
                            `place` is to be searched for; withheld_ids of messages withheld immediately; hidden_ids,
                            replaced_ids and ended of the memories that rest on these alone (see `withhold`); sure, or
                            else the page asks whether it was meant
`memory.correction.asked`   turn_id; asked_id of the message that corrects; node_ids that it may be about; its place;
                            is_open if it says that something is wrong, but neither what nor how it should be
`memory.request.asked`      turn_id; asked_id; kind (wish, name or remember); the places of the request and of its
                            condition. It may be meant, and is carried out only after a yes
`memory.node.updated`       with change "superseded": a model replaced node_id by superseded_by. The offer is to undo
                            this; superseded_by takes the place of the turn
`memory.offer.settled`      turn_id; offer, the name of the offer's event: answered, or not meant
`memory.message.restored`   turn_id, message_ids: withheld messages are shown to models again

An offer is open until it is settled, and as long as its subject exists; a page that loads requests the open ones.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from chat.models import Message, Session, Turn
from echovessel.db.compiled_queries import Query
from echovessel.language.disputes import read_dispute
from echovessel.language.requests import Request, RequestKind, read_requests
from echovessel.language.requests.restatement import read_restatements
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory.curation.lessons import Wish, is_refused, learn, wish_of
from memory.curation.remember import Place, remember
from memory.models import ConceptNode, Evidence, NodeVersion
from memory.recall.passages import is_question
from memory.requests.corrections import find_contradicted, find_disputed, would_change
from memory.requests.withhold import ASKED, ids_of, withhold
from persona.models import Persona

CORRECTED, REQUESTED, SETTLED = "memory.correction.asked", "memory.request.asked", "memory.offer.settled"
OFFERS = (ASKED, CORRECTED, REQUESTED)
REPLACED = "memory.node.updated"
MAX_REPLACED = 3
MAX_OPEN_QUESTIONS = 3  # possible wishes and things to remember; while so many are unanswered no more are asked
MAX_EVENTS = 200  # events
MESSAGES_BEFORE = 4  # that show what a message answers
MAX_CORRECTIONS = 3  # of one message; each is compared with memories
KINDS = {RequestKind.WISH: "wish", RequestKind.NAME: "name", RequestKind.REMEMBER: "remember"}
_newest_before: Query[Message] = Query(
    lambda session, created_at, pk: (
        Message.objects.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, pk__lt=pk), session=session)
        .shown_to_models()
        .order_by("-created_at", "-pk")[:MESSAGES_BEFORE]
    )
)


def offer(turn: Turn, messages: Sequence[Message]) -> None:
    """Publish offers for the requests in the messages of the turn; a repeat does nothing more. No transaction may be
    open."""
    for message in reversed(messages):
        before = messages_before(message)
        previous = next(
            (message_before.content for message_before in before if message_before.role == Message.Role.USER), ""
        )
        requests = read_requests(message.content, previous=previous)
        corrections = [correction for correction in requests if correction.kind is RequestKind.CORRECTION][
            :MAX_CORRECTIONS
        ]
        others = [request for request in requests if request.kind is not RequestKind.CORRECTION]
        for request in (*others, *(corrections or read_restatements(message.content))):
            match request.kind:
                case RequestKind.FORGET:
                    offer_to_forget(turn, message, place_of(request), sure=request.sure)
                case RequestKind.FORGET_THIS:
                    offer_to_forget_this(turn, message, request)
                case RequestKind.CORRECTION if nodes := find_disputed_nodes(turn, message, before):
                    place = [request.start, request.end]
                    publish_once(
                        turn, CORRECTED, asked_id=str(message.uuid), node_ids=ids_of([node.uuid for node in nodes]),
                        place=place, new_place=[], is_open=True,
                    )  # fmt: skip
                case RequestKind.CORRECTION:
                    offer_correction(turn, message, request, find_contradicted(turn.persona, request, before))
                case RequestKind.WISH | RequestKind.NAME | RequestKind.REMEMBER if not request.sure:
                    offer_to_confirm(turn, message, request)


def offer_to_forget(turn: Turn, message: Message, place: Sequence[int], *, sure: bool) -> bool:
    """Offer to search for the text at `place` of the message."""
    return publish_once(
        turn, ASKED, message_ids=[], node_ids=[], asked_id=str(message.uuid), place=list(place), sure=sure
    )


def offer_to_forget_this(turn: Turn, message: Message, request: Request) -> None:
    """Offer to forget the message that is meant, or the memories recalled for the last reply; withhold the message
    immediately if the request is sure."""
    target = find_target(message, request)
    nodes = [] if target else _recalled_before(turn, message)
    if not target and not nodes:
        return
    with transaction.atomic():
        if OutboxEvent.objects.filter(stream=turn.persona.uuid, name=ASKED, data__turn_id=str(turn.uuid)).exists():
            return
        withheld, hidden = withhold(target) if target and request.sure else ([], {"hidden_ids": []})
        publish_once(
            turn,
            ASKED,
            message_ids=[str(target.uuid)] if target else [],
            node_ids=ids_of(nodes),
            withheld_ids=ids_of(withheld),
            sure=request.sure,
            **hidden,
        )


def find_disputed_nodes(turn: Turn, message: Message, before: Sequence[Message]) -> list[ConceptNode]:
    """The memories to choose from if a message says only that something is wrong. `before`: as from
    `messages_before`."""
    topic = read_dispute(message.content)
    if topic is None:
        return []
    recalled = ConceptNode.objects.filter(uuid__in=_recalled_before(turn, message)).select_related("persona")
    reply = next(
        (message_before.content for message_before in before if message_before.role == Message.Role.PERSONA), ""
    )
    return find_disputed(turn.persona, topic, reply, list(recalled))


def offer_correction(turn: Turn, message: Message, request: Request, nodes: Sequence[ConceptNode]) -> bool:
    """Offer to correct the first of the memories that the correction would change and for which it was not declined."""
    begins = request.subject_start
    declined_ids = _declined_node_ids(turn.persona, message.content[request.start : request.end])
    ids = ids_of([node.uuid for node in nodes if would_change(node, request)])
    ids = [node_id for node_id in ids if node_id not in declined_ids]
    places = {
        "place": [request.start, request.end],
        "new_place": [begins, begins + len(request.new)] if begins >= 0 else [],
    }
    return bool(ids) and publish_once(turn, CORRECTED, asked_id=str(message.uuid), node_ids=ids, **places)


def _declined_node_ids(persona: Persona, words: str) -> set[str]:
    """The memories that the owner recently left unchanged when the same words were offered as a correction of them."""
    corrected_events = OutboxEvent.objects.filter(stream=persona.uuid, name=CORRECTED).order_by("-id")[:MAX_EVENTS]
    offers = {data["turn_id"]: (data, at) for data, at in corrected_events.values_list("data", "at")}
    settled = OutboxEvent.objects.filter(stream=persona.uuid, name=SETTLED, data__offer=CORRECTED)
    settled_turns = {turn_id for turn_id in settled.values_list("data__turn_id", flat=True) if turn_id in offers}
    messages = Message.objects.filter(
        persona=persona, uuid__in=[offers[turn_id][0]["asked_id"] for turn_id in settled_turns]
    )
    contents = {str(uuid): content for uuid, content in messages.values_list("uuid", "content")}
    node_ids: set[str] = set()
    for data, at in (offers[turn_id] for turn_id in settled_turns):
        if contents.get(data["asked_id"], "")[slice(*data["place"])].casefold() == words.casefold():
            versions = NodeVersion.objects.filter(node__uuid__in=data["node_ids"], edited_at__gte=at)
            node_ids |= set(data["node_ids"]) if not versions.exists() else set()
    return node_ids


def offer_to_confirm(turn: Turn, message: Message, request: Request) -> bool:
    """Ask whether the message is meant as a wish or as something to remember. To remember means the whole message."""
    # A name that the owner does not want to be called by is a wish.
    kind = "wish" if request.kind is RequestKind.NAME and not request.subject else KINDS[request.kind]
    open_requests = [open_offer for open_offer in open_offers(turn.persona) if open_offer["event"] == REQUESTED]
    if len(open_requests) >= MAX_OPEN_QUESTIONS or (
        kind != "remember" and is_refused(wish_of(message.content, request))
    ):
        return False
    condition = message.content.find(request.condition.text, request.start) if request.condition.text else -1
    places = {"place": [request.start, request.end], "condition_place": []}
    if kind == "remember":
        places["place"] = [0, len(message.content)]
    elif kind == "name":
        places["condition_place"] = place_of(request)
    elif condition >= 0:
        places["condition_place"] = [condition, condition + len(request.condition.text)]
    return publish_once(
        turn,
        REQUESTED,
        asked_id=str(message.uuid),
        kind=kind,
        **places,
        condition_kind=request.condition.kind,
        is_boundary=request.is_boundary,
    )


def place_of(request: Request) -> list[int]:
    """The place of the subject in its message, else of the request."""
    if request.subject_start < 0 or not request.subject:
        return [request.start, request.end]
    return [request.subject_start, request.subject_start + len(request.subject)]


def settle(persona: Persona, turn_uuid: UUID, name: str) -> bool:
    """Settle an offer that was answered or not meant: no page shows it any longer. False if there is no open one."""
    with transaction.atomic():
        if not any(
            open_offer["event"] == name and open_offer["data"]["turn_id"] == str(turn_uuid)
            for open_offer in open_offers(persona)
        ):
            return False
        events.publish(persona.uuid, SETTLED, turn_id=str(turn_uuid), offer=name)
    return True


def settle_remembered(session: Session) -> None:
    """Settle the questions whether to remember messages of `session` that became memories anyway."""
    evidence = Evidence.objects.filter(message__session=session, node__status=ConceptNode.Status.ACTIVE)
    open_requests = [
        open_offer["data"] for open_offer in open_offers(session.persona) if open_offer["event"] == REQUESTED
    ]
    turn_ids = {data["asked_id"]: data["turn_id"] for data in open_requests if data["kind"] == "remember"}
    for message in evidence.filter(message__uuid__in=turn_ids).values_list("message__uuid", flat=True).distinct():
        settle(session.persona, UUID(turn_ids[str(message)]), REQUESTED)


def is_settled(persona: Persona, turn_uuid: UUID, name: str) -> bool:
    """Whether an offer was settled: answered, or not meant."""
    settled = OutboxEvent.objects.filter(stream=persona.uuid, name=SETTLED, data__turn_id=str(turn_uuid))
    return settled.filter(data__offer=name).exists()


def find_offer_of_message(persona: Persona, message: Message, name: str) -> dict[str, Any]:
    """The data of the offer made because of this message; {} if there is none."""
    offer_events = OutboxEvent.objects.filter(stream=persona.uuid, name=name, data__asked_id=str(message.uuid))
    return offer_events.order_by("-id").values_list("data", flat=True).first() or {}


def open_offers(persona: Persona) -> list[dict[str, Any]]:
    """The open offers, the oldest first, as pages receive them: {"event", "data"}."""
    rows = OutboxEvent.objects.filter(stream=persona.uuid, name__in=(*OFFERS, SETTLED)).order_by("-id")
    event_rows = list(rows.values_list("name", "data")[:MAX_EVENTS])
    settled = {(data["turn_id"], data["offer"]) for name, data in event_rows if name == SETTLED}
    offers = [(name, data) for name, data in event_rows if name != SETTLED and (data["turn_id"], name) not in settled]
    ids = {
        message_uuid
        for _name, data in offers
        for message_uuid in (data.get("asked_id"), *data.get("message_ids", []))
        if message_uuid
    }
    messages = dict(Message.objects.filter(persona=persona, uuid__in=ids).values_list("uuid", "withheld"))
    ids = {node_uuid for _name, data in offers for node_uuid in data.get("node_ids", [])}
    nodes = set(map(str, ConceptNode.objects.filter(persona=persona, uuid__in=ids).values_list("uuid", flat=True)))
    shown_offers = []
    for name, data in reversed(offers):
        message_uuids = [
            UUID(message_uuid) for message_uuid in (data.get("asked_id"), *data.get("message_ids", [])) if message_uuid
        ]
        node_uuids = [node_uuid for node_uuid in data.get("node_ids", []) if node_uuid in nodes]
        exists = all(uuid in messages for uuid in message_uuids) and (bool(message_uuids) or bool(node_uuids))
        is_restored = bool(data.get("withheld_ids")) and not any(messages.get(uuid) for uuid in message_uuids)
        if exists and not is_restored and (node_uuids or name != CORRECTED):
            shown_offers.append(
                {"event": name, "data": data | ({"node_ids": node_uuids} if "node_ids" in data else {})}
            )
    return [
        *shown_offers,
        *_replacement_offers(persona, {settled_id for settled_id, name in settled if name == REPLACED}),
    ]


def _replacement_offers(persona: Persona, settled: set[str]) -> list[dict[str, Any]]:
    """Memories by which a model recently superseded older ones, as long as they still do."""
    replaced_events = OutboxEvent.objects.filter(
        stream=persona.uuid, name=REPLACED, data__change="superseded"
    ).order_by("-id")
    newer = [
        newer_uuid
        for newer_uuid in replaced_events.values_list("data__superseded_by", flat=True)[:MAX_EVENTS]
        if newer_uuid not in settled
    ]
    nodes = ConceptNode.objects.of(persona).filter(uuid__in=newer, source=ConceptNode.Source.EXTRACTION)
    nodes = nodes.filter(status=ConceptNode.Status.ACTIVE, supersedes__status=ConceptNode.Status.SUPERSEDED)
    ids = set(map(str, nodes.values_list("uuid", flat=True)))
    shown_uuids = [uuid for uuid in dict.fromkeys(newer) if uuid in ids][:MAX_REPLACED]
    return [
        {"event": REPLACED, "data": {"turn_id": uuid, "superseded_by": uuid, "change": "superseded"}}
        for uuid in reversed(shown_uuids)
    ]


def offer_of(persona: Persona, turn_uuid: UUID, name: str) -> dict[str, Any] | None:
    """The data of a turn's open offer."""
    offers = (open_offer["data"] for open_offer in open_offers(persona) if open_offer["event"] == name)
    return next((data for data in offers if data["turn_id"] == str(turn_uuid)), None)


def accept(persona: Persona, turn_uuid: UUID, now: datetime) -> bool:
    """Carry out a possible wish or request to remember, now that the owner said yes.

    No transaction may be open. Raises NotRemembered and EmbeddingUnavailable.
    """
    data = offer_of(persona, turn_uuid, REQUESTED)
    message = Message.objects.filter(persona=persona, uuid=data["asked_id"]).first() if data else None
    if data is None or message is None:
        return False
    start, end = data["place"]
    if data["kind"] == "remember":
        remember(message, now, Place(start, end))
    else:
        learn(message, [offered_wish(message.content, data)], now)
    return settle(persona, turn_uuid, REQUESTED)


def offered_wish(content: str, data: dict[str, Any]) -> Wish:
    """The wish in a message, from the data of its offer."""
    start, end = data["place"]
    condition = content[slice(*data["condition_place"])] if data["condition_place"] else ""
    scope = "name" if data["kind"] == "name" else data["condition_kind"] if condition else "always"
    return Wish(content[start:end], scope, condition, data["is_boundary"], start, end)


def publish_once(turn: Turn, name: str, **data: object) -> bool:
    """Publish the event of a turn, unless that was done already. Call it in the transaction of the change it reports,
    if any."""
    stream, turn_id = turn.persona.uuid, str(turn.uuid)
    with transaction.atomic():
        if OutboxEvent.objects.filter(stream=stream, name=name, data__turn_id=turn_id).exists():
            return False
        events.publish(stream, name, turn_id=turn_id, **data)
    return True


def messages_before(message: Message) -> list[Message]:
    """The last messages before it in its session, newest first."""
    return _newest_before(message.session_id, message.created_at, message.pk)


def find_target(message: Message, request: Request) -> Message | None:
    """The message that "forget that" means: the user's message before, unless it is a question, or the message
    itself."""
    if not request.points_back:
        return message
    owner_messages = Message.objects.filter(session=message.session_id, role=Message.Role.USER, withheld=False).before(
        message
    )
    last = owner_messages.select_related("persona", "session").order_by("-created_at", "-id").first()
    return last if last and not is_question(last.content) else None


def _recalled_before(turn: Turn, message: Message) -> list[UUID]:
    """The memories recalled for the last reply before the message, as far as they are still recallable."""
    replies = Message.objects.filter(session=message.session_id, role=Message.Role.PERSONA).before(message)
    last = replies.exclude(turn=None).select_related("turn").order_by("-created_at", "-id").first()
    recollections = (last.turn.xray if last and last.turn else {}).get("recollections") or {}
    chosen_ids = [item["id"] for item in recollections.get("chosen", []) if item["layer"] != "L2"]
    recalled_nodes = ConceptNode.objects.filter(persona=turn.persona_id, uuid__in=chosen_ids).recallable()
    return list(recalled_nodes.order_by("id").values_list("uuid", flat=True))
