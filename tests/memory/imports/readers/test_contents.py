"""A refusal says in one sentence what is in the file, in the language of whoever reads it."""

import json
from typing import Any
from unittest.mock import patch

import pytest

from memory.imports.readers import read
from memory.imports.readers.contents import contents_of
from memory.imports.readers.reasons import KINDS, describe_contents
from memory.imports.readers.types import ImportRejected
from tests.memory.imports.readers.sources import source_of, zip_source
from tests.table import each_row


def rejection_of(data: Any, name: str = "file") -> ImportRejected:
    source = zip_source(data, name) if isinstance(data, dict) else source_of(data, name)
    with pytest.raises(ImportRejected) as rejected:
        list(read(source))
    return rejected.value


def test_a_zip_without_conversations_says_what_it_holds() -> None:
    members: dict[str, bytes | str] = {f"{number}.jpg": b"\xff\xd8" for number in range(214)}
    members |= {f"{number}.html": "<html><body>Hi</body></html>" for number in range(3)}
    rejected = rejection_of(members, "a.zip")
    assert rejected.reason == "The zip contains 214 pictures and 3 web pages, but no conversations."
    assert str(rejection_of({"a.mp4": b"x", "b.bin": b"x", "c.json": "{}"}, "b.zip")).endswith(
        "The zip contains 1 video, 1 other file and 1 JSON file, but no conversations."
    )
    assert describe_contents("zip:") == "The zip is empty."


def test_json_without_conversations_says_its_fields() -> None:
    rejected = rejection_of(json.dumps({"settings": {"theme": 1}, "devices": [1], "版本": 3, "Ana Silva": 1}))
    assert rejected.reason == "JSON with the fields devices, settings: none of them contains messages."
    assert rejection_of(json.dumps([{"width": 3, "height": 4}])).reason.startswith(
        "JSON with the fields height, width:"
    )
    for empty in ("[]", "{}", " [ ] "):
        assert rejection_of(empty).reason == "The JSON in it is empty."
    assert rejection_of("[[[").reason == "This is not JSON, or it is damaged or cut off."
    assert rejection_of("[1, 2]").reason


@each_row(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "pdf"), (b"SQLite format 3\0", "database"), (b"\x1f\x8b\x08\0", "packed"),
        (b"\0\0\0\x20ftypisom\0", "video"), (b"OggS\0\x02", "recording"), (b"Rar!\x1a\x07\x01\0", "packed"),
        ({"word/document.xml": "<a/>", "[Content_Types].xml": "<a/>"}, "document"),
        ({"xl/workbook.xml": "<a/>"}, "spreadsheet"),
    ],
)  # fmt: skip
def test_a_binary_file_is_rejected_with_its_kind(data: Any, kind: str) -> None:
    assert rejection_of(data).reason == str(KINDS[kind])


def test_a_stored_refusal_is_translated_when_shown() -> None:
    assert contents_of(zip_source({"1.jpg": b"x", "2.jpg": b"x", "3.html": "x"})) == "zip:pictures=2,pages=1"
    with patch(
        "memory.imports.readers.reasons.gettext",
        lambda words: {"The zip is empty.": "压缩包是空的。"}.get(words, words),
    ):
        assert describe_contents("zip:") == "压缩包是空的。"
    assert all(describe_contents(strange) for strange in ("", "kind:?", "zip:", "json:", "x"))
