"""WeChat, as WeFlow, MemoTrace and similar tools export it.

JSON        {weflow?, session: {wxid, displayName, type}, messages: [{type, content, isSend, senderDisplayName, …}]}
ChatLab     {chatlab, meta: {name, ownerId?}, members, messages: [{sender, accountName, timestamp, type, content}]},
            or one a line, each with its `_type`
CSV         id,MsgSvrID,type_name,is_sender,talker,msg,src,CreateTime
page        window.WEFLOW_DATA = [ {i, t, s, a, b}, one a line
MemoTrace   CSV with IsSender, Type, SubType, StrContent, CreateTime, Remark, NickName, Sender
            page: const chatMessages = [ {type:1, text:'…', is_send:0, timestamp:…, displayname:'…'}, one a line

WeFlow's text files are read by `chatlog`. Kinds have Chinese names, or numbers in ChatLab.
"""

import csv
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.html_text import words_of
from memory.imports.readers.json_values import is_one_a_line, loads, objects, reason_of, values
from memory.imports.readers.lines import Names, message_of, moment, sessions_of, table, word
from memory.imports.readers.quotes import without_quote
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.table import records, shape_of
from memory.imports.readers.types import FileMessage, ImportRejected, Options, ReaderItem, Role, Skipped, digest
from memory.imports.readers.web_pages import is_page

_SPOKEN = ("文本消息", "引用消息", "文本", "text", "引用", "回复消息")
_VOICE = ("语音消息", "voice", "语音")
_NOTICES = ("系统消息", "通话消息", "转账消息", "转账卡片", "红包卡片", "红包消息", "群公告", "拍一拍", "撤回消息")
# Placeholders of a recording that was not transcribed, and paths of recordings.
_PLACEHOLDER = re.compile(r"\[[^\]\n]{1,30}\]?|[\w./\\-]+\.(?:mp3|wav|silk|amr|aac|m4a)", re.I)
_CHATLAB_SPOKEN, _CHATLAB_REPLY = 0, 25
_CHATLAB_NOTICES = (20, 21, 22, 23, 80, 81)
_PAGE = "window.WEFLOW_DATA"
_PAGE_TITLE = re.compile(r"<title>(.{1,200}?)(?: - 聊天记录)?</title>", re.S)
_PAGE_NAME = re.compile(r'<div class="sender-name">(.*?)</div>', re.S)
_PAGE_WORDS = re.compile(r'<div class="message-text">(.*?)</div>', re.S)
_OWNER = "我"
_TYPE_OF_TEXT, _TYPE_OF_APPS, _SORT_OF_REPLIES = "1", "49", "57"
# Calls, notices of the program, and recalled messages.
_TYPES_OF_NOTICES = ("50", "10000", "10002")
_MARKUP = re.compile(r"\s*(?:[\w@-]{1,60}:\s*)?<(?:\?xml|msg|img|voicemsg|emoji|sysmsg|videomsg|location)\b", re.I)
_TITLE = re.compile(r"<title>(?:<!\[CDATA\[)?(.*?)(?:\]\]>)?</title>", re.S)
_MEMOTRACE_PAGE = re.compile(r"\bchatMessages\s*=\s*\[")
# A line may hold several messages.
_OBJECTS = re.compile(r"(?<=\})\s*,\s*(?=\{)")
_PAGE_FIELD = re.compile(
    r"[\"']?(?P<key>[A-Za-z_]\w{0,30})[\"']?\s*:\s*"
    r"(?:'(?P<single>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|(?P<bare>-?\d+|true|false|null))"
)
_ESCAPED = re.compile(r"\\(.)", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}


@dataclass(frozen=True)
class _Message:
    """The sender, time and text of a message; or, with a reason, why it is left out."""

    name: str = ""
    text: str = ""
    at: Any = None
    known: str = ""
    own: bool = False
    reason: str = ""


@dataclass(frozen=True)
class _Chat:
    title: str
    known: str
    messages: Iterable[_Message]


class WeChat:
    """A tool that exports chats of WeChat: how its files are recognized, and how its chats are read."""

    name: str
    label: str | Promise
    between_people = True
    reads_pages = False

    def recognizes(self, sample: Sample) -> bool:
        raise NotImplementedError

    def chat(self, source: Source) -> _Chat:
        raise NotImplementedError

    def resembles(self, sample: Sample) -> float:
        return 0.97 if not sample.members and self.recognizes(sample) else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        chat = self.chat(source)
        source_id = chat.known or digest(self.name, chat.title or source.name)
        places, names = ContentIds(), Names()
        places.begin(source_id)

        def lines() -> Iterator[FileMessage | Skipped]:
            message_number = _("message %d")
            for number, message in enumerate(chat.messages, start=1):
                location = message_number % number
                if message.reason:
                    yield Skipped(location, message.reason)
                    continue
                role: Role = "user" if message.own else ""
                speaker, text = names.of(message.known or message.name, message.name), without_quote(message.text)
                yield message_of(speaker, text, moment(message.at), location, options.limits, places, role=role)

        yield from sessions_of(chat.title, source_id, chat.title or _("the chat"), lines(), options.limits)


def _objects(records: Iterable[Any]) -> Iterator[dict[str, Any] | _Message]:
    """Each object; for other values why they are left out."""
    for value in records:
        unread = reason_of(value)
        yield value if isinstance(value, dict) else _Message(reason=unread)


def _reason(kind: str, text: str) -> str:
    """Why a message of a kind is left out; "" for a recording that was transcribed."""
    if kind in _SPOKEN or not kind:
        return ""
    return "" if kind in _VOICE and text.strip() and not _PLACEHOLDER.fullmatch(text.strip()) else "media"


class WeFlow(WeChat):
    name, label = "weflow", gettext_lazy("WeChat (WeFlow, JSON)")

    def recognizes(self, sample: Sample) -> bool:
        paths = sample.paths
        tool = "weflow" in paths or {"messages.item.senderUsername", "messages.item.isSend"} <= paths
        return tool and "session" in paths and ("messages" in paths or "session.wxid" in paths)

    def chat(self, source: Source) -> _Chat:
        head: dict[str, str] = {}
        for place, value in values(source, ("session.displayName", "session.nickname", "session.wxid")):
            head[place.removeprefix("session.")] = word(value)
        title = head.get("displayName") or head.get("nickname") or ""
        return _Chat(title, head.get("wxid", ""), self.messages(source))

    def messages(self, source: Source) -> Iterator[_Message]:
        for value in _objects(value for _place, value in values(source, ["messages.item"])):
            if isinstance(value, _Message):
                yield value
                continue
            kind, text = word(value.get("type")), word(value.get("content"))
            is_notice = value.get("isSend") is None or kind in _NOTICES
            if reason := "notice" if is_notice else _reason(kind, text):
                yield _Message(reason=reason)
                continue
            person = word(value.get("senderUsername"))
            name = word(value.get("senderDisplayName")) or person
            at = value.get("createTime") or value.get("formattedTime")
            yield _Message(name, text, at, person, bool(value.get("isSend")))


class ChatLab(WeChat):
    name, label = "chatlab", gettext_lazy("Chat of ChatLab (JSON)")

    def recognizes(self, sample: Sample) -> bool:
        return "chatlab" in sample.paths and bool({"meta", "messages", "_type", "members"} & sample.paths)

    def chat(self, source: Source) -> _Chat:
        if is_one_a_line(source):
            headers = (table(line) for line in objects(source) if table(line).get("_type") == "header")
            meta = next((table(header.get("meta")) for header in headers), {})
            records = (line for line in objects(source) if table(line).get("_type", "message") == "message")
        else:
            meta = next((table(value) for _place, value in values(source, ["meta"])), {})
            records = (value for _place, value in values(source, ["messages.item"]))
        messages = self.messages(records, word(meta.get("ownerId")))
        return _Chat(word(meta.get("name")), word(meta.get("groupId")), messages)

    def messages(self, records: Iterable[Any], owner: str) -> Iterator[_Message]:
        for value in _objects(records):
            if isinstance(value, _Message):
                yield value
                continue
            kind = value.get("type", _CHATLAB_SPOKEN)
            if kind not in (_CHATLAB_SPOKEN, _CHATLAB_REPLY):
                yield _Message(reason="notice" if kind in _CHATLAB_NOTICES else "media")
                continue
            person = word(value.get("sender"))
            name = word(value.get("groupNickname")) or word(value.get("accountName")) or person
            text, is_own = word(value.get("content")), bool(owner) and person == owner
            yield _Message(name, text, value.get("timestamp"), person, is_own)


class _Table(WeChat):
    columns: frozenset[str]

    def recognizes(self, sample: Sample) -> bool:
        shape = None if sample.paths or not sample.text else shape_of(sample.text)
        return shape is not None and {*shape.columns} >= self.columns

    def chat(self, source: Source) -> _Chat:
        return _Chat("", "", self.messages(source))

    def messages(self, source: Source) -> Iterator[_Message]:
        raise NotImplementedError


class WeFlowTable(_Table):
    name, label = "weflow_csv", gettext_lazy("WeChat (WeFlow, CSV)")
    columns = frozenset({"is_sender", "talker", "msg", "CreateTime"})

    def messages(self, source: Source) -> Iterator[_Message]:
        try:
            for row in csv.DictReader((f"{line.text}\n" for line in source.lines()), strict=True):
                text, kind = word(row.get("msg")), word(row.get("type_name"))
                if reason := _reason(kind, text):
                    yield _Message(reason=reason)
                else:
                    name, is_own = word(row.get("talker")), row.get("is_sender") == "1"
                    yield _Message(name, text, row.get("CreateTime"), own=is_own)
        except csv.Error as error:
            raise ImportRejected("table_broken") from error


class WeFlowPage(WeChat):
    name, label, reads_pages = "weflow_page", gettext_lazy("WeChat (WeFlow, web page)"), True

    def recognizes(self, sample: Sample) -> bool:
        return _PAGE in sample.text

    def chat(self, source: Source) -> _Chat:
        title = _PAGE_TITLE.search(source.sample.text)
        name = words_of(title[1]) if title else ""
        return _Chat(name, "", self.messages(source, name))

    def messages(self, source: Source, partner: str) -> Iterator[_Message]:
        """The messages. In a chat of two only the heading names the other person."""
        begun = False
        for line in source.lines():
            text = line.text.strip().rstrip(",")
            begun = begun or _PAGE in text
            if not begun or not text.startswith("{"):
                if begun and text.startswith("]"):
                    return
                continue
            try:
                value = table(loads(text, source.limits))
            except ValueError:
                yield _Message(reason="broken")
                continue
            body = word(value.get("b"))
            name, words = _PAGE_NAME.search(body), _PAGE_WORDS.search(body)
            own = bool(value.get("s"))
            speaker = words_of(name[1]) if name else _OWNER if own else partner
            spoken = _Message(speaker, words_of(words[1]), value.get("t"), own=own) if words else None
            yield spoken or _Message(reason="media")


def _memotrace_words(kind: str, sort: str, text: str) -> tuple[str, str]:
    """The text of a message of a kind, by WeChat's numbers, or why it has none. A reply may be markup."""
    kind, sort = kind.strip(), sort.strip()
    if kind in _TYPES_OF_NOTICES:
        return "", "notice"
    if kind == _TYPE_OF_APPS and sort == _SORT_OF_REPLIES:
        title = _TITLE.search(text)
        words = html.unescape(title[1]) if title else "" if text.lstrip().startswith("<") else text
        return words, "" if words.strip() else "media"
    if kind not in ("", _TYPE_OF_TEXT) or _MARKUP.match(text):
        return "", "media"
    return text, ""


class MemoTraceTable(_Table):
    name, label = "memotrace_csv", gettext_lazy("WeChat (MemoTrace, CSV)")
    columns = frozenset({"IsSender", "Type", "StrContent", "CreateTime"})

    def messages(self, source: Source) -> Iterator[_Message]:
        shape = shape_of(source.sample.text)
        if shape is None:
            raise ImportRejected("nothing_found")
        for _where, row in records(source, shape):
            if not isinstance(row, dict):
                yield _Message(reason="broken")
                continue
            text, reason = _memotrace_words(row.get("Type", ""), row.get("SubType", ""), row.get("StrContent", ""))
            person = row.get("Sender", "").strip() or row.get("StrTalker", "").strip()
            own = row.get("IsSender", "").strip() == "1"
            name = row.get("Remark", "").strip() or row.get("NickName", "").strip() or person
            if own and not row.get("Sender", "").strip():
                # Without a sender column, the other person's name is also beside the owner's messages.
                person = name = _OWNER
            at = row.get("CreateTime") or row.get("StrTime")
            yield _Message(reason=reason) if reason else _Message(name, text, at, person, own)


class MemoTracePage(WeChat):
    name, label, reads_pages = "memotrace_page", gettext_lazy("WeChat (MemoTrace, web page)"), True

    def recognizes(self, sample: Sample) -> bool:
        # Only for a page: `page` holds much more, because styles may precede the first word.
        return is_page(sample) and _MEMOTRACE_PAGE.search(sample.page) is not None

    def chat(self, source: Source) -> _Chat:
        title = _PAGE_TITLE.search(source.sample.page)
        return _Chat(words_of(title[1]) if title else "", "", self.messages(source))

    def messages(self, source: Source) -> Iterator[_Message]:
        begun = False
        for line in source.lines():
            for piece in _OBJECTS.split(line.text):
                begun = begun or _MEMOTRACE_PAGE.search(piece) is not None
                fields = self.fields(piece) if begun else {}
                if not {"type", "text"} <= fields.keys():
                    continue
                if fields["type"] == "0":
                    yield _Message(reason="notice")
                    continue
                text, reason = _memotrace_words(
                    fields["type"], fields.get("sub_type", ""), html.unescape(fields["text"])
                )
                own, name = fields.get("is_send") == "1", html.unescape(fields.get("displayname", ""))
                name, at = name or (_OWNER if own else ""), fields.get("timestamp")
                yield _Message(reason=reason) if reason else _Message(name, words_of(text), at, own=own)
            if begun and line.text.strip().startswith("]"):
                return

    def fields(self, piece: str) -> dict[str, str]:
        fields: dict[str, str] = {}
        for field in _PAGE_FIELD.finditer(piece):
            quoted = field["single"] if field["single"] is not None else field["double"]
            unescaped = _ESCAPED.sub(lambda sign: _ESCAPES.get(sign[1], sign[1]), quoted or "")
            fields[field["key"]] = field["bare"] if quoted is None else unescaped
        return fields


FORMATS = (WeFlow(), ChatLab(), WeFlowTable(), WeFlowPage(), MemoTraceTable(), MemoTracePage())
