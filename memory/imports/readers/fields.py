"""The meaning of the fields of records: speaker, text, time. Guessed from names and values. Pure.

A person has to confirm a guess, unless the names leave no doubt (`Mapping.sure`).
"""

import re
from collections.abc import Callable, Iterable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from typing import Any

from memory.imports.readers.lines import role_named, word
from memory.imports.readers.types import Role
from memory.imports.readers.when import read_time

# Names by meaning, the plainest first, without case and punctuation. The last part of a path counts, or the last two if
# the last one is generic ("author.name").
NAMES: dict[str, tuple[str, ...]] = {
    "text": (
        "text", "content", "contents", "message", "mes", "msg", "body", "reply", "words", "messagetext",
        "messagecontent", "messagebody", "msgcontent", "msgtext", "txt", "chattext", "utterance", "entry", "entrytext",
        "note", "strcontent", "html", "nachricht", "inhalt", "eintrag", "texte", "mensaje", "texto", "contenido",
        "contenu", "mensagem", "conteudo", "conteúdo", "messaggio", "testo", "сообщение", "текст", "内容", "正文",
        "消息",
        "消息内容", "聊天内容", "聊天记录", "信息内容", "文本", "文字", "日记", "內容", "訊息", "訊息內容",
        "メッセージ", "本文", "메시지", "내용",
    ),
    "speaker": (
        "from", "sender", "speaker", "author", "role", "sendername", "senderdisplayname", "sendernickname",
        "authorname", "fromname", "fromusername", "fromnickname", "speakername", "creatorname", "ownername",
        "membername", "actorname", "sendernick", "sendnickname", "sendmembername", "fromuser", "senderuser", "realname",
        "displayname", "accountname", "groupnickname", "participant", "name", "username", "screenname", "user", "who",
        "whosaid", "nickname", "nick", "handle", "talker", "strtalker", "talkername", "sentby", "saidby", "postedby",
        "creator", "contactname", "contact", "remark", "absender", "verfasser", "autor", "von", "expéditeur",
        "expediteur", "auteur", "remitente", "emisor", "de", "remetente", "mittente", "da", "отправитель", "автор",
        "имя", "имяотправителя", "发送者昵称", "发送者备注", "发送者", "发送人", "发送人昵称", "发送方", "发件人",
        "发言人", "发言者", "说话人", "群昵称", "群名片", "昵称", "备注", "备注名", "发送者身份", "用户名", "用户",
        "姓名", "联系人", "好友", "角色", "發送者", "發送人", "暱稱", "送信者", "名前", "발신자", "보낸사람", "이름",
        "닉네임", "ishuman", "isuser", "isbot", "isai", "fromme", "isfromme", "issender", "issend", "issent", "isself",
        "isme", "direction", "nature", "type", "发送方向", "收发", "方向",
    ),
    "at": (
        "date", "time", "datetime", "timestamp", "createdat", "created", "createtime", "creationdate", "sentat", "sent",
        "senddate", "sendtime", "when", "day", "ts", "timestampms", "messagedate", "messagetime", "msgtime",
        "formattedtime", "creationtime", "createddate", "strtime", "postedat", "receivedat", "datum", "zeitpunkt",
        "zeit", "fecha", "data", "дата", "время", "日期时间", "时间", "日期", "发送时间", "消息时间", "创建时间",
        "时间戳", "聊天时间", "時間", "發送時間", "日時", "送信日時", "날짜", "시간",
    ),
    "title": ("title", "subject", "headline", "标题", "主题"),
    "source_id": ("id", "uuid", "messageid", "msgid", "guid", "msgsvrid", "localid"),
    "talk": (
        "conversationid", "chatid", "threadid", "sessionid", "roomid", "channelid", "groupid", "conversation", "chat",
        "thread", "chatsession", "channel", "room", "chatname", "groupname", "会话", "会话id", "群聊", "聊天对象",
        "会话名称",
    ),
}  # fmt: skip
_CLOCK_NAMES = ("time", "clock", "uhrzeit", "heure", "hora", "ora", "时间", "時間")
_LONGEST_NAME = 80
_MAX_SPEAKERS = 50
_UNMARKED = re.compile(r"[\W_]+")
# Ambiguous names: they are the speaker only if the field has few different values.
_WEAK = frozenset(
    {"name", "user", "who", "de", "da", "type", "handle", "contact", "remark", "data", "好友", "用户", "备注"}
)
# Generic last parts of a path, and the parts before them that mean a person.
_GENERIC = frozenset({"name", "id", "username", "nickname", "displayname", "title", "type", "text", "value", "user"})
_PERSONS = frozenset(
    {
        "author", "sender", "user", "from", "fromuser", "creator", "member", "speaker", "owner", "actor", "participant",
        "profile", "userprofile", "src", "source", "contact", "fromid", "account", "by", "createdby", "sentby",
        "postedby", "发送者", "发送人", "用户",
    }
)  # fmt: skip
_IDS_OF_SPEAKERS = frozenset(
    {
        "senderid", "fromid", "authorid", "userid", "fromuserid", "senderusername", "senderuin", "wxid", "uid", "uin",
        "senduid", "senderuid", "fromuid", "fromuin", "authoruid", "useruid", "senderkey", "usr", "userkey",
        "fromaccount", "senderaccount", "memberid", "participantid", "ownerid", "creatorid", "发送者微信id",
        "发送者id", "发送人id", "用户id",
    }
)  # fmt: skip
# Yes-or-no fields about the speaker: a program, or the person who exported the file.
_BOT_FLAGS = ("isbot", "isai")
_COMPANION_FLAGS = ("ishuman", "isuser", *_BOT_FLAGS)
_OWN_FLAGS = (
    "fromme", "isfromme", "issender", "issend", "issent", "issentbyme", "sentbyme", "isself", "isme", "ismine", "mine",
    "ismyself", "ismymessage", "isown", "own", "isoutgoing", "outgoing", "fromself", "isfromself", "self", "me",
    "是否本人发送", "是否本人", "是否为本人", "是否自己", "是否自己发送", "是否我发送", "是否发送", "是否发送者",
    "本人发送", "是否為本人", "是否本人發送", "自己发送", "本人",
)  # fmt: skip
_FLAGS = (*_COMPANION_FLAGS, *_OWN_FLAGS)
_TRUE = ("1", "true", "yes", "y", "是", "我", "本人", "自己", "1.0", "ja", "oui", "sí", "si", "да")
_FALSE = ("0", "false", "no", "n", "", "否", "不是", "对方", "對方", "0.0", "none", "null", "nein", "non", "нет")
# Fields with the direction of a message, as seen by the person who exported the file.
_WAYS = ("direction", "nature", "type", "发送方向", "收发", "方向")
_FROM_USER = frozenset({"outgoing", "sent", "out", "outbound", "customer", "发送", "发出", "发"})
_FROM_PROGRAM = frozenset({"robot"})
_FROM_OTHER = frozenset({"incoming", "received", "in", "inbound", "接收", "收到", "收"}) | _FROM_PROGRAM
_UNNAMED = "other"
# Values of kind fields that mark lines written by a program, and the names of such fields.
_OF_PROGRAM = frozenset(
    {
        "notification", "system", "systemmessage", "notice", "service", "event", "info", "status", "groupevent",
        "systemnotification", "系统消息", "系统", "系統", "系統訊息", "通知", "系统通知", "시스템", "system_message",
        "service_message", "system message",
    }
)  # fmt: skip
_KINDS = (*_WAYS, "kind", "messagetype", "msgtype", "typename", "类型", "消息类型", "類型", "訊息類型")
# Fields that name the other person in a chat of two, the plainest first; and parts of a path that belong to somebody
# else.
_PARTNERS = (
    "partner", "partnername", "contact", "contactname", "with", "chatwith", "withuser", "friend", "friendname", "peer",
    "peername", "other", "othername", "otheruser", "talker", "talkername", "buddy", "correspondent", "recipient",
    "contactdisplayname", "remark", "备注", "备注名", "联系人", "好友", "好友昵称", "聊天对象", "对方", "对方昵称",
    "對方", "相手", "상대", "displayname", "nickname", "昵称", "暱稱", "chatname", "conversationname", "会话名称",
    "name", "conversation", "chat", "thread", "title",
)  # fmt: skip
_OWN_PLACES = frozenset(
    {"me", "self", "owner", "myself", "user", "account", "app", "exporter", "device", "tool", "meta"}
)
# Identifies somebody, but is no name.
_ID = re.compile(
    (
        r"\d+(?:\.\d+)?|(?:wxid_|gh_|user|uid|u_|@)[\w-]*\d[\w-]*|[UWB][A-Z0-9]{6,}|[0-9a-f]{16,}|[0-9a-f-]{32,}"
        r"|\S+@[\w.-]+"
    ),
    re.I,
)
_CLOCK = re.compile(r"\s*\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?\s*", re.I)
# Fields with few recurring words that are nobody's name.
_NO_PEOPLE = frozenset(
    {
        "mood", "moods", "weather", "tag", "tags", "category", "kind", "status", "state", "lang", "language",
        "platform", "location", "place", "city", "country", "device", "app", "client", "rating", "color", "colour",
        "folder", "journal", "notebook", "reaction", "reactions", "emotion", "feeling", "activity", "activities",
        "score", "level", "priority", "format", "mimetype", "messagetype", "msgtype", "contenttype", "typename",
        "version", "source", "src", "model", "timezone", "zone", "starred", "pinned", "bookmarked", "weekday",
        "fullday", "datefull", "notetitle", "title", "subject", "心情", "天气", "标签", "分类", "类型", "消息类型",
        "地点", "状态", "星期", "stimmung", "wetter", "ort", "kategorie",
    }
)  # fmt: skip
# Fields that occur only in chats.
_OF_CHATS = frozenset(
    {
        "message", "msg", "mes", "messagetext", "messagecontent", "messagebody", "msgcontent", "msgtext", "chattext",
        "strcontent", "utterance", "消息", "消息内容", "聊天内容", "聊天记录", "訊息", "訊息內容", "nachricht",
        "mensaje", "mensagem", "messaggio", "сообщение", "メッセージ", "메시지", "senderid", "fromid", "authorid",
        "userid", "fromuserid", "txt", "recipient", "recipientid", "recipients", "receiver", "receiverid", "to", "toid",
        "toname", "replyto", "replytoid", "replytomessageid", "inreplyto", "chatid", "conversationid", "threadid",
        "roomid", "channelid", "channel", "chatroom", "接收者", "接收人", "群聊", "聊天对象", *_FLAGS,
    }
)  # fmt: skip
# A field that could be the speaker only by its values has at most this many values, each with at least this mean
# frequency.
_MAX_UNNAMED = 30
_LONGER_THAN_NAMES = 12
_AT_LEAST_OFTEN = 2.0


@dataclass(frozen=True)
class Mapping:
    """Which field holds what, as paths in a record ("src.is_human"); "" for none.

    `records` is the place of the records in JSON, as ijson writes it ("chats.item.messages.item"), "" in a table.
    `clock` is a second field with the time of day. `own` is a yes-or-no field beside the speaker that marks the
    exporter's own messages. `sure` says that the names leave no doubt.
    """

    text: str
    speaker: str = ""
    at: str = ""
    clock: str = ""
    title: str = ""
    source_id: str = ""
    talk: str = ""
    records: str = ""
    own: str = ""
    sure: bool = False


def guess_mapping(samples: AnyMapping[str, list[Any]], records: str = "") -> Mapping | None:
    """The guess from some values of each field; None if no field could hold a text."""
    samples_left = dict(samples)
    speaker, own, partner = _speaker(samples_left)
    for path in filter(None, (speaker, own, partner)):
        samples_left.pop(path)
    mapping: dict[str, str] = {}
    for role in ("at", "source_id", "talk", "title", "text"):
        # The field with the plainest name for the role and fitting values; it is then not available for other roles.
        ranks = sorted((rank, path) for path in samples_left if (rank := _rank(role, path)) is not None)
        mapping[role] = next((path for _position, path in ranks if _FITS[role](path, samples_left[path])), "")
        samples_left.pop(mapping[role], None)
    clocks = [path for path in samples_left if _bare(path) in _CLOCK_NAMES]
    clock = next(
        (
            path
            for path in clocks
            if _nearly_all(
                samples_left[path], lambda value: isinstance(value, str) and _CLOCK.fullmatch(value) is not None
            )
        ),
        "",
    )
    has_text = bool(mapping["text"])
    is_said = bool(speaker and mapping["at"])
    text = mapping.pop("text") or _longest(samples_left, few=is_said)
    if not text:
        return None
    samples_left.pop(text, None)
    mapping["at"] = mapping["at"] or next(
        (path for path in samples_left if _nearly_all(samples_left[path], _is_time)), ""
    )
    mapping["talk"] = partner or mapping["talk"]
    unnamed = "" if speaker else _few_and_often(samples_left, mapping)
    sure = has_text and bool(speaker or mapping["at"]) and not unnamed
    sure = sure and bool(speaker or not is_of_a_chat(samples, text))
    return Mapping(text, speaker or unnamed, **mapping, clock=clock, records=records, own=own, sure=sure)


def is_of_a_chat(samples: Iterable[str], text: str = "") -> bool:
    """Whether the names of the fields are those of a chat between people rather than of a diary."""
    return any(_bare(path) in _OF_CHATS or _last_two_names(path) in _OF_CHATS for path in {*samples, text})


def _speaker(samples: AnyMapping[str, list[Any]]) -> tuple[str, str, str]:
    """The field of the speaker (preferably a name, not an id or a flag, and without gaps); the flag beside it that
    marks the exporter's own messages; and the field that names the chat on both sides' messages."""
    ranked_paths = [(rank, path) for path in samples if (rank := _rank_of_speaker(path)) is not None]
    fitting = [(rank, path) for rank, path in ranked_paths if _fits_speaker(path, samples[path])]
    flags = [(bare in _WAYS, path) for _rank, path in fitting if (bare := _bare(path)) in (*_OWN_FLAGS, *_WAYS)]
    own = (
        ""
        if any(way and any(str(value).casefold() in _FROM_PROGRAM for value in samples[path]) for way, path in flags)
        else min(flags, default=("", ""))[-1]
    )
    flagged = {path for _rank, path in fitting if _bare(path) in (*_FLAGS, *_WAYS)}
    ranked = [
        path for *_rank, path in sorted((*_doubts(path, samples[path], own), rank, path) for rank, path in fitting)
    ]
    if not own:
        return (ranked or [""])[0], "", ""
    partners = [path for path in ranked if path not in flagged and _is_partner(samples[path], samples[own], _bare(own))]
    speaker_path = next((path for path in ranked if path not in flagged and path not in partners), "")
    return (speaker_path, own, "") if speaker_path else (own, "", (partners or [""])[0])


def _rank_of_speaker(path: str) -> int | None:
    """The rank of a field name for the speaker; None if it does not mean a speaker."""
    names = NAMES["speaker"]
    bare, joined = _bare(path), _last_two_names(path)
    if joined in names:
        return names.index(joined)
    if bare in _OWN_FLAGS:
        return len(names)
    around = _bare(path.rpartition(".")[0])
    if around in _PERSONS and (bare in names or bare in ("globalname", "fullname", "firstname", "label")):
        return names.index("sendername")
    if around in _PERSONS and bare in ("id", "uid", "uin", "email", "wxid"):
        return len(names) + 1
    if bare in _IDS_OF_SPEAKERS:
        return len(names) + 1
    # The name of a channel or file is no speaker's.
    return names.index(bare) if bare in names and not (around and bare in _GENERIC and "." in path) else None


def _doubts(path: str, values: list[Any], own: str) -> tuple[bool, bool, bool, bool]:
    """Reasons against a field, the strongest first. Beside an `own` field it may have gaps."""
    bare = _bare(path)
    filled = [value for value in values if value not in (None, "")]
    flag = bare in _FLAGS or bare in _WAYS
    ids = not flag and _nearly_all(
        values, lambda value: not isinstance(value, str) or _ID.fullmatch(value.strip()) is not None
    )
    # If the exporter's messages have no name, another field identifies them.
    gaps = sum(value in (None, "") for value in values) > 0.2 * len(values) and not (own and filled)
    return gaps, len({str(value) for value in values}) < 2, flag, ids


def _is_partner(names: list[Any], flags: list[Any], flagged: str) -> bool:
    """Whether the names are those of the chat, which the exporter's own messages have, too."""
    if len(names) != len(flags):
        return False
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    for name, flag in zip(names, flags, strict=True):
        sides[_is_own(flag, flagged)].add(str(name))
    return bool(sides[True] & sides[False]) and len(sides[True] | sides[False]) <= len(sides[False])


def _few_and_often(samples: AnyMapping[str, list[Any]], mapping: AnyMapping[str, str]) -> str:
    """A field that could be the speaker by its values: few short words, repeated often."""
    for path, values in samples.items():
        if (
            path in mapping.values()
            or _bare(path) in _NO_PEOPLE
            or any(_bare(path) in NAMES[role] for role in ("title", "at"))
        ):
            continue
        texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
        names = set(texts)
        often = len(texts) >= _AT_LEAST_OFTEN * len(names) and len(texts) >= 0.8 * len(values)
        if 2 <= len(names) <= _MAX_UNNAMED and often and all(map(_could_be_a_name, names)):
            return path
    return ""


def _could_be_a_name(value: str) -> bool:
    begins = value[:1].isupper() or (value[:1].isalpha() and not value.isascii())
    return begins and len(value) <= 40 and len(value.split()) <= 4 and not value.isupper() and not _is_time(value)


def _rank(role: str, path: str) -> int | None:
    names = NAMES[role]
    return (
        names.index(_bare(path))
        if _bare(path) in names
        else names.index(_last_two_names(path))
        if _last_two_names(path) in names
        else None
    )


def _bare(path: str) -> str:
    """The name at the end of a path, without case and marks."""
    return _UNMARKED.sub("", path.rpartition(".")[2].casefold())


def _last_two_names(path: str) -> str:
    """The last two names of a path as one: "author.name" is "authorname"."""
    return "".join(_UNMARKED.sub("", part.casefold()) for part in path.split(".")[-2:])


def _is_yes(value: Any) -> bool:
    return str(value).strip().casefold() not in _FALSE


def _fits_speaker(path: str, values: list[Any]) -> bool:
    bare = _bare(path)
    if bare in _WAYS:
        sides = [value for value in values if not _is_of_program(value)]
        return _nearly_all(sides, lambda value: str(value).casefold() in _FROM_USER | _FROM_OTHER)
    if bare in _FLAGS:
        return _nearly_all(
            values, lambda value: isinstance(value, bool) or str(value).strip().casefold() in _TRUE + _FALSE
        )
    names = {str(value) for value in values if isinstance(value, str | int)}
    few = len(names) <= (
        _MAX_SPEAKERS if bare in _WEAK and _last_two_names(path) in _WEAK else max(_MAX_SPEAKERS, len(values))
    )
    return few and _nearly_all(
        values,
        lambda value: isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= _LONGEST_NAME,
    )


def _fits_text(_path: str, values: list[Any]) -> bool:
    return _nearly_all(values, lambda value: isinstance(value, str)) and not _nearly_all(values, _is_time)


def _is_time(value: Any) -> bool:
    return any(read_time(value, order) is not None for order in (True, False))


def _nearly_all(values: Iterable[Any], kind: Callable[[Any], bool]) -> bool:
    """Whether nearly all non-empty values are of a kind, and there are some."""
    telling = [value for value in values if value not in (None, "")]
    return bool(telling) and sum(map(kind, telling)) >= 0.8 * len(telling)


_FITS: dict[str, Callable[[str, list[Any]], bool]] = {
    "text": _fits_text,
    "at": lambda _path, values: _nearly_all(values, _is_time),
    "title": lambda _path, values: _nearly_all(values, lambda value: isinstance(value, str)),
    # Each record has an id of its own; an author's id is not unique.
    "source_id": lambda path, values: (
        _bare(path.rpartition(".")[0]) not in _PERSONS
        and _nearly_all(values, lambda value: isinstance(value, str | int))
        and len({str(value) for value in values if isinstance(value, str | int)})
        > 0.9 * sum(isinstance(value, str | int) for value in values)
    ),
    "talk": lambda _path, values: len({str(value) for value in values}) <= 0.7 * len(values),
}


def _longest(samples: AnyMapping[str, list[Any]], *, few: bool) -> str:
    """The field with the longest texts, if they are longer than names and numbers; if speaker and time are known, texts
    of several words are enough."""
    lengths = {
        path: sum(map(len, map(str, values))) / len(values)
        for path, values in samples.items()
        if _fits_text(path, values)
    }
    best = max(lengths, key=lambda path: lengths[path], default="")
    words = [value.strip() for value in samples.get(best, ()) if isinstance(value, str) and value.strip()]
    if not best or _nearly_all(words, lambda value: _ID.fullmatch(value) is not None):
        return ""
    several = sum(" " in value or not value.isascii() for value in words) >= 0.3 * len(words)
    return best if lengths[best] >= _LONGER_THAN_NAMES or (few and several) else ""


def value_at(record: Any, path: str) -> Any:
    """The value at `path` in a record, None if there is none; names may contain dots, as in columns."""
    if not path:
        return None
    if isinstance(record, dict) and path in record:
        return record[path]
    for key in path.split("."):
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def speaker_of(record: Any, mapping: Mapping, partner: str = "") -> tuple[str, Role]:
    """The speaker of a record by name, and the role that the file itself gives them, "" for none. If only the
    exporter's own messages are marked, the chat or `partner` names the other person, who is no persona."""
    value = value_at(record, mapping.speaker)
    name = _bare(mapping.speaker)
    if name in _COMPANION_FLAGS:
        is_user = _is_yes(value) != (name in _BOT_FLAGS)
        return ("user", "user") if is_user else ("assistant", "persona")
    if name in _OWN_FLAGS or name in _WAYS:
        if _is_own(value, name):
            return "user", "user"
        is_program = str(value).casefold() in _FROM_PROGRAM
        talk_title = word(value_at(record, mapping.talk))
        partner_name = (talk_title if len(talk_title) <= _LONGEST_NAME else "") or partner or _UNNAMED
        return ("assistant", "persona") if is_program else (partner_name, "other")
    speaker = word(value)
    if not mapping.own:
        return speaker, role_named(speaker)
    if _is_own(value_at(record, mapping.own), _bare(mapping.own)):
        return speaker or "user", "user"
    return speaker or _UNNAMED, role_named(speaker) or "other"


def _is_own(value: Any, field_name: str) -> bool:
    """Whether a yes-or-no field, or a field of the direction, marks the exporter's own message."""
    return str(value).strip().casefold() in _FROM_USER if field_name in _WAYS else _is_yes(value)


def is_of_program(record: Any) -> bool:
    """Whether a record says that a program wrote it: somebody joined, left, or changed a name."""
    return isinstance(record, dict) and any(
        _is_of_program(value) and _bare(key) in _KINDS for key, value in record.items()
    )


def _is_of_program(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _OF_PROGRAM


def partner_in(above: AnyMapping[str, list[Any]]) -> str:
    """The name of the other person in a chat of two, by the fields above its records; "" if none names them."""
    ranked_names: list[tuple[int, int, str]] = []
    for path, values in above.items():
        bare, around = _bare(path), _bare(path.rpartition(".")[0])
        value = values[0].strip() if values and isinstance(values[0], str) else ""
        is_name = 0 < len(value) <= _LONGEST_NAME and not _is_time(value) and around not in _OWN_PLACES
        if is_name and (bare in _PARTNERS or (around in _PARTNERS and bare in _GENERIC)):
            rank = min(_PARTNERS.index(name) for name in (bare, around) if name in _PARTNERS)
            ranked_names.append((_ID.fullmatch(value) is not None, rank, value))
    return min(ranked_names, default=(False, 0, ""))[-1]
