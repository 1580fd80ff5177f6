"""`manage.py check_care`: for each message of a file whether help would be shown."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def check(file: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("check_care", file, json=True, stdout=out)
    return [json.loads(row) for row in out.getvalue().splitlines()]


def test_every_line_has_an_answer_under_its_own_number(tmp_path: Path) -> None:
    file = tmp_path / "messages.txt"
    file.write_text("I want to die\n\nhello\u2028there\r\n我不想活了\r   \nsee you", encoding="utf-8")
    expected = [True, False, False, True, False, False]
    assert check(str(file)) == [{"line": number, "help": is_cry} for number, is_cry in enumerate(expected, start=1)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_the_encoding_is_found(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "messages.txt"
    file.write_bytes("我不想活了\n今天吃什么\n".encode(encoding))
    assert [row["help"] for row in check(str(file))] == [True, False]


def test_broken_bytes_cost_only_their_own_line(tmp_path: Path) -> None:
    file = tmp_path / "messages.txt"
    file.write_bytes(b"\xff\x00\n\xc3\nI want to die\n")
    assert [row["help"] for row in check(str(file))][-1] is True
    file.write_bytes(b"")
    assert check(str(file)) == []


def test_standard_input_is_read_and_a_missing_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"I want to die\nhello")))
    assert [row["help"] for row in check("-")] == [True, False]
    with pytest.raises(CommandError, match="cannot be read"):
        check(str(tmp_path / "none.txt"))


def test_people_read_a_table(tmp_path: Path) -> None:
    file = tmp_path / "messages.txt"
    file.write_text("I want to die\nhello\n", encoding="utf-8")
    out = io.StringIO()
    call_command("check_care", str(file), stdout=out)
    rows = out.getvalue().splitlines()
    assert rows[0].split() == ["1", "help", "I", "want", "to", "die"]
    assert rows[2].startswith("help beside 1 of 2 messages; ")
