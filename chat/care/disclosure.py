"""Where the page says that she is an AI: at the user's first line of a talk, and again after every few hours of it.

What laws on companion chatbots ask for is at least every three hours (New York, General Business Law, article 47;
California, SB 243). Where the notice stands follows from the times of the user's lines alone, so that a page says the
same when it is loaded anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Min

from chat import knobs
from chat.models import Message, Session
from chat.models.message import MessageQuerySet


@dataclass(frozen=True)
class Disclosure:
    """When the user said something first, and last, in a talk."""

    first: datetime
    last: datetime


def is_due(at: datetime, before: Disclosure | None) -> bool:
    """Whether the notice stands with a line said `at`, by what the user said in the talk `before`.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> [is_due(noon + timedelta(hours=hours), Said(noon, noon)) for hours in (1, 2.9, 3, 7)]
    [False, False, True, True]
    """
    return before is None or _spans(at - before.first) > _spans(before.last - before.first)


def is_due_in(session: Session, now: datetime) -> bool:
    """Whether it stands with what is about to be said in an open talk. Most lines need no query for it."""
    if session.message_count == 0:
        return True
    if session.message_count > 1 and now - session.started_at < _span():
        return False
    return is_due(now, _said([session], Message.objects.all()).get(session.pk))


def disclosure_ids(messages: Sequence[Message], *, is_whole: bool) -> set[int]:
    """The keys of those of `messages`, oldest first, with which the notice stands; talks that were imported have none.
    What was said in the same talks before is looked up unless they are whole."""
    lines = [line for line in messages if line.role == Message.Role.USER and line.session.import_uuid is None]
    said = {} if is_whole or not lines else _said({line.session for line in lines}, Message.objects.before(lines[0]))
    found = set()
    for line in lines:
        before = said.get(line.session_id)
        if is_due(line.created_at, before):
            found.add(line.pk)
        said[line.session_id] = Disclosure(before.first if before else line.created_at, line.created_at)
    return found


def _said(sessions: Iterable[Session], among: MessageQuerySet) -> dict[int, Disclosure]:
    theirs = among.filter(session__in=sessions, role=Message.Role.USER).order_by().values_list("session")
    found = theirs.annotate(Min("created_at"), Max("created_at"))
    return {session: Disclosure(first, last) for session, first, last in found}


def _spans(length: timedelta) -> int:
    return length // _span()


def _span() -> timedelta:
    return timedelta(hours=knobs.ai_notice_hours())
