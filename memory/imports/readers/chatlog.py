"""Chats as text, as other messengers export them or people copy them: a stamp and a name, then the words.

    QQ, WeChat       2024-01-05 10:22:33 张三(12345) ⏎ words       张三 2024/1/5 10:22:33 ⏎ words
    LINE             21:05 ⇥ Ana ⇥ words, under a line with the day
    KakaoTalk        [민수] [오후 10:22] words, under a line with the day       2024년 1월 5일 오후 10:22, 민수 : words
    IRC              [21:05] <ana> words, under a line with the day       2024-01-05 21:05:33 ⇥ ana ⇥ words
    WeFlow           2024-01-05 10:22:33 '张三' ⏎ words
    others           [21:05] Ana: words       Ana [2024-01-05 21:05]: words       [1/5/2024 10:22 PM] ana ⏎ words

The file has the style that begins most of its first lines. A stamp without a day takes that of the line with a day
above it; if there is none, or it has no year, the message has no time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import PurePath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from echovessel.language import lazy_re as re
from echovessel.process.word_caches import cached_words
from memory.imports.readers import day_order
from memory.imports.readers.called import is_form, is_label, may_be_name
from memory.imports.readers.chat_notices import KAKAO_TALK_MEDIA, invited_in, is_deleted, without_notices
from memory.imports.readers.clock_words import HALF_AHEAD, HALF_BEHIND
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.journal import Journal
from memory.imports.readers.lines import (
    Names,
    SpeakerCounts,
    gather_sample,
    message_of,
    role_named,
    sessions_of,
    something,
)
from memory.imports.readers.localized_times import WEEKDAY, moment_in
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Skipped, digest
from memory.imports.readers.when import as_date

_GAP = r"[ \u00a0\u202f]"
_CLOCK = rf"(?:{HALF_AHEAD}{_GAP}?)?\d{{1,2}}[:：]\d{{2}}(?:[:：]\d{{2}})?(?:{_GAP}?(?:{HALF_BEHIND}|Uhr\b))?"
_CLOCK_OF_SECONDS = rf"(?:{HALF_AHEAD}{_GAP}?)?\d{{1,2}}[:：]\d{{2}}[:：]\d{{2}}(?:{_GAP}?{HALF_BEHIND})?"
_WORD = r"[^\W\d_]{3,10}"
_DATE = (
    rf"(?:\d{{4}}{_GAP}?[-/.年년]{_GAP}?\d{{1,2}}{_GAP}?[-/.月월]{_GAP}?\d{{1,2}}(?:{_GAP}?[日일]|\.)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    rf"|{_WORD}\.?{_GAP}\d{{1,2}}(?:st|nd|rd|th)?,?{_GAP}\d{{4}}"
    rf"|\d{{1,2}}(?:\.|st|nd|rd|th)?{_GAP}(?:de{_GAP}|of{_GAP})?{_WORD}\.?,?{_GAP}(?:del?{_GAP})?\d{{4}})"
)
_WEEKDAY_THERE = rf"[(（]?(?:{WEEKDAY})[)）]?\.?"
_FULL = (
    rf"(?:{_WEEKDAY_THERE},?{_GAP})?{_DATE}(?:,|，|T|{_GAP}(?:at|um|à|a las?|às|alle|kl\.?|klo|o|в)\b)?{_GAP}{{0,3}}"
    rf"(?:{_WEEKDAY_THERE},?{_GAP}{{0,2}})?{_CLOCK}"
)
_WITHOUT_YEAR = rf"\d{{1,2}}[/.]\d{{1,2}}\.?,? {_CLOCK}"
_STAMP = rf"(?P<stamp>{_FULL}|{_WITHOUT_YEAR}|{_CLOCK})"
_NAME = r"(?P<name>[^\s:：<>\[\]\t][^:：<>\t\n]{0,59}?)"
_SAID = r"(?:：|:(?=\s|$))\s?(?P<words>.*)"
# The titles that QQ groups give their members, before the names.
_TITLE = re.compile(r"【[^】\n]{1,20}】\s?(?=\S)")
# Copies without a date: "Ana — Today at 10:14 AM". The day is unknown.
_RELATIVE = (
    r"(?:(?:today|yesterday|heute|gestern|hoy|ayer|hoje|ontem|aujourd['’]hui|hier|oggi|ieri|vandaag|gisteren|сегодня|вчера"
    r"|dziś|dzisiaj|wczoraj|bugün|dün|今天|昨天|今日|昨日|오늘|어제)"
    rf",?(?:{_GAP}?(?:at|um|a las?|às|à|alle|в|om|o|saat)\b)?{_GAP}*)"
)
_DASH = rf"(?:[—–|•·]{_GAP}*)?"
_NUMBER = r"[(（<](?P<number>[A-Za-z]{0,4}\d{5,12}|[^()<>\s]{1,60}@[^()<>\s]{1,60})[)）>]"
_WEEKDAY = r"[(（]?(?:[^\s\d()（）]{1,12}\.?)[)）]?"
_DAY = re.compile(
    rf"(?P<framed>[-=–—]{{3}})?[-=–— ]*(?:{_WEEKDAY},?\s+)?(?P<date>{_DATE})[.,]?(?P<weekday>\s*{_WEEKDAY})?[-=–— ]*"
    rf"|--- (?:Day changed|Log opened) \w{{3}} (?P<day>\w{{3}} \d{{1,2}})(?: [\d:]{{8}})? (?P<year>\d{{4}})",
    re.I,
)
_RULE = re.compile(r"={10,}\s*$|={4,} ?\w")
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+[^\w\s]*\s*")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!>~|])")
_MARKDOWN_FRAME = re.compile(r"[_*]{1,2}(?P<inside>\[[^\]\n]{1,20}\])[_*]{1,2}")
_MEDIA = re.compile(
    r"\[(?:图片|表情|表情包|动画表情|语音|语音消息|视频|文件|照片|位置|名片|链接|小程序|红包|转账"
    r"|圖片|影片|貼圖|檔案|語音訊息|聯絡資訊|位置資訊"
    r"|スタンプ|写真|画像|動画|ファイル|ボイスメッセージ|連絡先|位置情報|プレゼント"
    r"|사진|동영상|스티커|파일|음성메시지|음성 메시지|연락처|위치 정보|위치"
    r"|รูป|รูปภาพ|รูปถ่าย|สติกเกอร์|สติ๊กเกอร์|วิดีโอ|ไฟล์|ข้อความเสียง|ตำแหน่ง|ที่ตั้ง|ผู้ติดต่อ|รายชื่อติดต่อ"
    r"|photos?|pictures?|stickers?|videos?|voice messages?|voice|audio|files?|gif|images?|location|contacts?|link"
    r"|fotos?|stiker|vídeo|archivo|arquivo|datei|berkas|suara|lokasi|kontak|imagen|imagem|figurinha|ubicación)\]"
    r"|\[(?:アルバム|ノート|相簿|記事本|앨범|노트|อัลบั้ม|โน้ต|album|note|álbum|catatan)\][^\n]{0,100}",
    re.I,
)
_SAVED = re.compile(rf"[^\d\n]{{3,40}}[:：]\s?(?P<stamp>{_FULL})\s*", re.I)
_CALL = "☎"
_SYSTEM = ("系统消息", "系统消息(10000)", "系統訊息")
_ONLY_CLOCK = re.compile(_CLOCK, re.I)
_COLONS = re.compile("[:：]")
_LONGEST_DAY = 80
_SAMPLE_LINES = 200
_LEAST_SHARE = 0.1
_MAX_NAMES = 50
_LIKENESS = 0.78
# Front matter does not make an archive a diary.
_MARKDOWN_LIKENESS = 0.87
# A diary with dates above its entries resembles a chat less.
_UNSURE_LIKENESS = 0.77
_HAS_WORD = re.compile(r"[^\W\d_]{3}")


@dataclass(frozen=True)
class _Style:
    """`begins` matches the whole of a line that begins a message: `stamp`, `name` (otherwise on the next line),
    `number` and `words`; `notice` matches a line of the program. `most_names` is set for styles that also occur in
    diaries and lists: a chat then has at most that many names, and they recur. `quotes`: messages of several lines are
    in quotes. `media` matches placeholders for pictures, which have no mark."""

    begins: re.Pattern[str]
    most_names: int = 0
    notice: re.Pattern[str] | None = None
    quotes: bool = False
    media: re.Pattern[str] | None = None
    # No diary looks like this, even if each name occurs only once.
    is_framed: bool = False
    # Must occur at the beginning of the file; even then a person is asked whether it is a chat.
    beside: re.Pattern[str] | None = None
    # Dates are headings, and Markdown characters in words are escaped with a backslash.
    is_markdown: bool = False

    @property
    def is_name_first(self) -> bool:
        """Whether a name and then a whole time are in a line of their own, unlike titles of diaries."""
        return self.begins.groupindex["name"] < self.begins.groupindex["stamp"] and "words" in self.begins.groupindex


def _pattern(style_text: str) -> re.Pattern[str]:
    return re.compile(style_text, re.I)


@cache
def _styles() -> tuple[_Style, ...]:
    """Compiled with the first text, because that takes 0.15 s, which other processes need not spend."""
    style = _Style(
        _pattern(rf"(?P<stamp>{_CLOCK})\t(?P<name>[^\t\n]{{1,60}})\t(?P<words>.*)"),
        notice=_pattern(rf"{_CLOCK}\t(?:\t.*|[^\t]*)"),
        quotes=True,
    )
    kakao_talk = _Style(
        _pattern(rf"\[(?P<name>[^\]\n]{{1,60}})\] \[(?P<stamp>{_CLOCK})\] ?(?P<words>.*)"), media=KAKAO_TALK_MEDIA
    )
    kakao_talk_of_phones = _Style(
        _pattern(rf"(?P<stamp>{_FULL}), (?P<name>[^:\n]{{1,60}}?) : (?P<words>.*)"),
        notice=_pattern(rf"{_FULL}(?:[,:] (?:(?! : ).)*)?"),
        media=KAKAO_TALK_MEDIA,
    )
    irc = _Style(
        _pattern(rf"\[?{_STAMP}\]?\s+<[ @+%&~]?(?P<name>[^>\s]{{1,40}})>(?: (?P<words>.*))?"),
        notice=_pattern(rf"\[?(?:{_FULL}|{_CLOCK})\]?\s+(?:\*|-!-|-->|<--|--).*|--- Log closed.*"),
    )
    irc_of_weechat = _Style(
        _pattern(rf"(?P<stamp>{_FULL})\t[@+%&~]?(?P<name>[^\t\s]{{1,40}})\t(?P<words>.*)"),
        notice=_pattern(rf"{_FULL}\t ?(?:-->|<--|--|\*|=!=)?\t.*"),
    )
    zoom = _Style(_pattern(rf"(?P<stamp>{_CLOCK})\s+From {_NAME}(?: to [^:\n]{{1,60}}?)?\s?:\s?(?P<words>.*)"))
    qq = _Style(_pattern(rf"(?P<stamp>{_FULL}) +(?:{_NAME})?{_NUMBER}\s*(?P<words>)"))
    qq_copied = _Style(_pattern(rf"{_NAME}{_NUMBER} +(?P<stamp>{_FULL})\s*(?P<words>)"))
    we_flow = _Style(_pattern(rf"(?P<stamp>{_FULL}) '(?P<name>[^\n]{{1,60}})'(?P<words>)"))
    # Names end at the first blank: names with blanks cannot be told from the words.
    line_of_computers = _Style(
        _pattern(rf"(?P<stamp>{_CLOCK}) (?P<name>[^\s:：]{{1,40}}) (?P<words>.+)"),
        _MAX_NAMES,
        beside=re.compile(r"^\[LINE\]|^\d{4}\.\d{2}\.\d{2} [^\s\d]{1,12}$", re.M),
        media=re.compile(
            r"photos?|stickers?|videos?|files?|voice messages?|contact info|location|写真|画像|スタンプ|動画|ファイル"
            r"|ボイスメッセージ|圖片|照片|貼圖|影片|檔案|語音訊息|รูป|สติกเกอร์|วิดีโอ|사진|스티커|동영상",
            re.I,
        ),
    )
    # Archives in Markdown: "- **Ana** `21:05` — words", "**Ana** (21:05): words", under a heading with the day.
    bold = _Style(
        _pattern(
            rf"(?:[-*+>] |#{{1,6}} )?(?P<mark>\*\*|__)(?P<name>[^*_\n`]{{1,60}}?)[:：]?(?P=mark){_GAP}*"
            rf"[(\[`*_]{{0,3}}{_RELATIVE}?(?P<stamp>{_FULL}|{_WITHOUT_YEAR}|{_CLOCK})[)\]`*_]{{0,3}}{_GAP}*(?:[:：—–-]{_GAP}*)?(?P<words>.*)"
        ),
        _MAX_NAMES,
        is_framed=True,
        is_markdown=True,
    )
    return (
        style, kakao_talk, kakao_talk_of_phones, irc, irc_of_weechat, zoom, qq, qq_copied, we_flow, bold,
        _Style(_pattern(rf"\[{_STAMP}\] ?[-,]? ?{_NAME}{_SAID}"), _MAX_NAMES, is_framed=True),
        _Style(_pattern(rf"{_NAME} ?[(\[]{_STAMP}[)\]] ?{_SAID}"), _MAX_NAMES),
        _Style(_pattern(rf"(?P<stamp>{_FULL}) *[-,:]? *{_NAME}{_SAID}"), _MAX_NAMES),
        _Style(_pattern(rf"(?P<stamp>{_CLOCK}) *[-,]? *{_NAME}{_SAID}"), 2),
        _Style(_pattern(rf"\[{_STAMP}\] {_NAME}(?P<words>)"), _MAX_NAMES),
        _Style(_pattern(rf"{_NAME} +[(\[]{_STAMP}[)\]](?P<words>)"), _MAX_NAMES),
        _Style(_pattern(rf"(?P<stamp>{_FULL}) +{_NAME}(?P<words>)"), _MAX_NAMES),
        _Style(_pattern(rf"{_NAME}[:：]?{_GAP}+{_DASH}(?P<stamp>{_FULL})(?P<words>)"), _MAX_NAMES),
        _Style(_pattern(rf"{_NAME}{_GAP}+{_DASH}{_RELATIVE}?(?P<stamp>{_CLOCK})(?P<words>)"), _MAX_NAMES),
        # With seconds, which people do not write themselves.
        _Style(_pattern(rf"{_NAME}[:：]{_GAP}*(?P<stamp>{_CLOCK_OF_SECONDS})(?P<words>)"), _MAX_NAMES),
        line_of_computers,
    )  # fmt: skip


@dataclass(frozen=True)
class _Head:
    """The beginning of a message with its stamp, or without a stamp of lines that nobody speaks. `day` is the day above
    it."""

    stamp: str = ""
    name: str = ""
    number: str = ""
    day: str = ""
    reason: str = ""


class Chatlog:
    name = "chatlog"
    label = gettext_lazy("Chat as text (LINE, KakaoTalk, QQ, WeChat, WeLink, WeFlow, IRC and the like)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths:
            return 0.0
        lines = sample.text.split("\n")
        if style := _style(lines):
            return _MARKDOWN_LIKENESS if style.is_markdown else _LIKENESS
        return _UNSURE_LIKENESS if _is_unclear(lines) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        if options.kind == "notes":
            yield from Journal().read(source, options)
            return
        beginning = [line.text for line in islice(source.lines(), 2 * _SAMPLE_LINES)]
        style = _style(beginning)
        if style is None and options.kind is None and _is_unclear(beginning):
            raise ImportRejected("ask_chat_or_notes", source.name)
        style = style or _style(beginning, sure=False)
        if style is None:
            raise ImportRejected("not_this", format=str(self.label))
        short = (line.text for line in source.lines() if len(line.text) <= _LONGEST_DAY)
        day_first = day_order.choose_order(options.day_first, _open_dates(source, style), source.name, short)
        title = PurePath(source.name).stem
        names = frozenset(_names(style, beginning))
        names |= frozenset(name for line in beginning for name in invited_in(line, names))
        messages = gather_sample(source.lines(), _Beginnings(style).of, options.limits)
        places = ContentIds()
        messages = places.begin_with("", title, messages, lambda message: message.text.strip())
        items = _read_messages(messages, style, names, day_first, places, options.limits)
        yield from something(
            sessions_of(title, digest("chatlog", title), title or _("the chat"), items, options.limits)
        )


def _style(lines: Iterable[str], *, sure: bool = True) -> _Style | None:
    """The style that begins most of the first lines; None if none begins enough of them. If a person says that it is a
    chat, it need not be `sure`: names need not recur."""
    beginning = _beginning(lines)
    counted_styles: list[tuple[int, _Style]] = []
    for style in _styles():
        # The lines that begin messages; none if they may as well be headings.
        is_unsure = style.beside and (sure or not style.beside.search("\n".join(beginning)))
        names = [] if is_unsure else _names(style, beginning)
        different = len(set(names))
        if sure and style.most_names and not (1 < different <= style.most_names and 2 * different <= len(names) + 1):
            names = []
        counted_styles.append((len(names), style))
    count, best = max(counted_styles, key=lambda pair: pair[0])
    return best if count >= (max(2, _LEAST_SHARE * len(beginning)) if sure else 1) else None


def _beginning(lines: Iterable[str]) -> list[str]:
    return [line.removesuffix("\r") for line in islice((line for line in lines if line.strip()), _SAMPLE_LINES)]


def _begun_in(style: _Style, lines: Iterable[str]) -> Iterator[re.Match[str]]:
    return (begun for line in lines if (begun := style.begins.fullmatch(line)) and _is_message(begun))


def _is_message(begun: re.Match[str]) -> bool:
    """Whether a line in the style begins a message: "Jan 5, 2024 9:05 | PM" is a time, not a speaker PM."""
    groups = begun.groupdict(default="")
    return _is_stamp(groups["stamp"]) and (bool(groups.get("number")) or may_be_name(groups["name"]))


def _name_in(begun: re.Match[str]) -> str:
    """The speaker: without a title, and by number if the name is empty."""
    groups = begun.groupdict(default="")
    return _TITLE.sub("", groups["name"].strip(), count=1) or groups.get("number", "")


@cached_words(maxsize=4_000)
def _is_stamp(stamp: str) -> bool:
    """Whether the words of a stamp, if it has any, belong to a date."""
    return not _HAS_WORD.search(stamp) or _ONLY_CLOCK.fullmatch(stamp) is not None or moment_in(stamp) is not None


def _names(style: _Style, lines: list[str]) -> list[str]:
    """The speaker of each line."""
    return [_name_in(begun) for begun in _begun_in(style, lines)]


def _is_unclear(lines: Iterable[str]) -> bool:
    """Whether times and the texts beside them may be either a chat or notes: some name that is no label recurs or is
    before a whole time, and the names do not follow each other like the fields of a form."""
    beginning = _beginning(lines)
    for style in _styles():
        begun = list(_begun_in(style, beginning)) if style.most_names else []
        names = [_name_in(match) for match in begun]
        if style.beside and not style.beside.search("\n".join(beginning)):
            continue
        if not names or len(names) < _LEAST_SHARE * len(beginning) or all(map(is_label, names)) or is_form(names):
            continue
        # A stamp with the day or the second, as people do not write themselves.
        whole = style.is_name_first and all(
            not match["words"]
            and (not _ONLY_CLOCK.fullmatch(match["stamp"]) or len(_COLONS.findall(match["stamp"])) > 1)
            for match in begun
        )
        if whole or (style.is_framed and len(names) > 1) or len(names) > len(set(names)):
            return True
    return False


def _open_dates(source: Source, style: _Style) -> Iterator[day_order.Numbers]:
    """The open dates in their order; the day on which the chat was saved is the last."""
    begin, has_begun, saved = _Beginnings(style).of, False, None
    for line in source.lines():
        begun = begin(line.text)
        has_begun = has_begun or begun is not None
        if not has_begun and (saved_match := _SAVED.fullmatch(line.text[:_LONGEST_DAY])):
            saved = _open_numbers(saved_match["stamp"])
        stamp = begun[0].stamp or begun[0].day if begun else ""
        if numbers := _open_numbers(stamp):
            yield numbers
    if saved:
        yield saved


@cached_words(maxsize=1_000)
def _open_numbers(stamp: str) -> day_order.Numbers | None:
    """The numbers of a date if the order of day and month is open."""
    moment = moment_in(stamp)
    if moment:
        return (moment.month, moment.day, moment.year) if moment.open_order else None
    date = as_date(stamp) if stamp[:1].isdecimal() and not stamp[:4].isdecimal() else None
    if date and date.written_date.order_open and date.written_date.year:
        return date.written_date.month, date.written_date.day, date.written_date.year
    return None


class _Beginnings:
    """Recognizes the beginnings of messages, and keeps the day of the line above. If stamps have a day of their own, a
    line with only a date is part of a message."""

    def __init__(self, style: _Style) -> None:
        self.style = style
        self.day = ""
        self.says_days = False
        self.apart = True

    def of(self, text: str) -> tuple[_Head, str] | None:
        if self.style.notice and self.style.notice.fullmatch(text):
            begun: tuple[_Head, str] | None = (_Head(reason="notice"), text)
        elif (match := self.style.begins.fullmatch(text)) and _is_message(match):
            groups = match.groupdict(default="")
            self.says_days = _ONLY_CLOCK.fullmatch(match["stamp"]) is None
            day = "" if self.says_days else self.day
            begun = _Head(match["stamp"], _name_in(match), groups.get("number", ""), day), groups["words"]
        elif day := self._day_in(text):
            self.day = day
            begun = _Head(day=day), ""
        else:
            begun = (_Head(reason="document"), text) if _RULE.match(text) else None
        self.apart = not text.strip()
        return begun

    def _day_in(self, text: str) -> str:
        if self.style.is_markdown and (heading := _MARKDOWN_HEADING.match(text)):
            text = text[heading.end() :].strip()
        match = None if self.says_days or len(text) > _LONGEST_DAY else _DAY.fullmatch(text)
        if match is None or not (self.apart or match["framed"] or match["weekday"] or match["day"]):
            return ""
        return match["date"] or f"{match['day']}, {match['year']}"


def _read_messages(
    messages: Iterable[SpeakerCounts[_Head]],
    style: _Style,
    speaker_names: frozenset[str],
    day_first: bool,
    places: ContentIds,
    limits: Limits,
) -> Iterator[FileMessage | Skipped]:
    """The messages; blank lines around them belong to the layout."""
    line_number, names = _("line %d"), Names()
    for message in messages:
        location, head = line_number % message.number, message.head
        if head is None or not head.stamp:
            if message.text.strip():
                yield Skipped(location, (head and head.reason) or "nobody")
            continue
        text = message.text.strip("\n")
        if style.quotes and "\n" in text and text.startswith('"') and text.endswith('"'):
            text = text[1:-1].replace('""', '"')
        if style.is_markdown:
            text = "\n".join(line.removeprefix("  ") for line in text.split("\n"))
            framed = _MARKDOWN_FRAME.fullmatch(text.strip())
            text = framed["inside"] if framed else _ESCAPED.sub(r"\1", text)
        text, notices = without_notices(text.strip("\n").lstrip("\t"), speaker_names)
        yield from (Skipped(location, "notice") for _notice in range(notices))
        bare = text.strip()
        name = head.name.strip().strip("*").rstrip(",").strip() or head.name.strip()
        name = names.of(head.number, name) if head.number else name
        is_media = _MEDIA.fullmatch(bare) or (style.media and style.media.fullmatch(bare))
        is_notice = name in _SYSTEM or text.startswith(_CALL)
        if is_notice or is_media or is_deleted(bare):
            yield Skipped(location, "notice" if is_notice else "deleted" if is_deleted(bare) else "media")
            continue
        moment = moment_in(f"{head.day} {head.stamp}" if head.day else head.stamp)
        at = moment.at(day_first) if moment else None
        yield message_of(name, text, at, location, limits, places, role=role_named(name))


FORMATS = (Chatlog(),)
