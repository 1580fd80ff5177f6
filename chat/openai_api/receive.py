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
    """The turn that answers a request, and the text before its reply: what the page shows beside a message."""

    turn: Turn
    beside: str


def receive(persona: Persona, asked: CompletionRequest, key: str, now: datetime) -> ReceivedTurn:
    """The turn that answers the request: a new one, or that of the same request before, retried if it failed. `key` is
    the client's Idempotency-Key, or "". Raises CompletionRefused."""
    speak_of_crisis(asked.lines)  # here, where nobody waits for it: what was heard lately is not heard anew
    with transaction.atomic():  # it takes the write lock: the same request sent twice at once is told here
        said = _messages_of_repeat(persona, asked, key, now)
        if not said:
            said = [] if key else _unanswered(persona, asked, now)
            for number, line in enumerate(asked.lines[len(said) :], start=len(said)):
                client_id = _client_id(persona, key, number)
                said.append(messages.receive_message(persona, line, client_id, CHANNEL, now).message)
        turn = said[-1].turn
        if turn is None:
            raise CompletionRefused(400, "idempotency_key_spent", "What this key was used for is gone.", final=True)
        if turn.status == Turn.Status.FAILED:
            turns.retry(persona, turn.uuid)
        # What a page shows beside these messages: that the persona is an AI, and help after a crisis message. As a
        # quotation, to tell it from the persona's words.
        events = [messages.as_event(message) for message in said]
        texts = [text for event in events for text in event.get("care", {}).get("texts", [])]
        if any(event.get("ai_notice") for event in events):
            with translation.override("zh-hans" if persona.language == "zh" else "en"):
                notice = _("%(name)s is an AI, a computer program. It has no feelings of its own.")
                texts.insert(0, notice % {"name": persona.name})
        quoted = ["\n".join(f"> {line}".rstrip() for line in text.splitlines()) for text in dict.fromkeys(texts)]
        return ReceivedTurn(turn, "".join(f"{text}\n\n" for text in quoted))


def _unanswered(persona: Persona, asked: CompletionRequest, now: datetime) -> list[Message]:
    """Stored messages that the request repeats at its beginning, because the reply to them failed or the client left
    before it came."""
    there: list[Message] = []
    for turn in _recent_turns(persona, now):
        said = _messages_of(turn)
        if _is_heard(said, asked):
            break
        there = _of_the_user(said) + there
    told = [message.content for message in there]
    most = min(len(told), len(asked.lines))
    count = next((count for count in range(most, 0, -1) if tuple(told[-count:]) == asked.lines[:count]), 0)
    return there[len(there) - count :]


def _messages_of_repeat(persona: Persona, asked: CompletionRequest, key: str, now: datetime) -> list[Message]:
    """The messages of this very request, if it was made before."""
    if key:
        ids = [_client_id(persona, key, number) for number in range(len(asked.lines) + 1)]
        stored = Message.objects.filter(persona=persona, client_id__in=ids).order_by("id")
        said = list(stored.select_related("turn", "session", "persona"))
        if said and tuple(message.content for message in said) != asked.lines:
            message = "This Idempotency-Key was used for something else."
            raise CompletionRefused(400, "idempotency_key_reused", message, final=True)
        return said
    # Clients ask again when a connection breaks, most of them without a key. It is the same request if the messages are
    # those of a turn that waits, has failed, or ended a moment ago, and the client does not know the reply yet.
    # Everything before the last reply it knows is history, even the same words.
    for turn in _recent_turns(persona, now):
        said = _messages_of(turn)
        if _is_heard(said, asked):
            break
        if run := _run_of(asked.lines, said):
            return run
    # Clients let a person ask for another answer, however late: their history ends just before the newest turn, and its
    # messages come again. The persona's first answer stays.
    turns = list(persona.turns.filter(session__channel=CHANNEL, original=None).order_by("-id")[:2])
    if len(turns) < 2 or not asked.heard.strip():
        return []
    newest, before = (_messages_of(turn) for turn in turns)
    run = _run_of(asked.lines, newest)
    return run if _is_heard(before, asked) and not _is_heard(newest, asked) else []


def quotes_the_session(persona: Persona, asked: CompletionRequest, now: datetime) -> bool:
    """Whether a request without history quotes the last messages: no person does."""
    if asked.heard:
        return False
    talks = ({message.role: message.content for message in _messages_of(turn)} for turn in _recent_turns(persona, now))
    return any(
        errands.quotes(line, talk.get(Message.Role.USER, ""), talk.get(Message.Role.PERSONA, ""))
        for talk in talks
        for line in asked.lines
    )


def _of_the_user(said: list[Message]) -> list[Message]:
    return [message for message in said if message.role == Message.Role.USER]


def _messages_of(turn: Turn) -> list[Message]:
    return list(turn.messages.select_related("turn", "session", "persona").order_by("id"))


def _recent_turns(persona: Persona, now: datetime) -> Sequence[Turn]:
    """Turns that the same request may have begun, newest first; a failed one as long as its session is open."""
    a_moment_ago = now - timedelta(seconds=knobs.same_request_seconds())
    failed = Q(status=Turn.Status.FAILED, session__status=Session.Status.OPEN)
    recent = Q(status__in=[Turn.Status.COLLECTING, Turn.Status.RUNNING]) | Q(finished_at__gte=a_moment_ago) | failed
    return list(persona.turns.filter(recent, session__channel=CHANNEL, original=None).order_by("-id")[:10])


def _run_of(lines: tuple[str, ...], of_both: list[Message]) -> list[Message]:
    """The consecutive user messages with exactly these texts; another request may share their turn."""
    said = _of_the_user(of_both)
    for start in range(len(said) - len(lines) + 1):
        run = said[start : start + len(lines)]
        if tuple(message.content for message in run) == lines:
            return run
    return []


def _is_heard(said: list[Message], asked: CompletionRequest) -> bool:
    """Whether the client has the reply. Text shown beside the message may precede it."""
    replies = [message.content.strip() for message in said if message.role == Message.Role.PERSONA]
    return any(asked.heard.strip().endswith(reply) for reply in replies)


def _client_id(persona: Persona, key: str, number: int) -> UUID | None:
    return uuid5(persona.uuid, f"{number} {key}") if key else None
