"""Store the new messages of a request, once however often the request comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import Q
from django.utils import translation
from django.utils.translation import gettext as _

from chat import knobs, messages
from chat.api import CHANNEL
from chat.care import speak_of_crisis
from chat.models import Message, Session, Turn
from chat.openai_api import errands
from chat.openai_api.errors import CompletionRefused
from chat.openai_api.requests import CompletionRequest
from chat.turns import turn as turns
from persona.models import Persona


@dataclass(frozen=True)
class ReceivedTurn:
    """The turn that answers a request; `preface` precedes the reply: the notices that a page shows beside a message."""

    turn: Turn
    preface: str


def receive(persona: Persona, completion: CompletionRequest, key: str, now: datetime) -> ReceivedTurn:
    """The turn that answers the request: a new one, or that of the same request before, retried if it failed. `key` is
    the client's Idempotency-Key, or "". Raises CompletionRefused."""
    speak_of_crisis(completion.lines)  # here, where nobody waits for it: the scores of recent texts are cached
    with (
        transaction.atomic()
    ):  # it takes the write lock: of two equal requests the second finds the messages of the first
        stored_messages = _messages_of_repeat(persona, completion, key, now)
        if not stored_messages:
            stored_messages = [] if key else _unanswered(persona, completion, now)
            for number, message_text in enumerate(completion.lines[len(stored_messages) :], start=len(stored_messages)):
                client_id = _client_id(persona, key, number)
                stored_messages.append(messages.receive_message(persona, message_text, client_id, CHANNEL, now).message)
        turn = stored_messages[-1].turn
        if turn is None:
            raise CompletionRefused(400, "idempotency_key_spent", "What this key was used for is gone.", final=True)
        if turn.status == Turn.Status.FAILED:
            turns.retry(persona, turn.uuid)
        # The notice that the persona is an AI, and help after a crisis message. Quoted, to distinguish them from the
        # persona's words.
        events = [messages.as_event(message) for message in stored_messages]
        texts = [text for event in events for text in event.get("care", {}).get("texts", [])]
        if any(event.get("ai_notice") for event in events):
            with translation.override("zh-hans" if persona.language == "zh" else "en"):
                notice = _("%(name)s is an AI, a computer program. It has no feelings of its own.")
                texts.insert(0, notice % {"name": persona.name})
        quotations = [
            "\n".join(f"> {quoted_line}".rstrip() for quoted_line in text.splitlines()) for text in dict.fromkeys(texts)
        ]
        return ReceivedTurn(turn, "".join(f"{text}\n\n" for text in quotations))


def _unanswered(persona: Persona, completion: CompletionRequest, now: datetime) -> list[Message]:
    """Stored messages without a reply that the request repeats at its beginning: the reply failed, or the client left
    before it came."""
    messages_left: list[Message] = []
    for turn in _recent_turns(persona, now):
        messages = _messages_of(turn)
        if _has_reply(messages, completion):
            break
        messages_left = _of_the_user(messages) + messages_left
    contents = [message.content for message in messages_left]
    limit = min(len(contents), len(completion.lines))
    count = next((count for count in range(limit, 0, -1) if tuple(contents[-count:]) == completion.lines[:count]), 0)
    return messages_left[len(messages_left) - count :]


def _messages_of_repeat(persona: Persona, completion: CompletionRequest, key: str, now: datetime) -> list[Message]:
    """The messages of this very request, if it was made before."""
    if key:
        ids = [_client_id(persona, key, number) for number in range(len(completion.lines) + 1)]
        stored_rows = Message.objects.filter(persona=persona, client_id__in=ids).order_by("id")
        stored_messages = list(stored_rows.select_related("turn", "session", "persona"))
        if stored_messages and tuple(message.content for message in stored_messages) != completion.lines:
            message = "This Idempotency-Key was used for something else."
            raise CompletionRefused(400, "idempotency_key_reused", message, final=True)
        return stored_messages
    # Clients ask again when a connection breaks, most of them without a key. It is the same request if the messages are
    # those of a turn that waits, has failed, or ended a moment ago, and the client does not know the reply yet.
    # Everything before the last reply it knows is history, even the same words.
    for turn in _recent_turns(persona, now):
        stored_messages = _messages_of(turn)
        if _has_reply(stored_messages, completion):
            break
        if run := _find_run(completion.lines, stored_messages):
            return run
    # Clients let a person ask for another answer, however late: their history ends just before the newest turn, and its
    # messages come again. The persona's first answer stays.
    turns = list(persona.turns.filter(session__channel=CHANNEL, original=None).order_by("-id")[:2])
    if len(turns) < 2 or not completion.last_reply.strip():
        return []
    newest, before = (_messages_of(turn) for turn in turns)
    run = _find_run(completion.lines, newest)
    return run if _has_reply(before, completion) and not _has_reply(newest, completion) else []


def quotes_the_session(persona: Persona, completion: CompletionRequest, now: datetime) -> bool:
    """Whether a request without history quotes the last messages: no person does."""
    if completion.last_reply:
        return False
    exchanges = (
        {message.role: message.content for message in _messages_of(turn)} for turn in _recent_turns(persona, now)
    )
    return any(
        errands.quotes(text, exchange.get(Message.Role.USER, ""), exchange.get(Message.Role.PERSONA, ""))
        for exchange in exchanges
        for text in completion.lines
    )


def _of_the_user(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.role == Message.Role.USER]


def _messages_of(turn: Turn) -> list[Message]:
    return list(turn.messages.select_related("turn", "session", "persona").order_by("id"))


def _recent_turns(persona: Persona, now: datetime) -> Sequence[Turn]:
    """Turns that the same request may have begun, newest first; a failed one as long as its session is open."""
    a_moment_ago = now - timedelta(seconds=knobs.same_request_seconds())
    failed = Q(status=Turn.Status.FAILED, session__status=Session.Status.OPEN)
    recent = Q(status__in=[Turn.Status.COLLECTING, Turn.Status.RUNNING]) | Q(finished_at__gte=a_moment_ago) | failed
    return list(persona.turns.filter(recent, session__channel=CHANNEL, original=None).order_by("-id")[:10])


def _find_run(texts: tuple[str, ...], turn_messages: list[Message]) -> list[Message]:
    """The consecutive user messages with exactly these texts; another request may share their turn."""
    owner_messages = _of_the_user(turn_messages)
    for start in range(len(owner_messages) - len(texts) + 1):
        run = owner_messages[start : start + len(texts)]
        if tuple(message.content for message in run) == texts:
            return run
    return []


def _has_reply(messages: list[Message], request: CompletionRequest) -> bool:
    """Whether the client has the reply. Text shown beside the message may precede it."""
    replies = [message.content.strip() for message in messages if message.role == Message.Role.PERSONA]
    return any(request.last_reply.strip().endswith(reply) for reply in replies)


def _client_id(persona: Persona, key: str, number: int) -> UUID | None:
    return uuid5(persona.uuid, f"{number} {key}") if key else None
