"""What the fields of somebody's records hold: who spoke, what was said, when. Guessed from names and values. Pure.

A guess is to be confirmed by a person, unless the names leave no doubt (`Mapping.sure`).
"""

import re
from collections.abc import Callable, Iterable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from typing import Any

from memory.importers.lines import role_named, word
from memory.importers.types import Role
from memory.importers.when import read_when

# Names in the order of how plainly they say it, without case and marks; the last part of a path counts.
NAMES: dict[str, tuple[str, ...]] = {
    "text": (
        "text", "content", "message", "mes", "msg", "body", "reply", "words", "messagetext", "messagecontent", "entry",
        "entrytext", "note", "strcontent", "html", "nachricht", "inhalt", "eintrag", "texte", "mensaje", "texto",
        "内容", "正文", "消息", "消息内容", "聊天内容", "文本", "日记",
    ),
    "speaker": (
        "from", "sender", "speaker", "author", "role", "sendername", "authorname", "fromname", "name",
        "username", "user", "who", "nickname", "sentby", "absender", "von", "expéditeur", "remitente", "de",
        "ishuman", "isuser", "isbot", "fromme", "isfromme", "issender", "direction", "nature", "type",
        "发送者", "发送人", "发件人", "发言人", "说话人", "昵称", "角色",
    ),
    "at": (
        "date", "time", "datetime", "timestamp", "createdat", "created", "createtime", "creationdate", "sentat", "sent",
        "senddate", "when", "day", "ts", "timestampms", "messagedate", "creationtime", "strtime", "datum", "zeitpunkt",
        "zeit", "fecha", "日期时间", "时间", "日期", "发送时间", "创建时间",
    ),
    "title": ("title", "subject", "headline", "标题", "主题"),
    "source_id": ("id", "uuid", "messageid", "msgid", "guid"),
    "talk": ("conversationid", "chatid", "threadid", "sessionid", "conversation", "chat", "thread",
        "chatsession", "会话", "会话id",
    ),
}  # fmt: skip
_CLOCK_NAMES = ("time", "clock", "uhrzeit", "heure", "hora", "时间")
_LONGEST_NAME = 80
_MOST_SPEAKERS = 50
_UNMARKED = re.compile(r"[\W_]+")
# Fields that say yes or no about who speaks.
_BOT_FLAGS = ("isbot",)
_FLAGS = ("ishuman", "isuser", "isbot", "fromme", "isfromme", "issender")
_FALSE = ("0", "false", "no", "")
# Fields that say which way it went, seen from whoever took it along.
_WAYS = ("direction", "nature", "type")
_FROM_USER = frozenset({"outgoing", "sent", "out", "customer"})
_FROM_OTHER = frozenset({"incoming", "received", "in", "robot"})


@dataclass(frozen=True)
class Mapping:
    """Which field holds what, as paths in a record ("src.is_human"); "" where none does.

    `records` is the place of the records in JSON, as ijson writes it ("chats.item.messages.item"), "" in a table.
    `clock` is a second field with the time of day. `sure` says that the names leave no doubt.
    """

    text: str
    speaker: str = ""
    at: str = ""
    clock: str = ""
    title: str = ""
    source_id: str = ""
    talk: str = ""
    records: str = ""
    sure: bool = False


def guessed(samples: AnyMapping[str, list[Any]], records: str = "") -> Mapping | None:
    """What the fields hold, given some values of each; None where none of them could be what somebody wrote."""
    left = dict(samples)
    chosen = {role: _chosen(role, left) for role in ("speaker", "at", "source_id", "talk", "title", "text")}
    clock = next((path for path in left if _bare(path) in _CLOCK_NAMES and _are(left[path], _is_clock)), "")
    sure = bool(chosen["text"])
    text = chosen.pop("text") or _longest(left)
    if not text:
        return None
    chosen["at"] = chosen["at"] or next((path for path in left if _are(left[path], _is_time)), "")
    return Mapping(text, **chosen, clock=clock, records=records, sure=sure and bool(chosen["speaker"] or chosen["at"]))


def _chosen(role: str, left: dict[str, list[Any]]) -> str:
    """The field with the plainest name for it whose values fit; it is no longer `left` for others."""
    known = [path for path in left if _bare(path) in NAMES[role]]
    # Where the own lines have no name, another field says whose they are.
    ranked = [(role == "speaker" and _has_gaps(left[path]), NAMES[role].index(_bare(path)), path) for path in known]
    path = next((path for *_rank, path in sorted(ranked) if _FITS[role](path, left[path])), "")
    left.pop(path, None)
    return path


def _bare(path: str) -> str:
    """The name at the end of a path, without case and marks."""
    return _UNMARKED.sub("", path.rpartition(".")[2].casefold())


def _has_gaps(values: list[Any]) -> bool:
    return sum(value in (None, "") for value in values) > 0.2 * len(values)


def _fits_speaker(path: str, values: list[Any]) -> bool:
    if _bare(path) in _WAYS:
        return _are(values, lambda value: str(value).casefold() in _FROM_USER | _FROM_OTHER)
    if _bare(path) in _FLAGS:
        return _are(
            values,
            lambda value: isinstance(value, bool) or str(value).casefold() in ("0", "1", "true", "false", "yes", "no"),
        )
    names = {value for value in values if isinstance(value, str)}
    return len(names) <= _MOST_SPEAKERS and _are(
        values, lambda value: isinstance(value, str) and len(value) <= _LONGEST_NAME
    )


def _fits_text(_path: str, values: list[Any]) -> bool:
    return _are(values, lambda value: isinstance(value, str)) and not _are(values, _is_time)


def _is_time(value: Any) -> bool:
    return any(read_when(value, order) is not None for order in (True, False))


def _is_clock(value: Any) -> bool:
    return (
        isinstance(value, str)
        and re.fullmatch(r"\s*\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?\s*", value, re.I) is not None
    )


def _are(values: Iterable[Any], kind: Callable[[Any], bool]) -> bool:
    """Whether nearly all values that say something are of a kind, and some do."""
    telling = [value for value in values if value not in (None, "")]
    return bool(telling) and sum(map(kind, telling)) >= 0.8 * len(telling)


_FITS: dict[str, Callable[[str, list[Any]], bool]] = {
    "speaker": _fits_speaker,
    "text": _fits_text,
    "at": lambda _path, values: _are(values, _is_time),
    "title": lambda _path, values: _are(values, lambda value: isinstance(value, str)),
    "source_id": lambda _path, values: _are(values, lambda value: isinstance(value, str | int)),
    "talk": lambda _path, values: len({str(value) for value in values}) <= 0.7 * len(values),
}


def _longest(left: AnyMapping[str, list[Any]]) -> str:
    """The field with the longest texts in it, if they are longer than names and numbers are."""
    lengths = {
        path: sum(map(len, map(str, values))) / len(values) for path, values in left.items() if _fits_text(path, values)
    }
    best = max(lengths, key=lambda path: lengths[path], default="")
    return best if best and lengths[best] >= 12 else ""


def value_at(record: Any, path: str) -> Any:
    """What stands at `path` in a record, None where nothing does; a name may have dots in it, as columns have."""
    if not path:
        return None
    if isinstance(record, dict) and path in record:
        return record[path]
    for key in path.split("."):
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def who(record: Any, mapping: Mapping) -> tuple[str, Role]:
    """Who speaks in a record, by name, and as what the file itself says, "" where it says nothing."""
    value = value_at(record, mapping.speaker)
    name = _bare(mapping.speaker)
    if name in _FLAGS:
        is_user = (str(value).casefold() not in _FALSE) != (name in _BOT_FLAGS)
        return ("user", "user") if is_user else ("assistant", "persona")
    if name in _WAYS:
        return ("user", "user") if str(value).casefold() in _FROM_USER else ("assistant", "persona")
    speaker = word(value)
    return speaker, role_named(speaker)
