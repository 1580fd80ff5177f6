"""Messages written in each chat format; the format's reader must return the same messages."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

BEGIN = datetime(2023, 12, 30, 8, 0, 0)


class ChatMessage(NamedTuple):
    by_user: bool
    text: str


def at(number: int) -> datetime:
    return BEGIN + timedelta(seconds=37 * number)


def aware(number: int) -> datetime:
    return at(number).replace(tzinfo=UTC)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def chatgpt(messages: Sequence[ChatMessage]) -> bytes:
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["0"], "message": None}}
    for number, message in enumerate(messages):
        parent = str(number - 1) if number else "root"
        role = "user" if message.by_user else "assistant"
        row = {
            "id": f"m{number}", "author": {"role": role}, "create_time": aware(number).timestamp(), "recipient": "all",
            "content": {"content_type": "text", "parts": [message.text]}, "weight": 1.0, "metadata": {},
        }  # fmt: skip
        nodes[str(number)] = {"id": str(number), "parent": parent, "children": [str(number + 1)], "message": row}
    current = str(len(messages) - 1) if messages else "root"
    return _json([{"id": "c", "title": "A talk", "mapping": nodes, "current_node": current}])


def claude(messages: Sequence[ChatMessage]) -> bytes:
    return _json([_claude_conversation(messages)])


def claude_lines(messages: Sequence[ChatMessage]) -> bytes:
    return _json(_claude_conversation(messages)) + b"\n"


def _claude_conversation(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    rows = [
        {
            "uuid": f"m{number}", "sender": "human" if message.by_user else "assistant", "text": message.text,
            "content": [{"type": "text", "text": message.text}], "created_at": aware(number).isoformat(), "files": [],
        }
        for number, message in enumerate(messages)
    ]  # fmt: skip
    return {"uuid": "k", "name": "A talk", "chat_messages": rows}


def _name(message: ChatMessage) -> str:
    return "Ana" if message.by_user else "Mira"


def whatsapp_dashed(messages: Sequence[ChatMessage]) -> bytes:
    return "".join(
        f"{at(n):%d/%m/%Y, %H:%M} - {_name(message)}: {message.text}\n" for n, message in enumerate(messages)
    ).encode()


def whatsapp_bracketed(messages: Sequence[ChatMessage]) -> bytes:
    stamped_lines = (
        f"[{at(n):%m/%d/%y, %I:%M:%S\u202f%p}] {_name(message)}: {message.text}\n" for n, message in enumerate(messages)
    )
    return "".join(stamped_lines).encode()


def telegram(messages: Sequence[ChatMessage]) -> bytes:
    rows = [
        {
            "id": number, "type": "message", "date": at(number).isoformat(), "from": _name(message),
            "from_id": "user1" if message.by_user else "user2", "date_unixtime": str(int(aware(number).timestamp())),
            "text": message.text if number % 2 else [message.text[:1], {"type": "bold", "text": message.text[1:]}],
        }
        for number, message in enumerate(messages)
    ]  # fmt: skip
    return _json({"name": "Mira", "type": "personal_chat", "id": 2, "messages": rows})


def discord(messages: Sequence[ChatMessage]) -> bytes:
    rows = [
        {
            "id": str(number), "type": "Default", "timestamp": aware(number).isoformat(), "content": message.text,
            "author": {"id": "1" if message.by_user else "2", "name": _name(message), "nickname": "", "isBot": False},
            "attachments": [], "embeds": [], "stickers": [],
        }
        for number, message in enumerate(messages)
    ]  # fmt: skip
    channel = {"id": "7", "type": "DirectTextChat", "name": "mira"}
    return _json({"guild": {"id": "0", "name": "Direct Messages"}, "channel": channel, "messages": rows})


def sillytavern(messages: Sequence[ChatMessage]) -> bytes:
    rows: list[dict[str, Any]] = [{"user_name": "Ana", "character_name": "Mira", "create_date": "2023-12-30@08h00m00s"}]
    rows += [
        {
            "name": _name(message),
            "is_user": message.by_user,
            "send_date": aware(number).isoformat(),
            "mes": message.text,
        }
        for number, message in enumerate(messages)
    ]
    return b"".join(_json(row) + b"\n" for row in rows)


def ooba(messages: Sequence[ChatMessage]) -> bytes:
    return _json(
        {
            "data": [],
            "data_visible": [[message.text, ""] if message.by_user else ["", message.text] for message in messages],
        }
    )


def agnai(messages: Sequence[ChatMessage]) -> bytes:
    rows = [
        {
            "_id": str(number),
            "userId" if message.by_user else "characterId": "x",
            "msg": message.text,
            "handle": _name(message),
        }
        for number, message in enumerate(messages)
    ]
    return _json({"name": "Evening", "messages": rows})


def cai_tools(messages: Sequence[ChatMessage]) -> bytes:
    rows = [
        {"src": {"is_human": message.by_user, "name": _name(message)}, "text": message.text} for message in messages
    ]
    return _json({"histories": {"histories": [{"external_id": "h", "msgs": rows}]}})


def kobold_lite(messages: Sequence[ChatMessage]) -> bytes:
    marks = {True: "{{[INPUT]}}", False: "{{[OUTPUT]}}"}
    actions = [f"\n{marks[message.by_user]}\n{message.text}" for message in messages]
    return _json({"prompt": "", "actions": actions, "savedsettings": {"chatname": "Ana", "chatopponent": "Mira"}})


def risu(messages: Sequence[ChatMessage]) -> bytes:
    rows = [
        {
            "role": "user" if message.by_user else "char",
            "name": _name(message),
            "data": message.text,
            "time": 1687184550000,
        }
        for message in messages
    ]
    return _json({"type": "risuChat", "ver": 1, "data": {"name": "Evening", "message": rows}})


def qq(messages: Sequence[ChatMessage]) -> bytes:
    numbers = {True: 10001, False: 10002}
    return "".join(
        f"{at(n):%Y-%m-%d %H:%M:%S} {_name(message)}({numbers[message.by_user]})\n{message.text}\n\n"
        for n, message in enumerate(messages)
    ).encode()


def line_of_japan(messages: Sequence[ChatMessage]) -> bytes:
    """LINE: a heading for each day, then its messages."""
    parts = []
    days = ["", *(f"{at(n):%Y/%m/%d}" for n in range(len(messages)))]
    for n, message in enumerate(messages):
        day = f"\n{days[n + 1]}(金)\n" if days[n] != days[n + 1] else ""
        words = '"' + message.text.replace('"', '""') + '"' if "\n" in message.text else message.text
        parts.append(f"{day}{at(n):%H:%M}\t{_name(message)}\t{words}\n")
    return "".join(parts).encode()


def transcript(messages: Sequence[ChatMessage]) -> bytes:
    return "\n\n".join(f"{_name(message)}: {message.text}" for message in messages).encode()


FormatWriter = Callable[[Sequence[ChatMessage]], bytes]
# Each with the name of the format that reads it.
FORMAT_WRITERS: list[tuple[str, FormatWriter]] = [
    ("chatgpt", chatgpt), ("claude", claude), ("claude", claude_lines), ("whatsapp", whatsapp_dashed),
    ("whatsapp", whatsapp_bracketed), ("telegram", telegram), ("discord", discord), ("sillytavern", sillytavern),
    ("ooba", ooba), ("agnai", agnai), ("cai_tools", cai_tools), ("kobold_lite", kobold_lite), ("risu", risu),
    ("transcript", transcript), ("chatlog", qq), ("chatlog", line_of_japan),
]  # fmt: skip
