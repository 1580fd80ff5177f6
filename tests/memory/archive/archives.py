"""Tiny archives for the tests of import and recall."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from memory.archive import ImportResult, import_archive

AT = "2026-01-03T10:00:00+00:00"
HEADER = {"type": "header", "format": "echovessel-archive", "version": 1}
PERSONA = {
    "type": "persona",
    "id": "mira-1",
    "name": "Mira",
    "user_name": "Ana",
    "timezone": "Asia/Shanghai",
    "blocks": {"persona": "Mira loves the sea.", "user": "Ana lives in Lisbon.", "style": "Short."},
}


def session(key: str, **values: Any) -> dict[str, Any]:
    return {
        "type": "session",
        "id": key,
        "channel": "web",
        "status": "closed",
        "started_at": AT,
        "closed_at": AT,
    } | values


def message(key: str, content: str, of: str = "s1", role: str = "user", at: str = AT, **values: Any) -> dict[str, Any]:
    return {"type": "message", "id": key, "session": of, "role": role, "content": content, "created_at": at} | values


def node(key: str, description: str, **values: Any) -> dict[str, Any]:
    return {"type": "node", "id": key, "kind": "event", "description": description, "created_at": AT} | values


def entity(key: str, name: str, **values: Any) -> dict[str, Any]:
    return {"type": "entity", "id": key, "name": name, "kind": "pet"} | values


SMALL = (
    HEADER,
    PERSONA,
    session("s1", summary="About the cat."),
    message("m1", "I adopted a white cat called Blackie.", at="2026-01-03T10:00:00+00:00"),
    message("m2", "How lovely! Does she scratch the sofa?", role="persona", at="2026-01-03T10:00:20+00:00"),
    message("m3", "Only my grandmother's old armchair.", at="2026-01-03T10:00:40+00:00"),
    node(
        "n1",
        "Ana adopted a white cat named Blackie.",
        session="s1",
        emotional_impact=4,
        evidence=[{"message": "m1", "quote": "a white cat called Blackie"}],
        messages=["m1"],
        event_time={"start": "2026-01-02", "end": "2026-01-03"},
    ),
    node("n2", "Ana is gentle with animals.", kind="thought", filling=["n1"]),
    node("n0", "Ana has no pets.", superseded_by="n1"),
    entity("e1", "Blackie", aliases=["小黑"], nodes=["n1"], description="Ana's white cat."),
)


def write_archive(path: Path, lines: tuple[Mapping[str, Any] | str | bytes, ...]) -> Path:
    """Write an archive file; strings and bytes are written as they are."""
    raw = (
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    )
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def import_lines(path: Path, owner: User, *lines: Mapping[str, Any], **options: Any) -> ImportResult:
    with write_archive(path / "archive.jsonl", lines or SMALL).open("rb") as file:
        return import_archive(file, owner, **options)
