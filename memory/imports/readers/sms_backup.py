"""SMS Backup & Restore (Android): an XML of text messages, of all people one after the other.

    <smses><sms address="+48…" date="1709456400000" type="1" body="…" contact_name="…" />
           <mms date=… msg_box="2" address=… contact_name=…><parts><part ct="text/plain" text="…" /></parts>
                <addrs><addr address="+48…" type="137" /></addrs></mms></smses>

It is parsed piece by piece; pictures in it are skipped. A document type, and with it any entity, is refused: no such
file has one. Emoji are written as surrogate pairs, which XML does not allow, and are joined before parsing.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from xml.parsers import expat

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.lines import message_of, moment, sessions_of
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Options, ReaderItem, Role, Skipped, digest

_ROOT = re.compile(r"\s*(?:<\?[^>]{0,400}\?>\s*|<!--.{0,2000}?-->\s*)*<smses\b", re.S)
_HALVES = re.compile(r"&#(?:(\d{5})|x([0-9a-fA-F]{4}));&#(?:(\d{5})|x([0-9a-fA-F]{4}));")
_NUMBERED = re.compile(r"&#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}));")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
# Twice the length of the longest reference.
_LONGEST_REFERENCE = 24
_DATA = ' data="'
# Attributes longer than this are pictures.
_MAX_DATA = 4096
_RECEIVED, _SENT = "1", "2"
_OUTGOING = (_SENT, "4", "5", "6")
_FROM = "137"
_OWNER = "user"
_NOTHING = ("", "null", "(unknown)", "insert-address-token")
_MAX_MESSAGES = 1_000_000


@dataclass
class _Message:
    """One message of the file; `parts` are the texts of an MMS."""

    number: int
    talk: str
    contact: str
    at: datetime | None
    box: str
    text: str = ""
    sender: str = ""
    parts: list[str] = field(default_factory=list)
    with_media: bool = False


class SmsBackup:
    name = "sms_backup"
    label = gettext_lazy("Text messages (SMS Backup & Restore, XML)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        return 0.97 if not sample.members and _ROOT.match(sample.text) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        if not _ROOT.match(source.sample.text):
            raise ImportRejected("not_this", format=str(self.label))
        messages_by_number: dict[str, list[_Message]] = defaultdict(list)
        names: dict[str, str] = {}
        size = 0
        for message in _XMLParser(str(self.label)).messages(source):
            messages_by_number[message.talk].append(message)
            if "~" not in message.talk and message.contact:
                names.setdefault(_key(message.talk), message.contact)
            size += len(message.text) + 200
            if size > 8 * options.limits.item_bytes:
                raise ImportRejected("too_big")
        places = ContentIds()
        for number, (number_text, messages) in enumerate(messages_by_number.items(), start=1):
            location = _("chat %d") % number
            title = next((message.contact for message in messages if message.contact), number_text)
            source_id = digest("sms_backup", _key(number_text))
            places.begin(source_id)
            messages.sort(key=lambda message: message.at or datetime.min.replace(tzinfo=UTC))
            items: list[FileMessage | Skipped] = []
            for message in messages:
                place = _("message %d") % message.number
                if message.box not in (_RECEIVED, *_OUTGOING):
                    # Drafts were never sent.
                    items.append(Skipped(place, "not_chosen"))
                    continue
                if message.with_media:
                    items.append(Skipped(place, "media"))
                if message.text.strip() or not message.with_media:
                    is_own = message.box in _OUTGOING
                    speaker = message.contact or message.sender or message.talk
                    if "~" in message.talk and message.sender:
                        # In a group the message has only the sender's number.
                        speaker = names.get(_key(message.sender), message.sender)
                    role: Role = "user" if is_own else ""
                    speaker = _OWNER if is_own else speaker
                    items.append(
                        message_of(speaker, message.text, message.at, place, options.limits, places, role=role)
                    )
            yield from sessions_of(title, source_id, location, items, options.limits)


def _key(address: str) -> str:
    """A number without separators and without a country's prefix."""
    digits = "".join(letter for letter in address if letter.isdigit())
    return digits[-9:] if len(digits) >= 7 and "~" not in address else address.casefold()


class _XMLParser:
    """The state of the parser."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._done: list[_Message] = []
        self._open: _Message | None = None
        self._number = 0

    def messages(self, source: Source) -> Iterator[_Message]:
        """The messages that each piece of the file completes."""
        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self.begin
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse
        parser.EntityDeclHandler = self.refuse
        parser.ExternalEntityRefHandler = self.refuse
        pieces = mend_references(drop_pictures(source.texts()))
        for piece, is_last in chain(((piece, False) for piece in pieces), [("", True)]):
            try:
                parser.Parse(piece.encode("utf-8", "replace"), is_last)
            except expat.ExpatError as error:
                location = _("line %(line)d, character %(column)d") % {"line": error.lineno, "column": error.offset + 1}
                raise ImportRejected("not_this", location, format=self._label) from error
            yield from self._done
            self._done.clear()

    def refuse(self, *_declared: object) -> int:
        raise ImportRejected("not_this", format=self._label)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if name in ("sms", "mms"):
            self._number += 1
            if self._number > _MAX_MESSAGES:
                raise ImportRejected("too_big")
            message = _Message(
                self._number,
                _value(attributes, "address"),
                _value(attributes, "contact_name"),
                moment(attributes.get("date")),
                attributes.get("type" if name == "sms" else "msg_box", ""),
                attributes.get("body", "") if name == "sms" else "",
            )
            if name == "sms":
                self._done.append(message)
            else:
                self._open = message
        elif self._open is not None and name == "part":
            kind, text = attributes.get("ct", ""), _value(attributes, "text")
            if kind == "text/plain" and text:
                self._open.parts.append(text)
            elif kind not in ("application/smil", "text/plain"):
                self._open.with_media = True
        elif self._open is not None and name == "addr" and attributes.get("type") == _FROM:
            self._open.sender = _value(attributes, "address")

    def end(self, name: str) -> None:
        if name == "mms" and self._open is not None:
            self._open.text = "\n".join(self._open.parts)
            self._done.append(self._open)
            self._open = None


def _value(attributes: Mapping[str, str], name: str) -> str:
    """The value of an attribute; the app writes "null" for a missing one."""
    value = attributes.get(name, "")
    return "" if value.casefold() in _NOTHING else value


def drop_pictures(pieces: Iterable[str]) -> Iterator[str]:
    """The text without the data of pictures, which a parser would keep in memory as a whole."""
    rest, within = "", False
    for piece in pieces:
        text, rest = rest + piece, ""
        if within:
            end = text.find('"')
            if end < 0:
                continue
            text, within = text[end:], False
        kept: list[str] = []
        while (start := text.find(_DATA)) >= 0:
            begins = start + len(_DATA)
            end = text.find('"', begins)
            if end < 0:
                within = len(text) - begins > _MAX_DATA
                kept.append(text[:begins] if within else "")
                rest, text = ("" if within else text), ""
                break
            kept.append(text[: begins if end - begins > _MAX_DATA else end])
            text = text[end:]
        # The mark may be split between pieces.
        cut = len(text) if rest or within else max(len(text) - len(_DATA), 0)
        rest = rest or text[cut:]
        yield "".join(kept) + text[:cut]
    yield rest


def mend_references(pieces: Iterable[str]) -> Iterator[str]:
    """The text with characters in place of references that XML does not allow."""
    rest = ""
    for piece in pieces:
        text = rest + piece
        cut = text.rfind("&", max(len(text) - _LONGEST_REFERENCE, 0))
        # The first half of a pair, whose second half may follow.
        before = text.rfind("&", max(cut - _LONGEST_REFERENCE, 0), max(cut, 0))
        cut = before if before >= 0 and _HALVES.match(text[before:cut] + "&#56320;") else cut
        text, rest = (text, "") if cut < 0 else (text[:cut], text[cut:])
        yield _valid(text)
    yield _valid(rest)


def _valid(text: str) -> str:
    def joined(halves: re.Match[str]) -> str:
        first, second = (int(halves[n]) if halves[n] else int(halves[n + 1], 16) for n in (1, 3))
        is_pair = 0xD800 <= first < 0xDC00 <= second < 0xE000
        return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)) if is_pair else halves[0]

    def allowed(number: re.Match[str]) -> str:
        code = int(number[1]) if number[1] else int(number[2], 16)
        is_allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
        return number[0] if is_allowed else ""

    return _CONTROL.sub("", _NUMBERED.sub(allowed, _HALVES.sub(joined, text)))


FORMATS = (SmsBackup(),)
