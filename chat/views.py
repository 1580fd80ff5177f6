"""The chat page, and the older lines it asks for."""

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.care import flags
from chat.models import Message, Session, Turn
from chat.models.message import MAX_CHARACTERS
from chat.rendering.markdown import as_html
from chat.socket.consumer import CHANNEL
from chat.turns import runner
from chat.turns import turn as turns
from echovessel import llm
from echovessel.db.public_id import parse_uuid
from echovessel.llm.models import LLMCall, Purpose
from echovessel.outbox import events
from persona import mood as moods
from persona.lookup import own_persona
from persona.models import Persona

PAGE = 60
OTHER = "other"  # said by somebody who was there, as a file tells


@dataclass(frozen=True)
class ShownMessage:
    """One thing in the chat column: a message, a day, the end of a talk, or a turn that failed."""

    kind: str
    label: str = ""
    date: dt.date | None = None
    uuid: UUID | None = None
    role: str = ""
    speaker: str = ""
    content: str = ""
    html: str = ""
    turn_uuid: UUID | None = None
    client_id: UUID | None = None
    created_at: dt.datetime | None = None
    stopped: bool = False
    cut: bool = False
    summary: str = ""
    message: str = ""
    partial: str = ""
    session_uuid: UUID | None = None
    off_the_record: bool = False
    withheld: bool = False
    spoke_first: bool = False
    help: tuple[str, ...] = ()
    ai_notice: bool = False
    memory_mode: bool = False


def chat(request: HttpRequest, persona: UUID) -> HttpResponse:
    """The page one talks in."""
    found = own_persona(request, persona)
    now = timezone.now()
    runner.abandon_dead(now)
    last_event_id = events.last_id(found.uuid)  # before the lines are read: what comes between is told twice, not never
    with timezone.override(found.zone):
        lines, has_older = _page(found, Message.objects.filter(persona=found))
        open_session = found.sessions.open().filter(channel=CHANNEL).first()
        return render(
            request,
            "chat.html",
            {
                "persona": found,
                "personas": Persona.objects.owned_by(request.user),
                "mood": moods.current(found, now),
                "lines": lines,
                "has_older": has_older,
                "last_event_id": last_event_id,
                "open_session": _uuid_of(open_session),
                "off_the_record": open_session is not None and open_session.off_the_record,
                "open_turn": _uuid_of(found.turns.running().first()),
                "offline": llm.provider_name() == "offline",
                "max_chars": MAX_CHARACTERS,
            },
        )


def history(request: HttpRequest, persona: UUID) -> HttpResponse:
    """The lines before a message, as a fragment of the page."""
    found = own_persona(request, persona)
    first = get_object_or_404(Message, persona=found, uuid=parse_uuid(request.GET.get("before", "")))
    with timezone.override(found.zone):
        lines, has_older = _page(found, Message.objects.filter(persona=found).before(first))
        return render(request, "chat/_lines.html", {"persona": found, "lines": lines, "has_older": has_older})


def _page(persona: Persona, messages: Any) -> tuple[list[ShownMessage], bool]:
    related = messages.select_related("persona", "session", "turn", "crisis_flag")
    newest = list(related.order_by("-created_at", "-id")[: PAGE + 1])
    shown, has_older = newest[:PAGE][::-1], len(newest) > PAGE
    with_notice = flags.ids_with_notice(shown, is_whole=not has_older)
    # The turns of these messages that were answered without a model, by the ledger.
    offline_turns: set[UUID | None] = set()
    if shown:
        calls = LLMCall.objects.filter(owner=persona.owner_id, purpose=Purpose.CHAT, at__gte=shown[0].created_at)
        of_turns = calls.filter(turn_uuid__in={message.turn.uuid for message in shown if message.turn})
        offline_turns = set(of_turns.filter(provider="offline").values_list("turn_uuid", flat=True))
    return list(_lines(persona, shown, with_notice, offline_turns)), has_older


def _lines(
    persona: Persona, messages: list[Message], with_ai_notice: Collection[int], offline_turns: Collection[UUID | None]
) -> Iterable[ShownMessage]:
    day = None
    for message, following in zip_longest(messages, messages[1:]):
        if message.day != day:
            day = message.day
            days_ago = (timezone.now().astimezone(persona.zone).date() - day).days
            near = {0: _("Today"), 1: _("Yesterday")}
            yield ShownMessage("day", label=near.get(days_ago) or date_format(day, "DATE_FORMAT"), date=day)
        turn = message.turn
        is_offline = turn is not None and turn.uuid in offline_turns
        yield _message_line(message, ai_notice=message.pk in with_ai_notice, memory_mode=is_offline)
        ends_turn = following is None or following.turn_id != message.turn_id
        if turn is not None and turn.status == Turn.Status.FAILED and ends_turn:
            yield ShownMessage(
                "failed_turn",
                turn_uuid=turn.uuid,
                message=turns.words_for(turn.error, persona.language),
                partial=turn.partial,
                session_uuid=message.session.uuid,
                off_the_record=message.session.off_the_record,
            )
        ends_session = following is None or following.session_id != message.session_id
        if ends_session and message.session.status != Session.Status.OPEN:
            yield ShownMessage(
                "session_rule",
                label=_rule_label(message.session),
                uuid=message.session.uuid,
                summary=message.session.summary,
                off_the_record=message.session.off_the_record,
            )


def _message_line(message: Message, *, ai_notice: bool, memory_mode: bool) -> ShownMessage:
    is_reply = message.role == Message.Role.PERSONA
    return ShownMessage(
        "message",
        uuid=message.uuid,
        role=OTHER if message.speaker else message.role,
        speaker=message.speaker,
        content=message.content,
        html=as_html(message.content) if is_reply else "",
        turn_uuid=message.turn.uuid if message.turn else None,
        client_id=message.client_id,
        created_at=timezone.localtime(message.created_at),
        stopped=is_reply and message.turn is not None and message.turn.status == Turn.Status.STOPPED,
        cut=is_reply and message.turn is not None and message.turn.is_cut,
        session_uuid=message.session.uuid,
        off_the_record=message.session.off_the_record,
        withheld=message.withheld,
        help=flags.help_beside(message),
        ai_notice=ai_notice,
        memory_mode=memory_mode and is_reply,
        spoke_first=is_reply and message.turn is not None and message.turn.spoke_first,
    )


def _rule_label(session: Session) -> str:
    if session.off_the_record:
        return _("Off the record · being deleted…")
    if session.status == Session.Status.CLOSED:
        return _("Conversation ended")
    if session.status == Session.Status.FAILED:
        return _("Conversation ended · not remembered yet")
    waiting: dict[str, str] = {
        Session.WaitingFor.PROVIDER: _("remembering later: the model cannot be reached"),
        Session.WaitingFor.BUDGET: _("remembering later: today's budget is used up, it goes on tomorrow"),
    }
    if session.waiting_for:
        return f"{_('Conversation ended')} · {waiting[session.waiting_for]}"
    return _("Conversation ended · remembering…")


def _uuid_of(row: Session | Turn | None) -> UUID | None:
    return row.uuid if row else None
