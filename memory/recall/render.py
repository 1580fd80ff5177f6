"""Recalled items as the prompt shows them: nodes with their dates, messages quoted with their speaker.

    - [on 2023-04-09] Ana adopted a cat.         an event with a known date
    - [2023-04-09] Ana adopted a cat.            one of which only the day it was mentioned is known
    - [March–May 2023] Ana lived in Lyon.        one that is known to the month

The exact date answers "when?" and resolves the "yesterday" of a quotation. Its age in words is for people
(`humanize_node_age`): shown in every item it cost LoCoMo 0.006 of its evidence. Lasting facts have no date, unless
their words need one to be understood. Dates are in the owner's time zone.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from django.conf import settings

from chat.models import Message
from echovessel.language.coarse_dates import humanize_coarse_date, span_of
from echovessel.language.dates import is_relative
from echovessel.language.human_dates import Basis, humanize_distance, stamp_days, write_days
from echovessel.language.small_talk import Gist
from echovessel.llm.prompts import one_line, shorten, tokens
from memory.models import ConceptNode
from memory.models.node import L3
from persona.models import Persona

# A longer message is cut, because the budget is fixed; its full text can be looked up.
MAX_MESSAGE_TOKENS = 250
NEXT_LINE = "\n  "
_stamp_days = lru_cache(maxsize=4_096)(stamp_days)
Kind = ConceptNode.Kind
# Memories of other kinds are shown without a date.
DATED = (Kind.EVENT, Kind.INTENTION, Kind.EXPECTATION, Kind.THOUGHT)
# Limit of further dates on which the same was mentioned; the latest are shown.
MAX_MENTION_DAYS = 2
DAY_UNKNOWN = {"en": "[day unknown]", "zh": "[日期不详]"}


class RenderedMessage(NamedTuple):
    """A message as recall shows it; `created_at` in UTC, naive. `answers` is the id of the owner's message that a reply
    of somebody else answers, `next_of_owner` the words of the owner's next message after it. `to` follows the speaker's
    name if the owner wrote to others than the persona. `is_undated`: imported from a file without times. `gist` is the
    part that is shown; without it, all of it."""

    id: int
    uuid_hex: str
    external_id: str | None
    role: str
    content: str
    created_at: datetime
    session_id: int
    import_hex: str | None
    answers: int | None = None
    next_of_owner: str | None = None
    gist: Gist | None = None
    to: str = ""
    is_unsure: bool = False
    is_undated: bool = False


class RenderedNode(NamedTuple):
    """A node as recall shows it; `created_at` in UTC, naive. `is_from_session`: it rests on messages that
    were written when it was created; `is_undated`: these were imported from a file without times."""

    id: int
    uuid_hex: str
    external_id: str | None
    kind: str
    description: str
    event_start: date | None
    event_end: date | None
    created_at: datetime
    outcome: str
    is_unsure: bool = False
    is_from_session: bool = True
    is_undated: bool = False
    since: str = ""
    until: str = ""
    plan_state: str = ""
    subject: str = ""
    thread_id: int | None = None
    thread_title: str = ""
    thread_state: str = ""

    @property
    def layer(self) -> str:
        return "L3" if self.kind in L3 else "L4"


@dataclass(frozen=True)
class Renderer:
    """The language and names of a persona, and the present moment, to which dates are relative."""

    language: str
    names: dict[str, str]
    now: datetime

    @classmethod
    def of(cls, persona: Persona, now: datetime) -> "Renderer":
        both = {Message.Role.USER.value: persona.user_display_name, Message.Role.PERSONA.value: persona.name}
        names: dict[str, str] = {role: one_line(name) for role, name in both.items()}
        return cls(persona.language, names, now.astimezone(persona.zone))

    def node(self, node: RenderedNode, alike: Sequence[RenderedNode] = ()) -> str:
        """The line of a node. A fact ends with its times, a promise or expectation with its outcome. `alike` are nodes
        with the same content, whose dates are shown beside its own."""
        description: str = one_line(node.description)
        if outcome := _words(self.language).get(node.kind, {}).get(node.outcome):
            description += f"（{outcome}）" if self.language == "zh" else f" ({outcome})"
        if node.kind == ConceptNode.Kind.FACT:
            description += fact_times(
                description, node.since, node.until, node.plan_state, self.now.date(), self.language
            )
        if node.is_unsure:
            description += not_sure(self.language)
        return f"- {self._after_note(self._note_node(node, alike))}{description}"

    def thread_note(self, node: RenderedNode, *, with_state: bool) -> str:
        """The note after a node of a thread: the title; with its state if the question asks how the matter went."""
        state = f"{'：' if self.language == 'zh' else ': '}{_words(self.language)['thread'][node.thread_state]}"
        of = _words(self.language)["thread"]["of"].format(title=one_line(node.thread_title))
        return (
            f"（{of}{state if with_state else ''}）"
            if self.language == "zh"
            else f" ({of}{state if with_state else ''})"
        )

    def passage(self, messages: Sequence[RenderedMessage]) -> str:
        """Messages in chronological order; the first one shows the date, and so does each that begins a new day. The
        question at the end of the last one is left out if the message also states something."""
        text_lines = [
            f"- {self._after_note(self._note_message(messages[0]))}{self._quote(messages[0], len(messages) > 1)}"
        ]
        for before, message in pairwise(messages):
            is_same_day = self._day(before.created_at) == self._day(message.created_at)
            day = "" if is_same_day else self._after_note(self._note_message(message))
            text_lines.append(f"{day}{self._quote(message, message is not messages[-1])}")
        return NEXT_LINE.join(text_lines)

    def costs(self, message: RenderedMessage, neighbours: Iterable[RenderedMessage] = ()) -> tuple[str, int, int, int]:
        """A message as a passage of its own, and its tokens: in this form, as a further one beside its `neighbours`,
        and of its question, which is shown if an answer follows."""
        quote, note, day = self._quote(message, is_answered=False), self._after_note(self._note_message(message)), ""
        own_day = self._day(message.created_at)
        for neighbour in neighbours:
            if self._day(neighbour.created_at) != own_day:
                day = max(day or note, self._after_note(self._note_message(neighbour)), key=len)
        question = 1
        if message.gist and message.gist.statement and message.gist.question:
            question = max(0, tokens(self._quote(message, is_answered=True)) - tokens(quote) + 1)
        line = f"- {note}{quote}"
        return line, tokens(line), tokens(f"{NEXT_LINE}{day}{quote}"), question

    def humanize_node_age(self, node: RenderedNode) -> str:
        """The age of a node in words; the dates themselves if it covers several days ("2019"); "" if it has none."""
        has_day = node.kind in DATED or is_relative(node.description)
        if node.kind == Kind.THOUGHT or not has_day or (node.is_undated and not node.event_start):
            return ""
        if node.event_start and node.event_end and node.event_start < node.event_end:
            return write_days(node.event_start, node.event_end, self.language)
        return humanize_distance(node.event_start or self._day(node.created_at), self.now.date(), self.language)

    def humanize_message_age(self, message: RenderedMessage) -> str:
        """The age of a message in words."""
        if message.is_undated:
            return ""
        return humanize_distance(self._day(message.created_at), self.now.date(), self.language)

    def _note_node(self, node: RenderedNode, alike: Sequence[RenderedNode] = ()) -> str:
        """The dates of a node: its own, otherwise the day on which it was mentioned or recorded."""
        recorded_on = self._day(node.created_at)
        mention_days: tuple[date, ...] = ()
        if alike:
            days = {
                self._day(alike_node.created_at)
                for alike_node in alike
                if not alike_node.event_start and not alike_node.is_undated
            }
            mention_days = tuple(sorted(days - {recorded_on})[-MAX_MENTION_DAYS:])
        if node.event_start and node.kind != Kind.FACT:
            last = node.event_end or node.event_start
            is_other_day = recorded_on != node.event_start and not node.is_undated and is_relative(node.description)
            has_mention_day = is_other_day and node.kind not in (Kind.INTENTION, Kind.EXPECTATION)
            mention_day = recorded_on if has_mention_day else None
            return _stamp_days(node.event_start, last, self.language, "happened", mention_day, mention_days)
        if node.kind not in DATED and not is_relative(node.description):
            return ""
        if node.is_undated:
            return DAY_UNKNOWN[self.language]
        basis: Basis = "said" if node.is_from_session and node.kind != Kind.THOUGHT else "noted"
        return _stamp_days(recorded_on, recorded_on, self.language, basis, None, mention_days)

    def _note_message(self, message: RenderedMessage) -> str:
        if message.is_undated:
            return DAY_UNKNOWN[self.language]
        day = self._day(message.created_at)
        return _stamp_days(day, day, self.language, "said")

    def _after_note(self, note: str) -> str:
        return f"{note} " if note and self.language != "zh" else note

    def _day(self, moment: datetime) -> date:
        return _local_day(moment, self.now.tzinfo)

    def _quote(self, message: RenderedMessage, is_answered: bool) -> str:
        gist = message.gist or Gist(one_line(message.content), "")
        ellipsis = "" if not gist.question else "…" if self.language == "zh" else " …"
        shown_text = gist.whole if is_answered or not gist.statement else f"{gist.statement}{ellipsis}"
        words = shorten(shown_text, MAX_MESSAGE_TOKENS)
        doubt = not_sure(self.language) if message.is_unsure else ""
        colon = "：" if self.language == "zh" else ": "
        return f'{self.names.get(message.role, message.role)}{message.to}{colon}"{words}"{doubt}'


@lru_cache(maxsize=8_192)
def _local_day(moment: datetime, zone: tzinfo | None) -> date:
    return moment.replace(tzinfo=UTC).astimezone(zone).date()


def not_sure(language: str) -> str:
    """The note after an unsure memory, and after a message that such a memory rests on."""
    doubt = _words(language)["doubt"]["unsure"]
    return f"（{doubt}）" if language == "zh" else f" ({doubt})"


def fact_times(description: str, since: str, until: str, plan_state: str, today: date, language: str) -> str:
    """The note after a fact: since and until when it holds; for a plan, its date and outcome. Nothing that the sentence
    itself says."""
    words = _words(language)["fact"]
    first, last = (humanize_coarse_date(code, language) if code else "" for code in (since, until))
    times = [time if time and time.casefold() not in description.casefold() else "" for time in (first, last)]
    if plan_state:
        planned_until = span_of(until or since)
        is_over = plan_state == ConceptNode.PlanState.PLANNED and planned_until and planned_until.end < today
        parts = [words["past_plan" if is_over else plan_state].format(when=times[0] or times[1]).strip()]
    else:
        which = "during" if all(times) else "since" if times[0] else "until" if times[1] else ""
        is_over = bool(last) and (ended := span_of(until)) is not None and ended.end < today
        parts = [words[which].format(since=times[0], until=times[1])] if which else [words["over"]] if is_over else []
    return "".join(f"（{part}）" if language == "zh" else f" ({part})" for part in parts)


@cache
def _words(language: str) -> Mapping[str, Mapping[str, str]]:
    """The wordings of outcomes of promises and expectations, by kind and outcome, of the times of facts, and of
    doubt."""
    path = settings.BASE_DIR / "templates" / "prompts" / f"outcomes.{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def format_uuid(uuid_hex: str) -> str:
    """A UUID as it is written, from its form in the database.

    >>> format_uuid("0123456789abcdef0123456789abcdef")
    '01234567-89ab-cdef-0123-456789abcdef'
    """
    return f"{uuid_hex[:8]}-{uuid_hex[8:12]}-{uuid_hex[12:16]}-{uuid_hex[16:20]}-{uuid_hex[20:]}"
