"""Requests that a model found in a session: checked against the messages, then compared with the rules' findings.

A wish that both find becomes a lesson. A request that only a model finds is offered to the owner, who accepts or
declines: a model's mistake neither puts text into a prompt nor loses a memory. An unsure request of the rules that a
model was asked about and did not find is no longer offered.
"""

from collections.abc import Sequence
from datetime import datetime

from chat.models import Message, Session
from echovessel.language.requests import ALWAYS, Request, RequestKind, read_requests
from echovessel.language.requests.clauses import is_own_voice, prepare
from echovessel.language.requests.possible import condition_of, is_boundary
from memory.consolidation.answer_schema import ExtractedRequest, ExtractionAnswer, stored
from memory.consolidation.evidence import find
from memory.consolidation.prompt import message_id
from memory.curation.lessons import learn, wish_of
from memory.models import Extraction
from memory.requests import offer
from memory.requests.corrections import find_contradicted
from memory.store.writing import is_native_message

MAX_REQUESTS = 12  # of one answer
MAX_QUOTE = 400  # characters
OFFERS = {
    RequestKind.FORGET: offer.ASKED,
    RequestKind.FORGET_THIS: offer.ASKED,
    RequestKind.WISH: offer.REQUESTED,
    RequestKind.NAME: offer.REQUESTED,
    RequestKind.REMEMBER: offer.REQUESTED,
}


def check(requests: Sequence[ExtractedRequest], session: Session, message_ids: Sequence[int]) -> list[ExtractedRequest]:
    """The requests that the owner made in their own voice in one of the messages `message_ids`, each once. The quote
    must be in the message, `what` and `condition` in the quote. Quotations, pasted mail, code, stories and hostile text
    request nothing."""
    requests_by_place: dict[tuple[int, int, str], ExtractedRequest] = {}
    messages = {message.pk: message for message in _of_owner(session, message_ids)}
    for request in requests:
        message = messages.get(message_id(request.message_id) or 0)
        if message is None or len(request.quote) > MAX_QUOTE or (span := find(request.quote, message.content)) is None:
            continue
        parts = [find(part, span.text) for part in (request.what, request.condition) if part]
        if None not in parts and is_own_voice(prepare(message.content), span.start, span.end):
            requests_by_place.setdefault((message.pk, span.start, request.kind), request)
    return list(requests_by_place.values())[:MAX_REQUESTS]


def act(session: Session, extraction: Extraction, now: datetime) -> None:
    """Carry out or offer the requests in the messages that this answer read first. A repeat has no further effect.

    No transaction may be open. Raises EmbeddingUnavailable.
    """
    answer, after = stored(extraction.answer), extraction.after()
    if answer.requests is None:
        return
    for message in _of_owner(session):
        if message.turn is None or not after < message.pk <= extraction.through:
            continue
        by_rules = read_requests(message.content)
        model_requests = [
            _request(model_request, message)
            for model_request in answer.requests
            if message_id(model_request.message_id) == message.pk
        ]
        for request in model_requests:
            same = [
                rule_request
                for rule_request in by_rules
                if _family(rule_request) == _family(request) and _overlap(rule_request, request)
            ]
            if not any(rule_request.sure for rule_request in same):
                _act(message, request, bool(same), answer, now)
        for by_rule in by_rules:
            if (
                not by_rule.sure
                and by_rule.kind in OFFERS
                and not any(_overlap(by_rule, request) for request in model_requests)
            ):
                offer.settle(session.persona, message.turn.uuid, OFFERS[by_rule.kind])


def _of_owner(session: Session, keys: Sequence[int] | None = None) -> list[Message]:
    messages = session.messages.shown_to_models().filter(role=Message.Role.USER)
    owner_messages = messages if keys is None else messages.filter(pk__in=keys)
    return [
        message
        for message in owner_messages.select_related("turn__persona", "persona", "session").order_by("id")
        if is_native_message(message)
    ]


def _request(extracted: ExtractedRequest, message: Message) -> Request:
    """The model's request in the form of the rules. Its words were checked."""
    span = find(extracted.quote, message.content)
    assert span is not None
    what = find(extracted.what, span.text) if extracted.what else None
    kind = RequestKind(extracted.kind)
    if kind is RequestKind.FORGET and what is None:
        kind = RequestKind.FORGET_THIS
    words = find(extracted.condition, span.text) if extracted.condition else None
    return Request(
        kind,
        span.start,
        span.end,
        what.text if what else "",
        new=what.text if what else "",
        condition=condition_of(words.text) if words else ALWAYS,
        sure=False,
        subject_start=span.start + what.start if what else -1,
        is_boundary=kind is RequestKind.WISH and is_boundary(span.text),
    )


def _act(message: Message, request: Request, is_confirmed: bool, answer: ExtractionAnswer, now: datetime) -> None:
    turn, persona = message.turn, message.persona
    assert turn is not None
    # Whether the model itself corrected a memory because of this message.
    is_corrected = any(
        event.supersedes and any(message_id(citation.message_id) == message.pk for citation in event.evidence)
        for event in answer.events
    )
    match request.kind:
        case RequestKind.WISH | RequestKind.NAME if is_confirmed:
            if not offer.is_settled(persona, turn.uuid, offer.REQUESTED):
                learn(message, [wish_of(message.content, request)], now)
                offer.settle(persona, turn.uuid, offer.REQUESTED)
        case RequestKind.WISH | RequestKind.NAME | RequestKind.REMEMBER:
            offer.offer_to_confirm(turn, message, request)
        case RequestKind.FORGET:
            offer.offer_to_forget(turn, message, offer.place_of(request), sure=False)
        case RequestKind.FORGET_THIS:
            offer.offer_to_forget_this(turn, message, request)
        case RequestKind.CORRECTION if not is_corrected:
            offer.offer_correction(
                turn, message, request, find_contradicted(persona, request, offer.messages_before(message))
            )
        case _:
            pass


def _family(request: Request) -> str:
    if request.kind in (RequestKind.WISH, RequestKind.NAME):
        return "wish"
    return "forget" if request.kind is RequestKind.FORGET_THIS else request.kind.value


def _overlap(first: Request, other: Request) -> bool:
    return first.start < other.end and other.start < first.end
