"""Gemini's part of a Google Takeout as a web page (My Activity.html), alone or in the zip, in any language.

    <div class="outer-cell …">…<p class="mdl-typography--title">Gemini Apps<br></p>…
      <div class="content-cell …">Prompted&nbsp;the question<br>May 19, 2026, 7:07:02 PM GMT-03:00<br>
      <p>the answer</p></div>…

Each activity is a card, newest first. The text before the time is the prompt, after the words that precede all prompts;
the text after the time is the answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.day_order import choose_order
from memory.imports.readers.gemini import PRODUCT, PROMPTED, USED, Wrapping, wrapping_of
from memory.imports.readers.html_text import words_of
from memory.imports.readers.lines import message_of, sessions_of
from memory.imports.readers.localized_times import Moment, moment_in
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.time_order import oldest_first
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.web_pages import is_page

_TITLE = "Gemini"
_USER, _PERSONA = "user", "Gemini"
_CARD = '<div class="outer-cell'
_HEADER = re.compile(r'<div class="header-cell[^>]*>(?P<words>.{0,400}?)</div>', re.S)
_CELL = re.compile(r'<div class="content-cell(?P<kind>[^"]*)"[^>]*>')
_BREAK = re.compile(r"<br\s*/?>", re.I)
_TAG = re.compile(r"<[^>]{0,300}>")
_LINK = re.compile(r"^\s*-(?:&nbsp;|\s)*<a\s", re.I)
_ATTACHED = re.compile(r"\s*[^<>\n]{0,60}\d[^<>\n]{0,60}\s*")
_SUFFIXES = (".html", ".htm")
_MEMBERS_LOOKED_AT = 20
_CARDS_LOOKED_AT = 3
_MAX_TITLES = 2_000
_MOSTLY = 0.8
_LONGEST_PREFIX = 40
_HARD_SPACE = "\u00a0"


@dataclass(frozen=True)
class _Activity:
    """A card: the texts above and below its time; `files` were attached."""

    title: str
    moment: Moment
    answer: str
    files: int


class GeminiPage:
    name = "gemini_page"
    label = gettext_lazy("Gemini (Google Takeout, My Activity as a web page)")
    reads_pages = True

    def resembles(self, sample: Sample) -> float:
        inside = [sample.inside(name) for name in _candidates(sample.members)] if sample.members else [sample]
        return 0.9 if any(map(_is_of_gemini, inside)) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = [name for name in _candidates(source.members) if _is_of_gemini(source.sample.inside(name))]
        if source.members and not files:
            raise ImportRejected("member_missing")
        yield from (Skipped(name, "settings") for name in source.members if name not in files)
        places = ContentIds()
        for file in files or [""]:
            activities = _activities(source, file, options.limits)
            moments = (activity.moment for activity in activities if isinstance(activity, _Activity))
            dates = ((moment.month, moment.day, moment.year) for moment in moments if moment.open_order)
            day_first = choose_order(options.day_first, dates, file or source.name)
            # The words before all prompts: those before a non-breaking space, else as in the JSON export.
            activities = _activities(source, file, options.limits)
            answered = (
                activity.title for activity in activities if isinstance(activity, _Activity) and activity.answer
            )
            titles = list(islice(answered, _MAX_TITLES))
            begins = (title.partition(_HARD_SPACE)[0] for title in titles if _HARD_SPACE in title[:_LONGEST_PREFIX])
            [(before, count)] = Counter(begins).most_common(1) or [("", 0)]
            if before and count >= _MOSTLY * len(titles):
                wrapping = Wrapping(before=before + _HARD_SPACE)
            else:
                wrapping = wrapping_of([title.replace(_HARD_SPACE, " ") for title in titles])
            ordered = oldest_first(
                _activities(source, file, options.limits),
                lambda activity: activity.moment.at(day_first) if isinstance(activity, _Activity) else None,  # noqa: B023
                lambda activity: len(activity.title) + len(activity.answer) if isinstance(activity, _Activity) else 0,
                options.limits,
                newest_first=True,
            )
            items = _read_messages(ordered, wrapping, day_first, places, options.limits)
            yield from sessions_of(_TITLE, digest("gemini", file), _TITLE, items, options.limits)


def _candidates(members: Iterable[str]) -> list[str]:
    """Pages of the zip, likelier ones first."""
    names = [name for name in members if name.casefold().endswith(_SUFFIXES)]
    return sorted(names, key=lambda name: not PRODUCT.search(name))[:_MEMBERS_LOOKED_AT]


def _is_of_gemini(sample: Sample) -> bool:
    if not is_page(sample):
        return False
    cards = sample.page.split(_CARD)[1:]
    return any(_is_its_card(card) for card in cards[:_CARDS_LOOKED_AT])


def _is_its_card(card: str) -> bool:
    header = _HEADER.search(card)
    return bool(header and PRODUCT.search(header["words"]) and _CELL.search(card))


# --- cards ------------------------------------------------------------------------------------------------------------
def _cards(source: Source, file: str, limits: Limits) -> Iterator[str]:
    """The texts between the beginnings of cards, one at a time; of far too long ones only the beginning."""
    rest, begun = "", False
    for piece in source.texts(file):
        *whole, rest = (rest + piece).split(_CARD)
        for part in whole:
            if begun:
                yield part
            begun = True
        if len(rest) > limits.item_bytes:
            rest = rest[: limits.item_bytes // 2]
    if begun and rest:
        yield rest


def _activities(source: Source, file: str, limits: Limits) -> Iterator[_Activity | str]:
    """The activities of a page; for other cards why they are left out."""
    for card in _cards(source, file, limits):
        if not _is_its_card(card):
            yield "notice"
            continue
        begin, *others = _CELL.finditer(card)
        inside = card[begin.end() : others[0].start() if others else len(card)]
        parts = _BREAK.split(inside.rstrip().removesuffix("</div>"))
        timed = ((number, moment) for number, part in enumerate(parts) if (moment := moment_in(_plain(part))))
        number, moment = next(timed, (0, None))
        if moment is None:
            yield "broken"
            continue
        question = parts[:number]
        links = [place for place, part in enumerate(question) if _LINK.search(part)]
        if links:
            is_attached = links[0] and _ATTACHED.fullmatch(question[links[0] - 1])
            question = question[: links[0] - 1 if is_attached else links[0]]
        answer = words_of("<br>".join(parts[number + 1 :]))
        yield _Activity("\n".join(map(_plain, question)).strip(), moment, answer, len(links))


def _plain(html: str) -> str:
    """A line of a card. The space after the words before a prompt is non-breaking, and is kept."""
    first, mark, rest = html.partition("&nbsp;")
    if not mark:
        first, mark, rest = html.partition(_HARD_SPACE)
    begin = words_of(_TAG.sub("", first))
    return begin + _HARD_SPACE + words_of(rest) if mark and begin else words_of(html).strip(_HARD_SPACE + " ")


# --- what was asked ---------------------------------------------------------------------------------------------------
def _read_messages(
    activities: Iterator[_Activity | str], wrapping: Wrapping, day_first: bool, places: ContentIds, limits: Limits
) -> Iterator[FileMessage | Skipped]:
    for number, activity in enumerate(activities, start=1):
        location = _("activity %d") % number
        if isinstance(activity, str):
            yield Skipped(location, activity)
            continue
        at = activity.moment.at(day_first)
        title = activity.title if wrapping.is_around(activity.title) else activity.title.replace(_HARD_SPACE, " ")
        is_prompt = title.startswith(PROMPTED) or wrapping.is_around(title)
        if not is_prompt and (not activity.answer or title.startswith(USED)):
            yield Skipped(location, "notice")
            continue
        sides: tuple[tuple[str, str, Role], ...] = (
            (_USER, wrapping.taken_off(title), "user"),
            (_PERSONA, activity.answer, "persona"),
        )
        for side, text, role in sides:
            if text.strip() or side == _USER:
                yield message_of(side, text.replace(_HARD_SPACE, " "), at, location, limits, places, role=role)
        yield from (Skipped(location, "media") for _file in range(activity.files))


FORMATS = (GeminiPage(),)
