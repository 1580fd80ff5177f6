"""Lines as each format of talk would write them: what its reader has to give back."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

BEGIN = datetime(2023, 12, 30, 8, 0, 0)


class Spoken(NamedTuple):
    by_user: bool
    text: str


def at(number: int) -> datetime:
    return BEGIN + timedelta(seconds=37 * number)


def aware(number: int) -> datetime:
    return at(number).replace(tzinfo=UTC)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def chatgpt(lines: Sequence[Spoken]) -> bytes:
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["0"], "message": None}}
    for number, line in enumerate(lines):
        parent = str(number - 1) if number else "root"
        role = "user" if line.by_user else "assistant"
        message = {
            "id": f"m{number}", "author": {"role": role}, "create_time": aware(number).timestamp(), "recipient": "all",
            "content": {"content_type": "text", "parts": [line.text]}, "weight": 1.0, "metadata": {},
        }  # fmt: skip
        nodes[str(number)] = {"id": str(number), "parent": parent, "children": [str(number + 1)], "message": message}
    current = str(len(lines) - 1) if lines else "root"
    return _json([{"id": "c", "title": "A talk", "mapping": nodes, "current_node": current}])


def claude(lines: Sequence[Spoken]) -> bytes:
    return _json([_claude_conversation(lines)])


def claude_lines(lines: Sequence[Spoken]) -> bytes:
    return _json(_claude_conversation(lines)) + b"\n"


def _claude_conversation(lines: Sequence[Spoken]) -> dict[str, Any]:
    messages = [
        {
            "uuid": f"m{number}", "sender": "human" if line.by_user else "assistant", "text": line.text,
            "content": [{"type": "text", "text": line.text}], "created_at": aware(number).isoformat(), "files": [],
        }
        for number, line in enumerate(lines)
    ]  # fmt: skip
    return {"uuid": "k", "name": "A talk", "chat_messages": messages}


def _name(line: Spoken) -> str:
    return "Ana" if line.by_user else "Mira"


def whatsapp_dashed(lines: Sequence[Spoken]) -> bytes:
    return "".join(f"{at(n):%d/%m/%Y, %H:%M} - {_name(line)}: {line.text}\n" for n, line in enumerate(lines)).encode()


def whatsapp_bracketed(lines: Sequence[Spoken]) -> bytes:
    stamped = (f"[{at(n):%m/%d/%y, %I:%M:%S\u202f%p}] {_name(line)}: {line.text}\n" for n, line in enumerate(lines))
    return "".join(stamped).encode()


def telegram(lines: Sequence[Spoken]) -> bytes:
    messages = [
        {
            "id": number, "type": "message", "date": at(number).isoformat(), "from": _name(line),
            "from_id": "user1" if line.by_user else "user2", "date_unixtime": str(int(aware(number).timestamp())),
            "text": line.text if number % 2 else [line.text[:1], {"type": "bold", "text": line.text[1:]}],
        }
        for number, line in enumerate(lines)
    ]  # fmt: skip
    return _json({"name": "Mira", "type": "personal_chat", "id": 2, "messages": messages})


def discord(lines: Sequence[Spoken]) -> bytes:
    messages = [
        {
            "id": str(number), "type": "Default", "timestamp": aware(number).isoformat(), "content": line.text,
            "author": {"id": "1" if line.by_user else "2", "name": _name(line), "nickname": "", "isBot": False},
            "attachments": [], "embeds": [], "stickers": [],
        }
        for number, line in enumerate(lines)
    ]  # fmt: skip
    channel = {"id": "7", "type": "DirectTextChat", "name": "mira"}
    return _json({"guild": {"id": "0", "name": "Direct Messages"}, "channel": channel, "messages": messages})


def sillytavern(lines: Sequence[Spoken]) -> bytes:
    rows: list[dict[str, Any]] = [{"user_name": "Ana", "character_name": "Mira", "create_date": "2023-12-30@08h00m00s"}]
    rows += [
        {"name": _name(line), "is_user": line.by_user, "send_date": aware(number).isoformat(), "mes": line.text}
        for number, line in enumerate(lines)
    ]
    return b"".join(_json(row) + b"\n" for row in rows)


def ooba(lines: Sequence[Spoken]) -> bytes:
    return _json({"data": [], "data_visible": [[line.text, ""] if line.by_user else ["", line.text] for line in lines]})


def agnai(lines: Sequence[Spoken]) -> bytes:
    messages = [
        {"_id": str(number), "userId" if line.by_user else "characterId": "x", "msg": line.text, "handle": _name(line)}
        for number, line in enumerate(lines)
    ]
    return _json({"name": "Evening", "messages": messages})


def cai_tools(lines: Sequence[Spoken]) -> bytes:
    messages = [{"src": {"is_human": line.by_user, "name": _name(line)}, "text": line.text} for line in lines]
    return _json({"histories": {"histories": [{"external_id": "h", "msgs": messages}]}})


def kobold_lite(lines: Sequence[Spoken]) -> bytes:
    marks = {True: "{{[INPUT]}}", False: "{{[OUTPUT]}}"}
    actions = [f"\n{marks[line.by_user]}\n{line.text}" for line in lines]
    return _json({"prompt": "", "actions": actions, "savedsettings": {"chatname": "Ana", "chatopponent": "Mira"}})


def risu(lines: Sequence[Spoken]) -> bytes:
    messages = [
        {"role": "user" if line.by_user else "char", "name": _name(line), "data": line.text, "time": 1687184550000}
        for line in lines
    ]
    return _json({"type": "risuChat", "ver": 1, "data": {"name": "Evening", "message": messages}})


def qq(lines: Sequence[Spoken]) -> bytes:
    numbers = {True: 10001, False: 10002}
    return "".join(
        f"{at(n):%Y-%m-%d %H:%M:%S} {_name(line)}({numbers[line.by_user]})\n{line.text}\n\n"
        for n, line in enumerate(lines)
    ).encode()


def line_of_japan(lines: Sequence[Spoken]) -> bytes:
    """Under a line for each day."""
    parts = []
    days = ["", *(f"{at(n):%Y/%m/%d}" for n in range(len(lines)))]
    for n, line in enumerate(lines):
        day = f"\n{days[n + 1]}(金)\n" if days[n] != days[n + 1] else ""
        words = '"' + line.text.replace('"', '""') + '"' if "\n" in line.text else line.text
        parts.append(f"{day}{at(n):%H:%M}\t{_name(line)}\t{words}\n")
    return "".join(parts).encode()


def transcript(lines: Sequence[Spoken]) -> bytes:
    return "\n\n".join(f"{_name(line)}: {line.text}" for line in lines).encode()


Render = Callable[[Sequence[Spoken]], bytes]
# By the name of the format that reads it.
RENDERED: list[tuple[str, Render]] = [
    ("chatgpt", chatgpt), ("claude", claude), ("claude", claude_lines), ("whatsapp", whatsapp_dashed),
    ("whatsapp", whatsapp_bracketed), ("telegram", telegram), ("discord", discord), ("sillytavern", sillytavern),
    ("ooba", ooba), ("agnai", agnai), ("cai_tools", cai_tools), ("kobold_lite", kobold_lite), ("risu", risu),
    ("transcript", transcript), ("chatlog", qq), ("chatlog", line_of_japan),
]  # fmt: skip
