"""Telegram Desktop's export."""

import json
from datetime import UTC, datetime

from memory.importers import recognised
from memory.importers.telegram import Telegram
from memory.importers.types import Skipped, Talk
from tests.memory.importers.given import FILES, fixture, found_by, given, lines_of, skips_of, zipped


def test_one_chat_is_read() -> None:
    found = found_by(Telegram(), fixture("telegram_chat.json"))
    assert [(line.speaker, line.role, line.text) for line in lines_of(found)] == [
        ("Ana", "user", "Happy new year!"),
        ("Mira", "", "See https://example.org and smile"),
        ("Ana", "user", "The sea"),
        ("The Paper", "other", "News of the day"),
        ("Mira", "", "回复你"),
    ]
    assert skips_of(found) == ["notice", "media", "media", "media"]
    line = lines_of(found)[0]
    assert (line.at, line.source_id) == (datetime(2023, 12, 31, 13, 5, 2, tzinfo=UTC), "200/2")


def test_all_chats_of_an_account_are_read_each_by_itself() -> None:
    found = found_by(Telegram(), fixture("telegram_full.json"))
    talks = [talk for talk in found if isinstance(talk, Talk)]
    assert [(talk.title, talk.source_id, talk.where) for talk in talks] == [
        ("Mira", "200", "chat 2"), ("Friends", "500", "chat 3"), ("", "100", "chat 4"),
    ]  # fmt: skip
    assert [line.role for line in talks[2].lines] == ["user"]
    assert Skipped("contacts", "settings") in found


def test_people_of_one_name_are_told_apart() -> None:
    friends = [talk for talk in found_by(Telegram(), fixture("telegram_full.json")) if isinstance(talk, Talk)][1]
    assert [(line.speaker, line.role) for line in friends.lines] == [("Ana", "user"), ("Ben", ""), ("Ben (301)", "")]


def test_old_exports_have_local_times() -> None:
    friends = [talk for talk in found_by(Telegram(), fixture("telegram_full.json")) if isinstance(talk, Talk)][1]
    assert friends.lines[0].at == datetime(2018, 3, 4, 10, 0)


def test_a_bot_is_the_persona_of_its_chat() -> None:
    messages = [
        {"id": 1, "type": "message", "from": "Mira", "from_id": "user7", "text": "Hello"},
        {"id": 2, "type": "message", "from": "Ana", "from_id": "user1", "text": "Hi"},
    ]
    data = json.dumps({"name": "Mira", "type": "bot_chat", "id": 7, "messages": messages})
    assert [line.role for line in lines_of(found_by(Telegram(), given(data)))] == ["persona", "user"]


def test_the_zip_of_its_folder_is_read() -> None:
    source = zipped({"ChatExport/result.json": (FILES / "telegram_chat.json").read_bytes(), "ChatExport/1.jpg": b"x"})
    assert recognised(source).name == "telegram"
    found = found_by(Telegram(), source)
    assert len(lines_of(found)) == 5
    assert Skipped("ChatExport/1.jpg", "media") in found
