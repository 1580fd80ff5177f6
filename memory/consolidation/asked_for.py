"""Requests are no events: "forget that I smoke" does not state that the owner smokes. Pure.

Requests to forget, wishes and names are acted on elsewhere. Requests to remember, corrections and answers do state
something, and are read like any other message.
"""

from collections.abc import Sequence

from echovessel.language.requests import Request, RequestKind, read_requests
from memory.consolidation.answer_schema import ExtractedItem, ExtractionAnswer, OpenLoop
from memory.consolidation.evidence import find
from memory.consolidation.messages import PromptMessage

TELL_NOTHING = (RequestKind.FORGET, RequestKind.FORGET_THIS, RequestKind.WISH, RequestKind.NAME)


def told_beside_requests(content: str) -> str:
    """The message without the requests that state nothing.

    >>> told_beside_requests("I moved to Porto. Call me Sam.")
    'I moved to Porto. '
    """
    for request in reversed(_requests(content)):
        content = content[: request.start] + content[request.end :].lstrip(" .!。！")
    return content


def without_requests(answer: ExtractionAnswer, messages: Sequence[PromptMessage]) -> tuple[ExtractionAnswer, int]:
    """The answer without the events and facts that rest only on requests, and the number left out. Requests are those
    that the rules find, and the checked wishes and names of the answer."""
    asking = {
        f"m{message.id}": (message.content, _requests(message.content)) for message in messages if message.by_user
    }
    for request in answer.requests or ():
        content, requests = asking.get(request.message_id, ("", []))
        if request.kind in (RequestKind.WISH, RequestKind.NAME) and (span := find(request.quote, content)):
            requests.append(Request(RequestKind(request.kind), span.start, span.end, span.text, sure=False))

    def tells_something(item: ExtractedItem) -> bool:
        if isinstance(item, OpenLoop) or not item.evidence:
            return True
        for citation in item.evidence:
            content, requests = asking.get(citation.message_id, ("", []))
            start = content.find(citation.quote.strip())
            end = start + len(citation.quote.strip().rstrip(".!?。！？"))
            if start < 0 or not any(request.start <= start and end <= request.end for request in requests):
                return True
        return False

    remaining = answer.only(tells_something)
    return remaining, len(answer.items) - len(remaining.items)


def _requests(content: str) -> list[Request]:
    return [request for request in read_requests(content) if request.kind in TELL_NOTHING and request.sure]
