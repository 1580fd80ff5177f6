"""The chat page, and the older messages that it loads."""

import datetime as dt
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat import rate_limit
from chat.care import flags
from chat.models import Message, Session, Turn
from chat.models.message import MAX_CHARACTERS, MessageQuerySet
from chat.rendering.markdown import as_html
from chat.socket.consumer import CHANNEL
from chat.turns import greeting as greetings
from chat.turns import runner
from chat.turns import turn as turns
from echovessel import llm
from echovessel.db.public_id import parse_uuid
from echovessel.llm.models import LLMCall, Purpose
from echovessel.outbox import events
from echovessel.process.threads import in_thread
from persona import mood as moods
from persona.lookup import own_persona
from persona.models import Persona

PAGE = 60
OTHER = "other"  # a third person in an imported file


@dataclass(frozen=True)
class ShownMessage:
    """One item of the chat column: a message, a day, the end of a session, or a turn that failed."""

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
    original_uuid: UUID | None = None  # the turn that this one answers again
    replaced_by: UUID | None = None  # the turn that replaced it
    is_set_aside: bool = False  # another version is current
    spoke_first: bool = False
    help: tuple[str, ...] = ()
    ai_notice: bool = False
    memory_mode: bool = False


def chat(request: HttpRequest, persona: UUID) -> HttpResponse:
    """The chat page."""
    own = own_persona(request, persona)
    now = timezone.now()
    runner.abandon_dead(now)
    last_event_id = events.last_id(own.uuid)  # read before the messages: better an event twice than never
    with timezone.override(own.zone):
        page = _page(own, Message.objects.filter(persona=own))
        open_session = own.sessions.open().filter(channel=CHANNEL).first()
        return render(
            request,
            "chat.html",
            {
                "persona": own,
                "personas": Persona.objects.owned_by(request.user),
                "mood": moods.current(own, now),
                "neutral_moods": ",".join(sorted(moods.NEUTRAL_WORDS)),
                "lines": page.lines,
                "older": page.older,
                "last_event_id": last_event_id,
                "open_session": _uuid_of(open_session),
                "off_the_record": open_session is not None and open_session.off_the_record,
                "open_turn": _uuid_of(own.turns.running().first()),
                "offline": (is_offline := llm.provider_name() == "offline"),
                **({} if page.lines else first_minute(own, now, is_offline=is_offline)),
                "max_chars": MAX_CHARACTERS,
            },
        )


async def greeting(request: HttpRequest, persona: UUID) -> HttpResponse:
    """The persona's greeting from a model, for a page without messages; empty if there is none, and the page keeps its
    own."""
    own = await in_thread(own_persona, request, persona)
    is_admitted = request.method == "POST" and rate_limit.admit(own.owner_id, time.monotonic())
    text = await greetings.write(own) if is_admitted else ""
    return HttpResponse(as_html(text) if text else "")


def first_minute(persona: Persona, now: dt.datetime, *, is_offline: bool) -> dict[str, object]:
    """The content of a page without messages, and whether a model may still write a better greeting."""
    blocks = greetings.blocks_of(persona)
    text = persona.greeting or greetings.plain_greeting(persona, blocks.get("style", ""), is_offline=is_offline)
    return {
        "greeting": as_html(text),
        "may_be_greeted": greetings.request_for(persona, blocks) is not None,
        "openers": greetings.openers(persona, blocks, now, is_offline=is_offline),
    }


def history(request: HttpRequest, persona: UUID) -> HttpResponse:
    """A piece of the conversation: messages `before`, `after` or `around` a message, or from a day `on`."""
    own = own_persona(request, persona)
    messages = Message.objects.filter(persona=own)
    with timezone.override(own.zone):
        if "on" in request.GET:
            try:
                day = dt.date.fromisoformat(request.GET["on"])
            except ValueError as error:
                raise Http404 from error
            # The first message of that day; if there is none, the first one after it; else the last one of all.
            of_day = messages.filter(day__gte=day).order_by("created_at", "id").first()
            middle = of_day or messages.order_by("-created_at", "-id").first()
        else:
            ids = [parse_uuid(request.GET.get(name, "")) for name in ("before", "after", "around")]
            middle = get_object_or_404(messages, uuid=next(filter(None, ids), None))
        if middle is None:
            raise Http404
        if "before" in request.GET:
            page = _page(own, messages.before(middle))
        elif "after" in request.GET:
            page = _page(own, messages.after(middle), newest=False)
        else:
            earlier = _page(own, messages.before(middle), size=PAGE // 2)
            later = _page(own, messages.after(middle) | messages.filter(pk=middle.pk), newest=False, size=PAGE // 2)
            page = ShownPage(_join(earlier.lines, later.lines), older=earlier.older, newer=later.newer)
        context = {"persona": own, "lines": page.lines, "older": page.older, "newer": page.newer}
        return render(request, "chat/_lines.html", context | {"focus": middle.uuid})


@dataclass(frozen=True)
class ShownPage:
    """Messages of the conversation, and the messages before or after which there are more, if any."""

    lines: list[ShownMessage]
    older: UUID | None = None
    newer: UUID | None = None


def _page(persona: Persona, messages: MessageQuerySet, *, newest: bool = True, size: int = 0) -> ShownPage:
    size = size or PAGE
    related = messages.select_related("persona", "session", "turn__original", "crisis_flag", "replaced_by")
    related = related.defer("turn__xray", "turn__original__xray", "replaced_by__xray")
    order = ("-created_at", "-id") if newest else ("created_at", "id")
    page = list(related.order_by(*order)[: size + 1])
    page_messages, has_more = page[:size], len(page) > size
    if newest:
        page_messages.reverse()
    with_notice = flags.ids_with_notice(page_messages, is_whole=newest and not has_more)
    # The turns of these messages that were answered without a model, according to the ledger.
    offline_turns: set[UUID | None] = set()
    if page_messages:
        calls = LLMCall.objects.filter(
            owner=persona.owner_id, purpose=Purpose.CHAT, at__gte=page_messages[0].created_at
        )
        of_turns = calls.filter(turn_uuid__in={message.turn.uuid for message in page_messages if message.turn})
        offline_turns = set(of_turns.filter(provider="offline").values_list("turn_uuid", flat=True))
    return ShownPage(
        list(_shown_messages(persona, in_reading_order(page_messages), with_notice, offline_turns)),
        older=page_messages[0].uuid if has_more and newest else None,
        newer=page_messages[-1].uuid if has_more and not newest else None,
    )


def in_reading_order(messages: Sequence[Message]) -> list[Message]:
    """A reply follows the messages that it answers, as it did while it was written; messages that came meanwhile belong
    to the next turn."""
    place_of_turn = {
        message.turn_id: place
        for place, message in enumerate(messages)
        if message.role == Message.Role.USER and message.turn_id
    }

    def place_of(numbered: tuple[int, Message]) -> tuple[int, int]:
        place, message = numbered
        if message.role != Message.Role.PERSONA or message.turn is None:
            return place, place
        return place_of_turn.get(message.turn.original_id or message.turn.pk, place), place

    return [message for _place, message in sorted(enumerate(messages), key=place_of)]


def _join(earlier: list[ShownMessage], later: list[ShownMessage]) -> list[ShownMessage]:
    """Join two pieces; a day that continues is shown once."""
    days = [message.date for message in earlier if message.kind == "day"]
    goes_on = bool(days and later) and later[0].kind == "day" and later[0].date == days[-1]
    return [*earlier, *(later[1:] if goes_on else later)]


def _shown_messages(
    persona: Persona, messages: list[Message], with_ai_notice: Collection[int], offline_turns: Collection[UUID | None]
) -> Iterable[ShownMessage]:
    day = None
    versions = {
        _answered_turn(message)
        for message in messages
        if message.replaced_by_id or (message.role == Message.Role.PERSONA and not message.withheld)
    }
    for message, following in zip_longest(messages, messages[1:]):
        if day is None or message.day > day:
            day = message.day
            days_ago = (timezone.now().astimezone(persona.zone).date() - day).days
            near = {0: _("Today"), 1: _("Yesterday")}
            yield ShownMessage("day", label=near.get(days_ago) or date_format(day, "DATE_FORMAT"), date=day)
        turn = message.turn
        is_offline = turn is not None and turn.uuid in offline_turns
        is_set_aside = message.withheld and turn is not None and _answered_turn(message) in versions
        yield _shown_message(
            message,
            ai_notice=message.pk in with_ai_notice,
            memory_mode=is_offline,
            is_set_aside=is_set_aside and (message.role == Message.Role.PERSONA or message.replaced_by_id is not None),
        )
        ends_turn = following is None or following.turn_id != message.turn_id
        is_unanswered = message.role == Message.Role.USER and not message.withheld and ends_turn
        was_stopped = is_unanswered and turn is not None and turn.status == Turn.Status.STOPPED
        if turn is not None and ends_turn and (turn.status == Turn.Status.FAILED or was_stopped):
            yield ShownMessage(
                "failed_turn",
                turn_uuid=turn.uuid,
                message=_("You stopped this reply before its first word.")
                if was_stopped
                else turns.words_for(turn.error, persona.language),
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


def _answered_turn(message: Message) -> int | None:
    return (message.turn.original_id or message.turn.pk) if message.turn else None


def _shown_message(message: Message, *, ai_notice: bool, memory_mode: bool, is_set_aside: bool) -> ShownMessage:
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
        original_uuid=message.turn.original.uuid if message.turn and message.turn.original else None,
        replaced_by=message.replaced_by.uuid if message.replaced_by else None,
        is_set_aside=is_set_aside,
        help=flags.help_of_message(message),
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
        Session.WaitingFor.BUDGET: _("remembering later: today's budget is used up; it continues tomorrow"),
    }
    if session.waiting_for:
        return f"{_('Conversation ended')} · {waiting[session.waiting_for]}"
    return _("Conversation ended · remembering…")


def _uuid_of(row: Session | Turn | None) -> UUID | None:
    return row.uuid if row else None
