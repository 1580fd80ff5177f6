"""WhatsApp's "export chat": a text file, alone or in a zip (iOS: _chat.txt; Android: named after the chat).

    31/12/2023, 21:05 - Name: text          [31/12/2023, 21:05:33] Name: text          2023/12/31 下午9:05 - 名: …

Copies from WhatsApp Web have the time first: [21:05, 31/12/2023] Name: text. All stamps have the shape of the first
one: a line without one continues the message before. Whether the day or the month comes first is decided once, by all
dates of the file. Times have no zone.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, islice
from pathlib import PurePosixPath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from echovessel.language import lazy_re as re
from echovessel.process.word_caches import cached_words
from memory.imports.readers import day_order
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.lines import SpeakerCounts, gather_sample, message_of, sessions_of, something
from memory.imports.readers.localized_times import year_of
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.whatsapp_words import (
    AFTERNOON,
    ATTACHED,
    BEHIND,
    CALL,
    DELETED,
    DELETED_HERE,
    DOCUMENT,
    EDITED,
    ENCRYPTED,
    GROUP_EVENT,
    LEFT_OUT,
    MADE_GROUP,
    MEDIA,
    NOON,
    NOTHING,
    PART_OF_DAY,
    PLACE,
    POLL,
    UNDER_ITS_NAME,
)

_MARK = "\u200e"
_INVISIBLE = "\ufeff\u200e\u200f\u061c\u202a\u202b\u202c"
_SPACE = r"[ \u00a0\u202f]"
# Arabic phones put direction marks between the numbers of a date.
_MARKS = r"[\u200e\u200f\u061c]?"
_DATE = (
    rf"(?P<a>\d{{1,4}}){_MARKS}(?P<mark>\.{_SPACE}|[./-]|年|년{_SPACE}){_MARKS}"
    rf"(?P<b>\d{{1,2}}){_MARKS}(?:\.{_SPACE}|[./-]|月|월{_SPACE}){_MARKS}(?P<c>\d{{1,4}})(?:[.日일]|{_SPACE}г\.)?"
)
_TIME = (
    rf"(?P<before>{PART_OF_DAY})?{_SPACE}?(?P<hour>\d{{1,2}})(?:[:.]|{_SPACE}h{_SPACE})(?P<minute>\d{{2}})"
    rf"(?:(?:[:.]|{_SPACE}min{_SPACE})(?P<second>\d{{2}})(?:{_SPACE}s)?)?(?:{_SPACE}?(?P<after>{PART_OF_DAY}))?"
    rf"(?:{_SPACE}ч\.)?"
)
_BETWEEN = rf"[,،]?{_SPACE}{{1,2}}(?:(?:at|um|à|às|a las|klo|kl\.?|в){_SPACE})?"
_BRACKETED = re.compile(rf"[{_INVISIBLE}]*\[{_DATE}{_BETWEEN}{_TIME}\]{_SPACE}", re.I)
_DASHED = re.compile(rf"[{_INVISIBLE}]*{_DATE}{_BETWEEN}{_TIME}{_SPACE}[-–]{_SPACE}", re.I)
_TIME_FIRST = re.compile(rf"[{_INVISIBLE}]*\[?{_TIME}[,،]{_SPACE}{_DATE}(?:\]|{_SPACE}[-–]){_SPACE}", re.I)
_SHAPES = (_BRACKETED, _DASHED, _TIME_FIRST)
# A name that is not in the contacts has a tilde before it.
_SPEAKER = re.compile(
    rf"[{_INVISIBLE}]*(?:~{_SPACE}?[{_INVISIBLE}]*(?=[^\s:]))?(?P<name>[^\n]{{1,100}}?)[{_INVISIBLE}]*:(?:{_SPACE}|(?=\n)|$)"
)
_NOT_A_LETTER = re.compile(r"[\s.]+")
# Marked placeholders of messages are short in every language.
_LONGEST_PLACEHOLDER = 200
_SAMPLE_LINES = 60
_LONGEST_NOTICE = 400
# The notice of encryption is among these lines; later, somebody is writing about encryption.
_FIRST_LINES = 4
_MAX_NAMES = 10_000
# The suffix that browsers add to a second download.
_COPY = re.compile(r" ?\(\d\)$")
_TITLES = (
    re.compile(r"WhatsApp Chat (?:with|-) (?P<name>.+)", re.I),
    re.compile(r"WhatsApp[- ]Chat mit (?P<name>.+)", re.I),
    re.compile(r"(?:Chat|Conversación) de WhatsApp con (?P<name>.+)", re.I),
    re.compile(r"Conversa do WhatsApp com (?P<name>.+)", re.I),
    re.compile(r"Discussion WhatsApp avec (?P<name>.+)", re.I),
    re.compile(r"Chat WhatsApp (?:con|dengan) (?P<name>.+)", re.I),
    re.compile(r"WhatsApp[- ]chat met (?P<name>.+)", re.I),
    re.compile(r"Чат WhatsApp с (?:контактом )?(?P<name>.+)", re.I),
    re.compile(r"[与與和](?P<name>.+?)的\s*WhatsApp\s*(?:聊天|对话|對話).*", re.I),
)


class WhatsApp:
    name = "whatsapp"
    label = gettext_lazy("WhatsApp chat")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        chats = _chat_files(sample)
        text = sample.inside(chats[0]).text if chats else sample.text
        lines = [line for line in text.split("\n")[:_SAMPLE_LINES] if line.strip()]
        stamp = _shape(lines)
        if stamp is None:
            return 0.0
        spoken = sum(bool(_SPEAKER.match(line, match.end())) for line in lines if (match := stamp.match(line)))
        if stamp.match(lines[0]):
            return 0.95 if spoken or any(map(_is_about_encryption, lines[:_FIRST_LINES])) else 0.0
        # A part of a chat may begin within a message.
        return 0.8 if spoken > len(lines) / 2 else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = _chat_files(source.sample) if source.members else [""]
        if not files:
            raise ImportRejected("member_missing")
        for name in source.members:
            if name not in files:
                yield Skipped(name, "document" if name.lower().endswith(".txt") else "media")
        yield from something(item for file in files for item in _chat(source, file, options))


def _chat_files(sample: Sample) -> list[str]:
    """The text files of a zip that are chats: iOS always uses one name, Android names them after the chat."""
    texts = [name for name in sample.members if name.lower().endswith(".txt")]
    return [name for name in texts if PurePosixPath(name).name == "_chat.txt"] or [
        name for name in texts if _shape(sample.inside(name).text.split("\n")[:_SAMPLE_LINES])
    ]


def _chat(source: Source, file: str, options: Options) -> Iterator[ReaderItem]:
    stamp = _shape(line.text for line in islice(source.lines(file), _SAMPLE_LINES))
    if stamp is None:
        raise ImportRejected("not_this", format=str(WhatsApp.label))
    day_first = _day_first(source, file, stamp, options.day_first)
    path = PurePosixPath(file)
    # The title of the chat, if the name of the file, its folder, or the zip contains it.
    titles = (
        match["name"]
        for stem in (path.stem, path.parent.name, PurePosixPath(source.name).stem)
        for pattern in _TITLES
        if (match := pattern.fullmatch(stem))
    )
    title = _COPY.sub("", next(titles, "")).strip()

    def begins(text: str) -> tuple[datetime, str] | None:
        """The time of a line and the text after its stamp; None if it has no possible time."""
        begun = stamp.match(text)
        at = _moment(begun, day_first) if begun else None
        return (at, text[begun.end() :]) if begun and at else None

    messages = gather_sample(source.lines(file), begins, options.limits)
    items = _read_messages(messages, *_groups_and_owner(source, file, stamp), options.limits)
    yield from sessions_of(title, digest("whatsapp", title or file), title or _("the chat"), items, options.limits)


def _shape(lines: Iterable[str]) -> re.Pattern[str] | None:
    """The pattern of the first line with a stamp."""
    for line in lines:
        for pattern in _SHAPES:
            if pattern.match(line):
                return pattern
    return None


def _day_first(source: Source, file: str, stamp: re.Pattern[str], day_first: bool | None) -> bool:
    """Whether the day is first. Raises ImportRejected if the dates can be read in both ways, or not in the one that
    `day_first` demands. Between dots the day is always first."""
    stamps = _open_stamps(source, file, stamp)
    first = next(stamps, None)
    if first is None or first["mark"].startswith("."):
        return True
    order = day_order.day_first(
        (int(match["a"]), int(match["b"]), year_of(match["c"])) for match in chain([first], stamps)
    )
    if day_first is None and order is None:
        raise ImportRejected("ask_day_first", file or source.name)
    if day_first is None or order in (None, day_first):
        return bool(order if day_first is None else day_first)
    if all(_moment(match, day_first) for match in _open_stamps(source, file, stamp)):
        return day_first
    raise ImportRejected("other_day_first", file or source.name)


def _open_stamps(source: Source, file: str, stamp: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The stamps of the file with the year last, if a calendar has them in any order."""
    matches = (stamp.match(line.text) for line in source.lines(file))
    return (
        match for match in matches if match and len(match["a"]) < 3 and (_moment(match, True) or _moment(match, False))
    )


def _groups_and_owner(source: Source, file: str, stamp: re.Pattern[str]) -> tuple[frozenset[str], str]:
    """The names of groups, and the owner. Text under a group's name begins with the notice of encryption or of who made
    the group, and is all about the group; nobody speaks under it. The owner is the only name with a notice that "you"
    deleted a message, "" if there is none, or several."""
    is_group_of: dict[str, bool] = {}
    owners: set[str] = set()
    for line in source.lines(file):
        begun = stamp.match(line.text)
        match = _SPEAKER.match(line.text, begun.end()) if begun else None
        if match is None or (match["name"] not in is_group_of and len(is_group_of) >= _MAX_NAMES):
            continue
        name, words = match["name"], line.text[match.end() :].strip(_INVISIBLE)
        if len(words) <= _LONGEST_PLACEHOLDER and DELETED_HERE.fullmatch(words):
            owners.add(name)
        if is_group_of.get(name, True):  # a name with any other text is never a group's
            is_notice = len(words) <= _LONGEST_NOTICE and (
                (name in is_group_of and UNDER_ITS_NAME.search(words))
                or _is_about_encryption(words)
                or MADE_GROUP.search(words)
            )
            is_group_of[name] = bool(is_notice)
    groups = (name for name, is_group in is_group_of.items() if is_group)
    owner = owners.pop() if len(owners) == 1 else ""
    return frozenset(groups) if len(is_group_of) > 2 else frozenset(), owner


def _is_about_encryption(words: str) -> bool:
    """Whether the words are a notice of encryption: a sentence about it, not the bare term."""
    return len(words) <= _LONGEST_NOTICE and (match := ENCRYPTED.search(words)) is not None and match[0] != words


def _read_messages(
    messages: Iterable[SpeakerCounts[datetime]], groups: frozenset[str], owner: str, limits: Limits
) -> Iterator[FileMessage | Skipped]:
    """The messages of a chat. Their ids do not contain its title, because the same chat comes with and without one."""
    line_number, places = _("line %d"), ContentIds()
    for number, message in enumerate(messages):
        location = line_number % message.number
        match = _SPEAKER.match(message.text)
        if message.head is None or match is None or _is_notice(match["name"]) or match["name"] in groups:
            yield Skipped(location, "notice" if message.head else "nobody")
            continue
        if number < _FIRST_LINES and _is_about_encryption(message.text[match.end() :]):
            yield Skipped(location, "notice")
            continue
        text, reason = _words(message.text[match.end() :])
        if reason:
            yield Skipped(location, reason)
        if text or not reason:
            role: Role = "user" if match["name"] == owner else ""
            yield message_of(match["name"], text, message.head, location, limits, places, role=role)


@cached_words(maxsize=1_000)
def _is_notice(name: str) -> bool:
    """Whether the colon belongs to a notice of WhatsApp: Ana changed the subject to "Rome: again"."""
    is_quoting = (
        name.count('"') % 2 == 1
        or ("“" not in name and "„" not in name and name.count("”") % 2 == 1)
        or any(name.count(begin) > name.count(end) for begin, end in ("“”", "«»", "„“", "「」", "『』", "‘’", "‹›"))
    )
    return is_quoting or GROUP_EVENT.search(name) is not None or ENCRYPTED.search(name) is not None


def _words(text: str) -> tuple[str, str]:
    """The text of a message, and why other content of it is left out; both can be empty."""
    if POLL.fullmatch(text.strip()):
        return "", "media"
    if len(text) <= _LONGEST_PLACEHOLDER:
        bare = text.strip(f"{_MARK} \n")
        if DELETED.fullmatch(bare):
            return "", "deleted"
        if CALL.fullmatch(bare):
            return "", "notice"
        is_media = bare == NOTHING or any(form.fullmatch(bare) for form in (MEDIA, BEHIND, ATTACHED))
        if is_media or PLACE.fullmatch(text.strip()):
            return "", "media"
        if text.startswith(_MARK):
            return "", "media" if LEFT_OUT.search(text) or BEHIND.search(text) else "notice"
    first, _end, caption = text.partition("\n")
    if first.endswith(")") and ATTACHED.fullmatch(first.strip(_MARK)):
        return caption, "media"
    if (text.endswith(">") or _MARK in text) and (match := BEHIND.search(text)):
        words = text[: match.start()]
        return "" if DOCUMENT.fullmatch(words) else words, "media"
    return (EDITED.sub("", text) if text.endswith(">") else text), ""


def _moment(stamp: re.Match[str], day_first: bool) -> datetime | None:
    """The time of a stamp; None if it is impossible."""
    a, b, c = stamp["a"], int(stamp["b"]), stamp["c"]
    if len(a) == 4:
        year, month, day = year_of(a), b, int(c)
    else:
        year, (day, month) = year_of(c), (int(a), b) if day_first else (b, int(a))
    try:
        hour = int(stamp["hour"])
        part = _NOT_A_LETTER.sub("", stamp["before"] or stamp["after"] or "").lower()
        if part and hour <= 12 and not (part == NOON and hour > 10):
            hour = hour % 12 + (12 if part in AFTERNOON else 0)
        return datetime(year, month, day, hour, int(stamp["minute"]), int(stamp["second"] or 0))
    except ValueError:
        return None


FORMATS = (WhatsApp(),)
