"""Check the days of an answer against the days that its quotes name. Pure.

A model computes "Wednesday week" from a message's date and sometimes errs; code does not. If the quotes name one day
and the model gives none of their possible days, the named day replaces it. If the model omits the day of a plan, or of
an event "yesterday", it is added.
"""

from collections.abc import Mapping
from datetime import date

from echovessel.language.coarse_dates import span_of
from echovessel.language.dates import Days
from echovessel.language.named_days import Mention, named_days, only_day
from memory.consolidation.answer_schema import Cited, EventTime, ExtractedEvent, ExtractedFact, ExtractionAnswer
from memory.consolidation.evidence import find
from memory.consolidation.fact_checks import SaidMessage
from memory.consolidation.prompt import message_id

BEFORE_OR_TO_COME = 2


def with_named_days(
    answer: ExtractionAnswer, messages_by_id: Mapping[int, SaidMessage]
) -> tuple[ExtractionAnswer, int]:
    """The answer with the days that its quotes name, and the number of wrong days."""
    mistakes = 0
    events: list[ExtractedEvent] = []
    for event in answer.events:
        mentions, told_on = _mentions(event.evidence, messages_by_id)
        days = Days(event.event_time.start, event.event_time.end) if event.event_time else None
        named_day = only_day(mentions)
        day = _right_day(days, mentions, named_day if days or (named_day and named_day <= told_on) else None)
        mistakes += bool(day and days)
        events.append(event.model_copy(update={"event_time": EventTime(start=day, end=day)}) if day else event)
    facts: list[ExtractedFact] = []
    for fact in answer.facts:
        if fact.state is None:
            facts.append(fact)
            continue
        mentions, told_on = _mentions(fact.evidence, messages_by_id)
        days = span_of(fact.since or fact.until) if fact.since or fact.until else None
        is_single = not (fact.since and fact.until) or fact.since == fact.until
        day = None
        if is_single and fact.state == "planned":
            day = _right_day(days, mentions, only_day(mentions, first=told_on))
        mistakes += bool(day and days)
        facts.append(fact.model_copy(update=dict.fromkeys(("since", "until"), day.isoformat())) if day else fact)
    return answer.model_copy(update={"events": events, "facts": facts}), mistakes


def _mentions(citations: list[Cited], messages_by_id: Mapping[int, SaidMessage]) -> tuple[list[Mention], date]:
    """The days that the quotes may mean, and the day of the last quoted message."""
    quoted = [
        (span.text, message)
        for citation in citations
        if (message := messages_by_id.get(message_id(citation.message_id) or 0))
        and (span := find(citation.quote, message.content))
    ]
    mentions = [days for text, message in quoted for days in named_days(text, message.day)]
    return mentions, max((message.day for _, message in quoted), default=date.max)


def _right_day(written_days: Days | None, mentions: list[Mention], day: date | None) -> date | None:
    """The named day if it replaces the written one; None if that may stay. A less exact range contains the day it
    means."""
    if day is None:
        return None
    if written_days is None or (
        written_days.start < written_days.end and written_days.start <= day <= written_days.end
    ):
        return day
    surely = (days for days in mentions if len(days) <= BEFORE_OR_TO_COME)
    may_stay = written_days.start < written_days.end or any(written_days.start in days for days in surely)
    return None if may_stay else day
