"""Telegram Desktop's export."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.imports.readers import read, recognize, speakers
from memory.imports.readers.telegram import Telegram
from memory.imports.readers.types import FileSession, ImportRejected, Skipped
from tests.memory.imports.readers.sources import (
    FILES,
    fixture,
    messages_of,
    read_items,
    skips_of,
    source_of,
    zip_source,
)


def test_one_chat_is_read() -> None:
    items = read_items(Telegram(), fixture("telegram_chat.json"))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == [
        ("Ana", "user", "Happy new year!"),
        ("Mira", "", "See https://example.org and smile"),
        ("Ana", "user", "The sea"),
        ("The Paper", "other", "News of the day"),
        ("Mira", "", "回复你"),
    ]
    assert skips_of(items) == ["notice", "media", "media", "media"]
    message = messages_of(items)[0]
    assert (message.at, message.source_id) == (datetime(2023, 12, 31, 13, 5, 2, tzinfo=UTC), "200/2")


def test_all_chats_of_an_account_are_read_each_by_itself() -> None:
    items = read_items(Telegram(), fixture("telegram_full.json"))
    sessions = [session for session in items if isinstance(session, FileSession)]
    assert [(session.title, session.source_id, session.location) for session in sessions] == [
        ("Mira", "200", "chat 2"), ("Friends", "500", "chat 3"), ("", "100", "chat 4"),
    ]  # fmt: skip
    assert [message.role for message in sessions[2].lines] == ["user"]
    assert Skipped("contacts", "settings") in items


def export_chat(*messages: dict[str, Any], **chat: Any) -> str:
    export = {"name": "Mira", "type": "personal_chat", "id": 7} | chat
    return json.dumps(
        export | {"messages": [{"type": "message", "date": "2024-01-05T10:00:00"} | message for message in messages]}
    )


def hello(number: int, person: int = 7) -> dict[str, Any]:
    return {"id": number, "from": {7: "Mira", 1: "Ana"}[person], "from_id": f"user{person}", "text": f"Hello {number}"}


def test_the_first_chat_of_an_account_has_its_name_as_all_others() -> None:
    chats = [json.loads(export_chat(hello(1), id=number, name=name)) for number, name in ((7, "Mira"), (8, "Ben"))]
    aside = {"personal_information": {"user_id": 1}, "contacts": {"list": []}, "frequent_contacts": {"list": []}}
    data = json.dumps({"about": "…"} | aside | {"chats": {"about": "…", "list": chats}})
    sessions = [session for session in read_items(Telegram(), source_of(data)) if isinstance(session, FileSession)]
    assert [(session.title, session.source_id) for session in sessions] == [("Mira", "7"), ("Ben", "8")]


def test_several_exports_in_a_zip_are_all_read() -> None:
    source = zip_source(
        {"a/result.json": export_chat(hello(1)), "b/result (1).json": export_chat(hello(2), id=8, name="Ben")}
    )
    assert recognize(source).name == "telegram"
    assert [message.text for message in messages_of(read_items(Telegram(), source))] == ["Hello 1", "Hello 2"]


def test_a_broken_export_in_a_zip_is_named() -> None:
    source = zip_source({"a/result.json": export_chat(hello(1))[:-9]})
    with pytest.raises(ImportRejected) as rejected:
        read_items(Telegram(), source)
    assert rejected.value.location.startswith("a/result.json, ")


def test_a_list_is_what_stands_in_it_and_a_poll_is_nobodys_words() -> None:
    poll = {"question": "Where to?", "answers": [{"text": "The sea", "voters": 1}, {"text": "Home", "voters": 0}]}
    data = export_chat(
        {"from": "Ana", "text": "", "poll": poll}, {"from": "Ana", "text": "", "todo_list": {"title": "Buy"}}
    )
    items = read_items(Telegram(), source_of(data))
    assert [message.text for message in messages_of(items)] == ["Buy"]
    assert skips_of(items) == ["media"]


def test_what_is_forwarded_is_nobodys_here_even_where_nobody_is_named() -> None:
    hidden_message = hello(1, person=1) | {"forwarded_from": None}
    own = hello(2, person=1) | {"forwarded_from": "Ana", "forwarded_from_id": "user1"}
    items = read_items(Telegram(), source_of(export_chat(hidden_message, own)))
    assert [(message.speaker, message.role) for message in messages_of(items)] == [
        ("unknown", "other"),
        ("Ana", "other"),
    ]


def test_whose_words_are_forwarded_elsewhere_is_still_the_partner() -> None:
    forwarded_message = hello(2, person=1) | {"forwarded_from": "Mira", "forwarded_from_id": "user7"}
    items = read_items(Telegram(), source_of(export_chat(hello(1), hello(3, person=1), forwarded_message)))
    assert {speaker.name: speaker.guess for speaker in speakers(items)} == {"Mira": "persona", "Ana": "user"}


def test_people_of_one_name_are_told_apart() -> None:
    friends = [
        session for session in read_items(Telegram(), fixture("telegram_full.json")) if isinstance(session, FileSession)
    ][1]
    assert [(message.speaker, message.role) for message in friends.lines] == [
        ("Ana", "user"),
        ("Ben", ""),
        ("Ben (301)", ""),
    ]


def test_old_exports_have_local_times() -> None:
    friends = [
        session for session in read_items(Telegram(), fixture("telegram_full.json")) if isinstance(session, FileSession)
    ][1]
    assert friends.lines[0].at == datetime(2018, 3, 4, 10, 0)


def test_a_bot_is_the_persona_of_its_chat() -> None:
    messages = [
        {"id": 1, "type": "message", "from": "Mira", "from_id": "user7", "text": "Hello"},
        {"id": 2, "type": "message", "from": "Ana", "from_id": "user1", "text": "Hi"},
    ]
    data = json.dumps({"name": "Mira", "type": "bot_chat", "id": 7, "messages": messages})
    assert [message.role for message in messages_of(read_items(Telegram(), source_of(data)))] == ["persona", "user"]


def test_the_zip_of_its_folder_is_read() -> None:
    source = zip_source(
        {"ChatExport/result.json": (FILES / "telegram_chat.json").read_bytes(), "ChatExport/1.jpg": b"x"}
    )
    assert recognize(source).name == "telegram"
    items = read_items(Telegram(), source)
    assert len(messages_of(items)) == 5
    assert Skipped("ChatExport/1.jpg", "media") in items


def roles_in(people: list[tuple[str, str]], name: str = "Ben", chat_id: Any = 77) -> dict[str, str]:
    messages = [
        {"id": n, "type": "message", "date": "2020-05-01T10:00:00", "from": who, "from_id": person, "text": f"Line {n}"}
        for n, (who, person) in enumerate(people)
    ]
    data = {"name": name, "type": "personal_chat", "id": chat_id, "messages": messages}
    return {
        message.speaker: message.role for message in messages_of(list(read(source_of(json.dumps(data), "result.json"))))
    }


def test_where_ids_do_not_tell_who_is_who_nobody_is_made_the_owner() -> None:
    ana, ben = ("Ana", "user1"), ("Ben", "user2")
    assert roles_in([ana, ben], chat_id=2) == {"Ana": "user", "Ben": ""}
    # If the chat has an id of its own, its name identifies the other person, unless the chat was renamed.
    assert roles_in([ana, ben], chat_id=99) == {"Ana": "user", "Ben": ""}
    assert roles_in([ana, ben], "My brother", 99) == {"Ana": "", "Ben": ""}
    # Very old files have numbers as ids, or none.
    assert roles_in([("Ana", 1), ("Ben", 2)], chat_id=2) == {"Ana": "user", "Ben": ""}  # type: ignore[list-item]
    assert roles_in([("Ana", None), ("Ben", None)], "My brother") == {"Ana": "", "Ben": ""}  # type: ignore[list-item]


def test_who_speaks_in_all_chats_of_two_is_the_owner() -> None:
    def chat(number: int, other: str) -> dict[str, Any]:
        people = [("Ana", "user1"), (other, f"user{number}")]
        messages = [
            {"id": n, "type": "message", "date": "2020-05-01T10:00:00", "from": who, "from_id": person, "text": "Hi"}
            for n, (who, person) in enumerate(people)
        ]
        return {"name": "?", "type": "personal_chat", "id": 1000 + number, "messages": messages}

    data = {
        "about": "",
        "chats": {"about": "", "list": [chat(2, "Ben"), {"type": "saved_messages", "id": 1}, chat(3, "Cy")]},
    }
    items = list(read(source_of(json.dumps(data), "result.json")))
    assert {message.speaker: message.role for message in messages_of(items)} == {"Ana": "user", "Ben": "", "Cy": ""}


def test_who_deleted_their_account_is_called_as_telegram_shows_it() -> None:
    deleted_account = hello(1) | {"from": None, "from_id": "user5"}
    other = hello(2) | {"from": None, "from_id": "user6"}
    items = read_items(Telegram(), source_of(export_chat(deleted_account, other)))
    assert [message.speaker for message in messages_of(items)] == ["Deleted Account", "Deleted Account (6)"]
