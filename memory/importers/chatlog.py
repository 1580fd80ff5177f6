"""Chats as text, as other messengers write them or as people copy them: a stamp and a name, then the words.

QQ, WeChat       2024-01-05 10:22:33 张三(12345) ⏎ words       张三 2024/1/5 10:22:33 ⏎ words
LINE             21:05 ⇥ Ana ⇥ words, under a line with the day
KakaoTalk        [민수] [오후 10:22] words, under a line with the day       2024년 1월 5일 오후 10:22, 민수 : words
IRC              [21:05] <ana> words, under a line with the day       2024-01-05 21:05:33 ⇥ ana ⇥ words
iMessage         Jan 05, 2024  9:05:33 PM ⏎ Ana ⏎ words
others           [21:05] Ana: words       Ana [2024-01-05 21:05]: words       [1/5/2024 10:22 PM] ana ⏎ words

The style that begins the most lines of the beginning is that of all. Where a stamp says no day, the line with the day
above it does; where there is none, or it says no year, the message has no time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice, zip_longest
from pathlib import PurePath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers import day_order
from memory.importers.lines import Gathered, Names, gathered, role_named, said, talks
from memory.importers.places import Places
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Skipped, digest
from memory.importers.when import as_date, read_when

_HALF = r"(?:上午|下午|中午|凌晨|早上|晚上|午前|午後|오전|오후)"
_CLOCK = rf"(?:{_HALF}\s?)?\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s?[ap]\.?m\b\.?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}\s?[年년]\s?\d{1,2}[月월]\s?\d{1,2}[日일]"
    rf"|{_MONTH}\.? \d{{1,2}},? \d{{4}}|\d{{1,2}} {_MONTH}\.? \d{{4}})"
)
_FULL = rf"{_DATE}(?:,|T| at)?\s*{_CLOCK}"
_WITHOUT_YEAR = rf"\d{{1,2}}[/.]\d{{1,2}}\.?,? {_CLOCK}"
_STAMP = rf"(?P<stamp>{_FULL}|{_WITHOUT_YEAR}|{_CLOCK})"
_NAME = r"(?P<name>[^\s:：<>\[\]\t][^:：<>\t\n]{0,59}?)"
_SAID = r"(?:：|:(?=\s|$))\s?(?P<words>.*)"
_NUMBER = r"[(（<](?P<number>\d{5,12}|[^()<>\s]{1,60}@[^()<>\s]{1,60})[)）>]"
_WEEKDAY = r"[(（]?(?:[^\W\d]{1,12}\.?)[)）]?"
_DAY = re.compile(
    rf"(?P<framed>[-=–—]{{3}})?[-=–— ]*(?:{_WEEKDAY},?\s+)?(?P<date>{_DATE})[.,]?(?P<weekday>\s*{_WEEKDAY})?[-=–— ]*"
    rf"|--- (?:Day changed|Log opened) \w{{3}} (?P<day>\w{{3}} \d{{1,2}})(?: [\d:]{{8}})? (?P<year>\d{{4}})",
    re.I,
)
_RULE = re.compile(r"={10,}\s*$|={4,} ?\w")
_MEDIA = re.compile(
    r"\[(?:图片|表情|动画表情|语音|视频|文件|照片|圖片|影片|貼圖|檔案|語音訊息|スタンプ|写真|動画|ファイル|ボイスメッセージ"
    r"|photo|sticker|video|voice message|file|gif|image)\]",
    re.I,
)
_CALL = "☎"
_SYSTEM = ("系统消息", "系统消息(10000)", "系統訊息")
_IN_CHINESE = str.maketrans({"년": "年", "월": "月", "일": "日"})
_ONLY_CLOCK = re.compile(_CLOCK, re.I)
_LONGEST_DAY = 80
_HALVES = (("오전", "上午"), ("午前", "上午"), ("오후", "下午"), ("午後", "下午"))
_SAMPLE_LINES = 200
_LEAST_SHARE = 0.1
_MOST_NAMES = 50
_LIKENESS = 0.78


@dataclass(frozen=True)
class _Style:
    """`begins` matches the whole of a line that begins a message: `stamp`, `name` (else it is the next line), `number`
    and `words`; `notice` one that is the program's. Where `most_names` is set, lines of diaries and lists begin so,
    too: then there are at most so many names, and they come again. `quotes`: what has several lines is in quotes."""

    begins: re.Pattern[str]
    most_names: int = 0
    notice: re.Pattern[str] | None = None
    quotes: bool = False

    @property
    def says_name(self) -> bool:
        return "name" in self.begins.groupindex


def _pattern(written: str) -> re.Pattern[str]:
    return re.compile(written, re.I)


_LINE = _Style(
    _pattern(rf"(?P<stamp>{_CLOCK})\t(?P<name>[^\t\n]{{1,60}})\t(?P<words>.*)"),
    notice=_pattern(rf"{_CLOCK}\t(?:\t.*|[^\t]*)"),
    quotes=True,
)
_KAKAO_TALK = _Style(_pattern(rf"\[(?P<name>[^\]\n]{{1,60}})\] \[(?P<stamp>{_CLOCK})\] (?P<words>.*)"))
_KAKAO_TALK_OF_PHONES = _Style(
    _pattern(rf"(?P<stamp>{_FULL}), (?P<name>[^:\n]{{1,60}}?) : (?P<words>.*)"), notice=_pattern(_FULL)
)
_IRC = _Style(
    _pattern(rf"\[?{_STAMP}\]?\s+<[ @+%&~]?(?P<name>[^>\s]{{1,40}})>(?: (?P<words>.*))?"),
    notice=_pattern(rf"\[?(?:{_FULL}|{_CLOCK})\]?\s+(?:\*|-!-|-->|<--|--).*|--- Log closed.*"),
)
_IRC_OF_WEECHAT = _Style(
    _pattern(rf"(?P<stamp>{_FULL})\t[@+%&~]?(?P<name>[^\t\s]{{1,40}})\t(?P<words>.*)"),
    notice=_pattern(rf"{_FULL}\t ?(?:-->|<--|--|\*|=!=)?\t.*"),
)
_ZOOM = _Style(_pattern(rf"(?P<stamp>{_CLOCK})\s+From {_NAME}(?: to [^:\n]{{1,60}}?)?\s?:\s?(?P<words>.*)"))
_QQ = _Style(_pattern(rf"(?P<stamp>{_FULL}) +{_NAME}{_NUMBER}\s*(?P<words>)"))
_QQ_COPIED = _Style(_pattern(rf"{_NAME}{_NUMBER} +(?P<stamp>{_FULL})\s*(?P<words>)"))
_STYLES = (
    _LINE, _KAKAO_TALK, _KAKAO_TALK_OF_PHONES, _IRC, _IRC_OF_WEECHAT, _ZOOM, _QQ, _QQ_COPIED,
    _Style(_pattern(rf"\[{_STAMP}\] ?[-,]? ?{_NAME}{_SAID}"), _MOST_NAMES),
    _Style(_pattern(rf"{_NAME} ?[(\[]{_STAMP}[)\]] ?{_SAID}"), _MOST_NAMES),
    _Style(_pattern(rf"(?P<stamp>{_FULL}) *[-,]? *{_NAME}{_SAID}"), _MOST_NAMES),
    _Style(_pattern(rf"(?P<stamp>{_CLOCK}) *[-,]? *{_NAME}{_SAID}"), 2),
    _Style(_pattern(rf"\[(?P<stamp>{_FULL})\] {_NAME}(?P<words>)"), _MOST_NAMES),
    _Style(_pattern(rf"{_NAME} +\[{_STAMP}\](?P<words>)"), _MOST_NAMES),
    _Style(_pattern(rf"(?P<stamp>{_FULL}) +{_NAME}(?P<words>)"), _MOST_NAMES),
    _Style(_pattern(rf"{_NAME} +(?P<stamp>{_FULL})(?P<words>)"), _MOST_NAMES),
    _Style(_pattern(rf"(?P<stamp>{_FULL})(?: \(Read by [^\n]*\))?(?P<words>)"), _MOST_NAMES),
)  # fmt: skip


@dataclass(frozen=True)
class _Head:
    """What begins: a message with its stamp, or, without a stamp, something that nobody says. `day` stands above it."""

    stamp: str = ""
    name: str = ""
    number: str = ""
    day: str = ""
    reason: str = ""


class Chatlog:
    name = "chatlog"
    label = gettext_lazy("Chat as text (LINE, KakaoTalk, QQ, WeChat, IRC, iMessage and the like)")

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths:
            return 0.0
        return _LIKENESS if _style(sample.text.split("\n")) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        beginning = [line.text for line in islice(source.lines(), 2 * _SAMPLE_LINES)]
        style = _style(beginning) or _style(beginning, sure=False)
        if style is None:
            raise ImportRejected("not_this", format=str(self.label))
        day_first = _day_first(source, style, options.day_first)
        title = PurePath(source.name).stem
        messages = gathered(source.lines(), _Beginnings(style).of, options.limits)
        places = Places()
        messages = places.begun("", title, messages, lambda message: message.text.strip())
        found = _lines(messages, style, day_first, places, options.limits)
        yield from talks(title, digest("chatlog", title), title or _("the chat"), found, options.limits)


def _style(lines: Iterable[str], *, sure: bool = True) -> _Style | None:
    """The style that begins the most of the first lines, None where none begins enough of them. Where it need not be
    `sure`, because a person says that it is a chat, names need not come again."""
    beginning = [line.removesuffix("\r") for line in islice((line for line in lines if line.strip()), _SAMPLE_LINES)]
    counted = [(_count(style, beginning, sure), style) for style in _STYLES]
    most, best = max(counted, key=lambda pair: pair[0])
    return best if most >= (max(2, _LEAST_SHARE * len(beginning)) if sure else 1) else None


def _count(style: _Style, lines: list[str], sure: bool) -> int:
    """How many lines begin messages; none where these may as well be headings of something else."""
    found = [(begun, after) for line, after in zip_longest(lines, lines[1:]) if (begun := style.begins.fullmatch(line))]
    if not (sure and style.most_names):
        return len(found)
    names = Counter(begun["name"] if style.says_name else after for begun, after in found)
    come_again = 2 * len(names) <= len(found) + 1
    return len(found) if 1 < len(names) <= style.most_names and come_again else 0


def _day_first(source: Source, style: _Style, chosen: bool | None) -> bool:
    """Raises ImportRejected where dates can be read in two ways."""
    if chosen is not None:
        return chosen
    told = day_order.day_first(_open_dates(source, style))
    if told is None:
        raise ImportRejected("ask_day_first", source.name)
    return told


def _open_dates(source: Source, style: _Style) -> Iterator[day_order.Numbers]:
    begin = _Beginnings(style).of
    for line in source.lines():
        begun = begin(line.text)
        stamp = begun[0].stamp or begun[0].day if begun else ""
        date = as_date(stamp) if stamp[:1].isdecimal() and not stamp[:4].isdecimal() else None
        if date and date.written.order_open and date.written.year:
            yield date.written.month, date.written.day, date.written.year


class _Beginnings:
    """What begins at a line, and what follows in it. The day of the line above is kept; where stamps say their own, a
    line with nothing but a date is somebody's words."""

    def __init__(self, style: _Style) -> None:
        self.style = style
        self.day = ""
        self.says_days = False
        self.apart = True

    def of(self, text: str) -> tuple[_Head, str] | None:
        begun = self._begun(text)
        self.apart = not text.strip()
        return begun

    def _begun(self, text: str) -> tuple[_Head, str] | None:
        if self.style.notice and self.style.notice.fullmatch(text):
            return _Head(reason="notice"), text
        if found := self.style.begins.fullmatch(text):
            groups = found.groupdict(default="")
            self.says_days = _ONLY_CLOCK.fullmatch(found["stamp"]) is None
            day = "" if self.says_days else self.day
            return _Head(found["stamp"], groups.get("name", ""), groups.get("number", ""), day), groups["words"]
        if day := self._day_in(text):
            self.day = day
            return _Head(day=day), ""
        return (_Head(reason="document"), text) if _RULE.match(text) else None

    def _day_in(self, text: str) -> str:
        found = None if self.says_days or len(text) > _LONGEST_DAY else _DAY.fullmatch(text)
        if found is None or not (self.apart or found["framed"] or found["weekday"] or found["day"]):
            return ""
        return found["date"] or f"{found['day']}, {found['year']}"


def _lines(
    messages: Iterable[Gathered[_Head]], style: _Style, day_first: bool, places: Places, limits: Limits
) -> Iterator[Line | Skipped]:
    """Blank lines around messages belong to the layout."""
    line, names = _("line %d"), Names()
    for message in messages:
        where, head = line % message.number, message.head
        if head is None or not head.stamp:
            if message.text.strip():
                yield Skipped(where, (head and head.reason) or "nobody")
            continue
        name, text = _spoken(head, message.text.strip("\n"), names, style)
        if reason := _why_not(name, text):
            yield Skipped(where, reason)
            continue
        at = _time(head.day, head.stamp, day_first)
        yield said(name, text, at, where, limits, places, role=role_named(name))


def _spoken(head: _Head, text: str, names: Names, style: _Style) -> tuple[str, str]:
    name = head.name.strip()
    if not name:
        name, _end, text = text.partition("\n")
    if style.quotes and "\n" in text and text.startswith('"') and text.endswith('"'):
        text = text[1:-1].replace('""', '"')
    return names.of(head.number, name) if head.number else name, text.strip("\n").lstrip("\t")


def _why_not(name: str, text: str) -> str:
    if name in _SYSTEM or text.startswith(_CALL):
        return "notice"
    return "media" if _MEDIA.fullmatch(text.strip()) else ""


@lru_cache(maxsize=1_000)
def _time(day: str, stamp: str, day_first: bool) -> datetime | None:
    written = f"{day} {stamp}" if day else stamp
    for theirs, known in _HALVES:
        written = written.replace(theirs, known)
    when = read_when(written.translate(_IN_CHINESE), day_first)
    return when.at if when else None


FORMATS = (Chatlog(),)
