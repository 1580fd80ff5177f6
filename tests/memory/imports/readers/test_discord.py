"""The JSON of DiscordChatExporter."""

import json
from datetime import datetime, timedelta
from typing import Any

from memory.imports.readers import recognize
from memory.imports.readers.discord import Discord
from memory.imports.readers.types import FileSession, Skipped
from tests.memory.imports.readers.sources import (
    FILES,
    fixture,
    messages_of,
    read_items,
    skips_of,
    source_of,
    zip_source,
)
from tests.table import each_row

DATA: dict[str, Any] = json.loads((FILES / "discord.json").read_bytes())


def test_a_session_is_read() -> None:
    items = read_items(Discord(), fixture("discord.json"))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == [
        ("Ana", "", "Hello there"), ("Mira", "", "Hi!"), ("Ana", "", "Look"), ("Mirabot", "persona", "I am a bot"),
    ]  # fmt: skip
    assert skips_of(items) == ["media", "media", "notice"]
    assert [(session.title, session.source_id) for session in items if isinstance(session, FileSession)] == [
        ("mira", "77")
    ]


def test_times_keep_their_offset() -> None:
    at = messages_of(read_items(Discord(), fixture("discord.json")))[0].at
    assert at is not None
    assert at.replace(tzinfo=None) == datetime(2023, 12, 31, 21, 5, 1, 123_000)
    assert at.utcoffset() == timedelta(hours=1)


def test_a_channel_is_called_by_its_server_and_its_bots_are_others() -> None:
    data = DATA | {
        "guild": {"id": "5", "name": "Garden"}, "channel": {"id": "9", "type": "GuildTextChat", "name": "roses"},
    }  # fmt: skip
    items = read_items(Discord(), source_of(json.dumps(data)))
    assert [session.title for session in items if isinstance(session, FileSession)] == ["Garden / roses"]
    assert messages_of(items)[-1].role == "other"


def test_a_channel_without_messages_gives_nothing() -> None:
    assert read_items(Discord(), source_of(json.dumps(DATA | {"messages": []}))) == []


def with_messages(*changes: dict[str, Any]) -> str:
    plain = DATA["messages"][0] | {"attachments": [], "stickers": [], "embeds": []}
    return json.dumps(DATA | {"messages": [plain | {"id": str(n)} | change for n, change in enumerate(changes)]})


def test_a_forwarded_message_has_another_speaker() -> None:
    forwarded_message = {"content": "The sea is warm.", "attachments": [], "embeds": [], "stickers": []}
    items = read_items(Discord(), source_of(with_messages({"content": "", "forwardedMessage": forwarded_message})))
    assert [(message.text, message.role) for message in messages_of(items)] == [("The sea is warm.", "other")]
    assert messages_of(items)[0].speaker != messages_of(read_items(Discord(), source_of(with_messages({}))))[0].speaker
    assert skips_of(items) == []


@each_row(("kind", "message_count"), [("0", 1), ("7", 0), ("18", 0), ("19", 1), ("20", 1), ("46", 0), ("99", 1)])
def test_kinds_without_a_name_are_those_of_discord(kind: str, message_count: int) -> None:
    items = read_items(Discord(), source_of(with_messages({"type": kind})))
    assert (len(messages_of(items)), skips_of(items)) == (message_count, ["notice"] * (1 - message_count))


def test_what_is_no_channel_in_a_zip_is_told() -> None:
    data = (FILES / "discord.json").read_bytes()
    source = zip_source({"a_settings.json": "{}", "b.json": data, "c.json": '{"guild":', "d.png": b"x"})
    assert recognize(source).name == "discord"
    items = read_items(Discord(), source)
    aside = [skip for skip in items if isinstance(skip, Skipped) and "." in skip.location]
    assert aside == [Skipped("a_settings.json", "unknown"), Skipped("c.json", "unknown"), Skipped("d.png", "media")]
    assert len(messages_of(items)) == 4


def test_several_channels_in_a_zip_are_read() -> None:
    data = (FILES / "discord.json").read_bytes()
    source = zip_source({"a.json": data, "b.json": data.replace(b'"77"', b'"78"'), "a_Files/x.png": b"x"})
    assert recognize(source).name == "discord"
    sessions = [session for session in read_items(Discord(), source) if isinstance(session, FileSession)]
    assert [session.source_id for session in sessions] == ["77", "78"]
