"""Prompt sections about the conversation itself: the time, the last messages, and the new ones. They never name a
channel."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter

from django.utils import translation
from django.utils.formats import date_format

from chat import knobs
from chat.care import flags as crises
from chat.care import speaks_by_rule
from chat.models import Message
from chat.prompt.assemble import addressees_of, format_addressees
from echovessel.language.human_dates import note_days
from echovessel.llm.prompts import (
    ContextRequest,
    Neutral,
    Section,
    fence,
    indent_text,
    lines_of,
    one_line,
    render_prompt,
    tokens,
    with_heading,
)
from persona.models import Persona

# Tokens of the label above the messages of a day.
LABEL_TOKENS = 12
COLONS = {"en": ": ", "zh": "："}
Label = tuple[str, Neutral]


def right_now(request: ContextRequest) -> Section:
    """Date, weekday and time in the owner's zone."""
    persona: Persona = request.persona
    local = request.now.astimezone(persona.zone)
    with translation.override("zh-hans" if persona.language == "zh" else "en"):
        local_time = f"{date_format(local, 'DATE_FORMAT')}, {date_format(local, 'l')}, {local:%H:%M}"
    return Section("right_now", "system", with_heading(persona.language, "right_now", local_time))


def crisis(request: ContextRequest) -> Section | None:
    """How to answer an owner who speaks of a crisis, or did so lately; left out otherwise.

    The x-ray calls it guidance: after the message is forgotten, the rest must not reveal what it was about.
    """
    persona: Persona = request.persona
    session = request.burst[0].session_id if request.burst else None
    # The owner's last messages of the current session, and the new ones.
    owner_messages = [message for message in request.window if message.role == Message.Role.USER]
    before = [message for message in owner_messages if message.session_id == session]
    crisis_messages = crises.crisis_messages_of(
        [*before, *request.burst][-max(knobs.care_lines(), len(request.burst)) :]
    )
    is_now = bool(crisis_messages)
    if not is_now:
        crisis_messages = crises.recent_crisis_messages(persona, request.now, session)
    if not crisis_messages:
        return None
    text = render_prompt("crisis_guidance", persona.language, user_name=persona.user_display_name, now=is_now)
    xray = {"when": "now" if is_now else "lately", "messages": [str(message.uuid) for message in crisis_messages]}
    new_keys = {message.pk for message in request.burst}
    new_texts = [message.content for message in crisis_messages if message.pk in new_keys]
    certainty = "plain" if any(map(speaks_by_rule, new_texts)) else "doubtful" if new_texts else "lately"
    material = {"crisis": certainty} if is_now else {}
    return Section("guidance", "system", with_heading(persona.language, "crisis", text), xray, material)


def recent_conversation(request: ContextRequest) -> Section | None:
    """The window of the last messages, labelled with their days; the oldest are dropped if the budget is short."""
    persona: Persona = request.persona
    addressees = {
        session: format_addressees(names, persona.language) for session, names in addressees_of(request.window).items()
    }
    budget = request.budget - tokens(_format_window(persona, [], {})) - 16
    newest_first: list[tuple[Label, Message]] = []
    for message in reversed(request.window):
        label = _label(persona, message, request.now)
        budget -= message.token_count + message.content.count("\n") + 6
        if not newest_first or label != newest_first[-1][0]:
            budget -= LABEL_TOKENS
        if message.role == Message.Role.USER and message.session_id in addressees:
            budget -= tokens(addressees[message.session_id])
        if budget < 0:
            break
        newest_first.append((label, message))
    if not newest_first:
        return None
    messages = newest_first[::-1]
    material = {
        "recent": [
            {"role": message.role, "content": message.content, "at": message.created_at.isoformat()}
            for _, message in messages
        ]
    }
    text = with_heading(persona.language, "recent", _format_window(persona, messages, addressees))
    return Section(
        "recent_conversation", "user", text, {"messages": [str(message.uuid) for _, message in messages]}, material
    )


def what_they_just_said(request: ContextRequest) -> Section:
    """The new messages, once and never cut."""
    persona: Persona = request.persona
    burst_texts = [message.content for message in request.burst]
    # Only the owner speaks here: a message that begins with a name and a colon is marked as the owner's.
    names = one_line(persona.name), one_line(persona.user_display_name)
    beginnings = tuple(f"{name}{colon}".casefold() for name in names for colon in ":：∶")
    texts = [indent_text(text) for text in burst_texts]
    burst_text = Neutral(
        "\n".join(f"{names[1]}: {text}" if text.lstrip().casefold().startswith(beginnings) else text for text in texts)
    )
    text = with_heading(persona.language, "burst", fence("said", burst_text))
    is_off_the_record = bool(request.burst) and request.burst[0].session.off_the_record
    material = {"lines": burst_texts, "off_the_record": is_off_the_record}
    return Section("what_they_just_said", "user", text, material=material)


def bucket_of(at: datetime, now: datetime) -> str:
    """The part of the past that a moment belongs to; both times in the owner's zone.

    The difference is computed in UTC: times of one zone are subtracted by wall clock, which jumps twice a year.
    """
    if now.astimezone(UTC) - at.astimezone(UTC) < timedelta(minutes=30):
        return "just_now"
    days = (now.date() - at.date()).days
    if days <= 0:
        return "earlier_today"
    if days == 1:
        return "yesterday"
    return "this_week" if days < 7 else "older"


def _format_window(persona: Persona, messages: Iterable[tuple[Label, Message]], to: Mapping[int, Neutral]) -> str:
    owner, name, colon = one_line(persona.user_display_name), one_line(persona.name), COLONS[persona.language]

    def format_message(message: Message) -> Neutral:
        speaker = owner + to.get(message.session_id, "") if message.role == Message.Role.USER else name
        return Neutral(f"{speaker}{colon}{indent_text(message.content)}")

    # Joined here: a loop of the template takes four times as long.
    buckets = [
        (*label, lines_of(format_message(message) for _, message in group))
        for label, group in groupby(messages, itemgetter(0))
    ]
    return render_prompt("recent", persona.language, buckets=buckets)


def _label(persona: Persona, message: Message, now: datetime) -> Label:
    """The label above the messages of one day: the bucket and, unless it is today, the day and how long ago it was."""
    written_at, local = message.created_at.astimezone(persona.zone), now.astimezone(persona.zone)
    day, today = written_at.date(), local.date()
    if day >= today:
        return bucket_of(written_at, local), Neutral("")
    return bucket_of(written_at, local), Neutral(note_days(day, day, today, persona.language)[1:-1])
