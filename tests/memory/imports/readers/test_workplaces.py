"""Chats between people as exported by Slack, Google Chat and Discord."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.slack import readable
from memory.imports.readers.types import FileSession, ImportRejected, is_between_people
from tests.memory.imports.readers.sources import messages_of, skips_of, source_of, zip_source
from tests.table import each_row

USERS = [
    {"id": "U1", "name": "ana", "real_name": "Ana Silva", "profile": {"display_name": "ana"}},
    {"id": "U2", "name": "ben", "profile": {"real_name": "Ben Weiß", "display_name": "benny"}},
    {"id": "U9", "name": "deploy", "is_bot": True, "profile": {"real_name": "Deploy"}},
]


def post_of(user: str, text: str, ts: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


SLACK = {
    "users.json": json.dumps(USERS),
    "channels.json": json.dumps([{"id": "C1", "name": "general", "members": ["U1", "U2"]}]),
    "dms.json": json.dumps([{"id": "D7", "members": ["U1", "U2"]}]),
    "general/2024-01-06.json": json.dumps([post_of("U2", "later &amp; better", "1704531600.000100")]),
    "general/2024-01-05.json": json.dumps(
        [
            post_of("U1", "I &lt;3 this, <@U2>! See <#C1|general> and <https://a.example|the plan>", "1704445200.0001"),
            post_of("U2", "<@U2> has joined the channel", "1704445201.0", subtype="channel_join"),
            post_of("U2", "a reply", "1704445300.0", thread_ts="1704445200.0001"),
            post_of("U1", "", "1704445400.0", files=[{"name": "a.png"}]),
            post_of("U1", "look", "1704445401.0", files=[{"name": "a.png"}]),
            post_of("", "deployed", "1704445500.0", subtype="bot_message", bot_id="B1", username="CI"),
            post_of("U1", "This message was deleted.", "1704445600.0", subtype="tombstone"),
            3,
        ]
    ),
    "D7/2024-01-05.json": json.dumps([post_of("U3", "who am I", "1704445200.5", user_profile={"real_name": "Cy"})]),
    "integration_logs.json": "[]",
}  # fmt: skip


@each_row("top", ["", "Acme Slack export Jan 1 2024/"])
def test_a_slack_export_is_read_with_names_and_without_its_marks(top: str) -> None:
    source = zip_source({f"{top}{name}": text for name, text in SLACK.items()})
    assert recognize(source).name == "slack"
    assert is_between_people(recognize(source))
    items = list(read(source))
    sessions = {session.title: session for session in items if isinstance(session, FileSession)}
    assert [(message.speaker, message.text, message.role) for message in sessions["general"].lines] == [
        ("Ana Silva", "I <3 this, @Ben Weiß! See #general and the plan (https://a.example)", ""),
        ("Ben Weiß", "a reply", ""),
        ("Ana Silva", "look", ""),
        ("CI", "deployed", "other"),
        ("Ben Weiß", "later & better", ""),
    ]
    assert [message.speaker for message in sessions["Ana Silva, Ben Weiß"].lines] == ["Cy"]
    assert sorted(skips_of(items)) == ["broken", "deleted", "media", "media", "notice", *["settings"] * 4]


def test_one_day_of_slack_is_read_by_itself() -> None:
    source = source_of(SLACK["general/2024-01-05.json"], "2024-01-05.json")
    assert recognize(source).name == "slack"
    assert [message.speaker for message in messages_of(list(read(source)))] == ["U1", "U2", "U1", "CI"]


def test_marks_of_slack_are_shown_as_they_were() -> None:
    people, channels = {"U2": "Ben"}, {"C1": "general"}
    for text, expected in {
        "<!here> <!channel|@channel> <#C1> <@U5|cy> <@U6>": "@here @channel #general @cy @U6",
        "<https://a.example/?x=1&amp;y=2>": "https://a.example/?x=1&y=2",
        "<mailto:a@b.example|a@b.example>": "a@b.example",
        "1 &lt; 2 &gt; 0 &amp;lt;": "1 < 2 > 0 &lt;",
        "a < b": "a < b",
    }.items():
        assert readable(text, people, channels) == expected


CHAT = {
    "messages": [
        {
            "creator": {"name": "Ben", "email": "ben@b.example", "user_type": "Human"}, "message_id": "x/1/1",
            "created_date": "Sunday, May 24, 2020 at 10:14:22 PM UTC", "text": "Hello Ana",
        },
        {
            "creator": {"name": "Ana", "email": "ana@a.example"}, "message_id": "x/1/2",
            "created_date": "Sonntag, 24. Mai 2020 um 22:15:00 UTC", "text": "Hallo",
        },
        {"creator": {"name": "Ana"}, "created_date": "Sunday, May 24, 2020 at 10:16:22 PM UTC", "attached_files": [{}]},
        {"creator": {"name": "Ben"}, "created_date": "Sunday, May 24, 2020", "message_state": "DELETED"},
    ]
}  # fmt: skip


def test_google_chat_is_read_from_its_zip() -> None:
    info = {"members": [{"name": "Ana", "email": "ana@a.example"}, {"name": "Ben", "email": "ben@b.example"}]}
    for groups in ("Takeout/Google Chat/Groups", "Takeout/Google Chat/Gruppen"):
        source = zip_source(
            {
                f"{groups}/DM abc/messages.json": json.dumps(CHAT),
                f"{groups}/DM abc/group_info.json": json.dumps(info),
                "Takeout/Google Chat/Users/User 1/user_info.json": json.dumps({"user": {"email": "ana@a.example"}}),
                f"{groups}/DM abc/a.png": b"x",
            }
        )  # fmt: skip
        assert recognize(source).name == "google_chat"
        items = list(read(source))
        (session,) = (session for session in items if isinstance(session, FileSession))
        assert (session.title, session.source_id) == ("Ben", "DM abc")
        assert [(message.speaker, message.text, message.role, message.at) for message in session.lines] == [
            ("Ben", "Hello Ana", "", datetime(2020, 5, 24, 22, 14, 22, tzinfo=UTC)),
            ("Ana", "Hallo", "user", datetime(2020, 5, 24, 22, 15, tzinfo=UTC)),
        ]
        assert sorted(skips_of(items)) == ["deleted", "media", "media", "settings", "settings"]
    assert recognize(source_of(json.dumps(CHAT), "messages.json")).name == "google_chat"


WRITTEN = [
    {"ID": 3, "Timestamp": "2024-01-05 10:02:00", "Contents": "third", "Attachments": ""},
    {"ID": 2, "Timestamp": "2024-01-05 10:01:00", "Contents": "", "Attachments": "https://cdn.example/a.png"},
    {"ID": 1, "Timestamp": "2024-01-05 10:00:00", "Contents": "first, with a picture", "Attachments": "https://b.example"},
]  # fmt: skip
AS_CSV = (
    'ID,Timestamp,Contents,Attachments\n7,2021-01-05 10:02:00.123000+00:00,"two\nlines",\n'
    "6,2021-01-05 10:01:00.123000+00:00,one,\n"
)


@each_row("top", ["messages", "package/Nachrichten", "Messages"])
def test_the_package_of_discord_holds_what_the_owner_wrote(top: str) -> None:
    source = zip_source(
        {
            f"{top}/c12/messages.json": json.dumps(WRITTEN),
            f"{top}/c12/channel.json": json.dumps({"id": "12", "type": "DM", "recipients": ["1", "2"]}),
            f"{top}/c13/messages.csv": AS_CSV,
            f"{top}/c13/channel.json": json.dumps({"id": "13", "name": "general", "guild": {"name": "Home"}}),
            f"{top}/c14/messages.json": "[]",
            f"{top}/index.json": json.dumps({"12": "Direct Message with ben#0", "13": "general in Home"}),
            "account/user.json": json.dumps({"id": "1", "username": "ana_s", "global_name": "Ana"}),
            "activity/analytics/events-1.json": "{}",
        }
    )  # fmt: skip
    assert recognize(source).name == "discord_package"
    items = list(read(source))
    sessions = {
        session.title: [(message.speaker, message.text, message.role) for message in session.lines]
        for session in items
        if isinstance(session, FileSession)
    }
    assert sessions == {
        "ben": [("Ana", "first, with a picture", "user"), ("Ana", "third", "user")],
        "Home / general": [("Ana", "one", "user"), ("Ana", "two\nlines", "user")],
    }
    assert all(message.at and message.at.tzinfo for message in messages_of(items))
    assert [reason for reason in skips_of(items) if reason != "settings"] == ["media", "media"]


def test_one_file_of_discords_package_is_read() -> None:
    for text, name in ((json.dumps(WRITTEN), "messages.json"), (AS_CSV, "messages.csv")):
        assert recognize(source_of(text, name)).name == "discord_package"
        assert {message.role for message in messages_of(list(read(source_of(text, name))))} == {"user"}


@each_row(
    "members",
    [
        {name: text for name, text in SLACK.items() if "2024-01-05" not in name} | {"general/2024-01-06.json": "[{]"},
        {"messages/c1/messages.json": json.dumps(WRITTEN)[:-9]},
        {"Google Chat/Groups/x/messages.json": json.dumps(CHAT)[:-20]},
    ],
)
def test_a_damaged_file_is_named(members: dict[str, str]) -> None:
    with pytest.raises(ImportRejected) as rejected:
        list(read(zip_source(members)))
    assert rejected.value.code == "not_json"
    assert rejected.value.location.split(",")[0] in members
