"""Requests that a model heard in the messages of a session: checked against the messages before anything is done."""

from collections.abc import Sequence

from chat.models import Session
from echovessel.language.requests.clauses import is_own_voice, prepare
from memory.consolidation.answer_schema import ExtractedRequest
from memory.consolidation.evidence import find
from memory.consolidation.prompt import message_id
from memory.store.writing import is_native_message

MAX_REQUESTS = 12  # of one answer
MAX_QUOTE = 400  # characters


def check(requests: Sequence[ExtractedRequest], session: Session, shown: Sequence[int]) -> list[ExtractedRequest]:
    """Those that the owner made in their own voice in one of the messages `shown`, each once: the quote stands there,
    and `what` and the condition in the quote. A quotation, pasted mail, code, a story and what is hostile ask nothing.
    """
    messages = {
        one.pk: one for one in session.messages.shown_to_models().filter(pk__in=shown) if is_native_message(one)
    }
    kept: dict[tuple[int, int, str], ExtractedRequest] = {}
    for request in requests:
        message = messages.get(message_id(request.message_id) or 0)
        if message is None or len(request.quote) > MAX_QUOTE or (span := find(request.quote, message.content)) is None:
            continue
        parts = [find(part, span.text) for part in (request.what, request.condition) if part]
        if None not in parts and is_own_voice(prepare(message.content), span.start, span.end):
            kept.setdefault((message.pk, span.start, request.kind), request)
    return list(kept.values())[:MAX_REQUESTS]
