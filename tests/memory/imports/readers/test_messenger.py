"""Messenger and Instagram: encoding repaired, chats in order, notices left out."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.messenger import Messenger
from memory.imports.readers.messenger_words import is_notice
from memory.imports.readers.mojibake import is_garbled, repair
from memory.imports.readers.types import FileSession, ImportRejected, is_between_people
from tests.memory.imports.readers.sources import messages_of, read_items, skips_of, source_of, zip_source
from tests.table import each_row

BEGIN = 1_600_000_000_000


def garble(text: str) -> str:
    """`text` with the broken encoding of Facebook's exports."""
    return text.encode().decode("latin-1")


def message_of(name: str, text: str, minute: int, **more: Any) -> dict[str, Any]:
    return {"sender_name": garble(name), "timestamp_ms": BEGIN + 60_000 * minute, "content": garble(text), **more}


def chat(people: Sequence[str], messages: Sequence[dict[str, Any]], title: str, thread: str = "inbox/x_1") -> str:
    head = {"participants": [{"name": garble(name)} for name in people]}
    rest = {"title": garble(title), "is_still_participant": True, "thread_path": thread, "magic_words": []}
    return json.dumps(head | {"messages": list(messages)} | rest)


def encrypted_chat(people: Sequence[str], texts: Sequence[tuple[str, str]], name: str) -> str:
    messages = [
        {
            "isUnsent": False, "media": [], "reactions": [], "senderName": who, "text": text,
            "timestamp": BEGIN + n * 60_000, "type": "text",
        }
        for n, (who, text) in enumerate(texts)
    ]  # fmt: skip
    return json.dumps({"participants": list(people), "threadName": name, "messages": messages}, ensure_ascii=False)


def test_letters_are_put_right_everywhere() -> None:
    messages = [message_of("Zoë Müller", "à bientôt 😀 “oui”", 2), message_of("José", "你好吗，Ångström", 1)]
    source = source_of(chat(["Zoë Müller", "José"], messages, "Zoë Müller"), "message_1.json")
    assert recognize(source).name == "messenger"
    assert is_between_people(Messenger())
    (session,) = (session for session in read_items(Messenger(), source) if isinstance(session, FileSession))
    assert session.title == "Zoë Müller"
    assert [(message.speaker, message.text, message.role) for message in session.lines] == [
        ("José", "你好吗，Ångström", "user"),
        ("Zoë Müller", "à bientôt 😀 “oui”", ""),
    ]


@each_row(
    ("text", "wrong"),
    [
        (r'{"a": "caf\u00c3\u00a9"}', True),
        ('{"a": "cafÃ©"}', True),
        (r'{"a": "\u00f0\u009f\u0098\u0080 ok", "b": "cut \u00c3\u00a9\u00f0\u009f"}', True),
        ('{"a": "café"}', False),
        (r'{"a": "caf\u00e9"}', False),
        # Right letters which would be one letter in UTF-8, too; a word about such letters; an emoji beside them.
        ('{"a": "JOSÉ»"}', False),
        ('{"a": "my printer writes Ã© for é"}', False),
        (r'{"a": "Ã©", "b": "\ud83d\ude00"}', False),
        (r'{"a": "C:\\u00c3\\u00a9"}', False),
        ('{"a": "plain"}', False),
    ],
)
def test_letters_that_are_right_stay(text: str, wrong: bool) -> None:
    assert is_garbled([text]) is wrong
    assert is_garbled(list(text)) is wrong


def test_only_what_is_surely_garbled_is_put_right_in_a_file_that_is_not() -> None:
    assert repair([garble("Łódź"), garble("é"), "é", "JOSÉ»"], False) == ["Łódź", "Ã©", "é", "JOSÉ»"]
    assert repair({"k": [garble("é"), 3, None, "你"]}, True) == {"k": ["é", 3, None, "你"]}


def test_the_zip_holds_all_chats_in_order() -> None:
    later = [message_of("Ana", f"later {n}", 100 + n) for n in (3, 2, 1)]
    earlier = [message_of("Bea", f"earlier {n}", n) for n in (3, 2, 1)]
    tenth = [message_of("Bea", "first of all", -50)]
    top = "ana-facebook/your_facebook_activity/messages/"
    source = zip_source(
        {
            f"{top}inbox/bea_1/message_1.json": chat(["Bea", "Ana"], later, "Bea", "inbox/bea_1"),
            f"{top}inbox/bea_1/message_2.json": chat(["Bea", "Ana"], earlier, "Bea", "inbox/bea_1"),
            f"{top}inbox/bea_1/message_10.json": chat(["Bea", "Ana"], tenth, "Bea", "inbox/bea_1"),
            f"{top}archived_threads/us_2/message_1.json": chat(
                ["Bea", "Cy", "Ana"], [message_of("Cy", "hi all", 5)], "Us", "archived_threads/us_2"
            ),
            f"{top}inbox/bea_1/photos/1.jpg": b"\xff\xd8",
            "ana-facebook/friends.json": "{}",
        }
    )
    assert recognize(source).name == "messenger"
    items = list(read(source))
    sessions = [session for session in items if isinstance(session, FileSession)]
    assert {session.title: [message.text for message in session.lines] for session in sessions} == {
        "Bea": ["first of all", "earlier 1", "earlier 2", "earlier 3", "later 1", "later 2", "later 3"],
        "Us": ["hi all"],
    }
    assert {message.speaker: message.role for message in messages_of(items)} == {"Ana": "user", "Bea": "", "Cy": ""}
    assert sorted(skips_of(items)) == ["media", "settings"]


def test_whose_zip_it_is_follows_from_its_profile_or_from_who_is_in_all_chats() -> None:
    members = {
        "Nachrichten/posteingang/bea/message_1.json": chat(["Bea", "Zoë"], [message_of("Zoë", "hallo", 1)], "Bea", "a"),
        "Nachrichten/posteingang/cy/message_1.json": chat(["Cy", "Zoë"], [message_of("Zoë", "servus", 1)], "Cy", "b"),
    }
    assert {message.role for message in messages_of(list(read(zip_source(members))))} == {"user"}
    profile = {"profile_v2": {"name": {"full_name": garble("Bea")}}}
    members |= {"info/profile_information.json": json.dumps(profile)}
    assert {message.role for message in messages_of(list(read(zip_source(members))))} == {""}


def test_the_encrypted_chats_are_read_and_their_letters_left_as_they_are() -> None:
    texts = [("Zoë", "Schön, bis später 😀"), ("Ben", "é")]
    data = encrypted_chat(["Zoë", "Ben"], texts, "Ben_12")
    assert recognize(source_of(data, "Ben_12.json")).name == "messenger"
    items = list(
        read(
            zip_source(
                {
                    "Ben_12.json": data,
                    "Cy_3.json": encrypted_chat(["Zoë", "Cy"], texts[:1], "Cy_3"),
                    "media/a.jpeg": b"x",
                }
            )
        )
    )
    assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == [
        ("Zoë", "Schön, bis später 😀", "user"),
        ("Ben", "é", ""),
        ("Zoë", "Schön, bis später 😀", "user"),
    ]
    assert [session.title for session in items if isinstance(session, FileSession)] == ["Ben", "Cy"]


def test_notices_reactions_and_media_are_skipped() -> None:
    messages = [
        message_of("Bea", "You sent an attachment.", 9, share={"link": "https://example.org"}),
        message_of("Bea", "Reacted ❤️ to your message ", 8),
        message_of("Bea", "Bea reacted 😮 to your message", 7),
        message_of("Bea", "Liked a message", 6),
        message_of("Ana", "You started a video chat", 5),
        message_of("Bea", "Bea called you.", 4, call_duration=17),
        {"sender_name": "Bea", "timestamp_ms": BEGIN, "is_unsent": True},
        message_of("Bea", "Bea sent a photo.", 3, photos=[{"uri": "messages/1.jpg"}]),
        message_of("Bea", "look at that!", 2, photos=[{"uri": "messages/1.jpg"}]),
        {"sender_name": "Bea", "timestamp_ms": BEGIN, "share": {"link": "https://example.org/a"}},
    ]
    items = read_items(Messenger(), source_of(chat(["Bea", "Ana"], messages, "Bea")))
    assert [message.text for message in messages_of(items)] == ["https://example.org/a", "look at that!"]
    assert sorted(skips_of(items)) == ["deleted", *["media"] * 2, *["notice"] * 6]


def test_notices_are_known_in_other_languages_and_words_are_none() -> None:
    people = frozenset({"Zoë Müller", "小明"})
    for text in (
        "Du hast einen Anhang gesendet.", "Zoë hat mit ❤ auf deine Nachricht reagiert", "Vous avez envoyé une photo.",
        "Enviaste un archivo adjunto.", "Hai inviato un allegato.", "Você enviou um anexo.", "小明 发送了一个附件。",
        "Zoë Müller named the group Summer 2024.", "Zoë set the nickname for 小明 to Ming.", "You missed a video call.",
        "Zoë changed the theme to Ocean.", "You left the group.",
    ):  # fmt: skip
        assert is_notice(text, people), text
    for text in (
        "You sent me flowers, thank you", "Zoë called me yesterday", "He liked a message from her",
        "You called me a liar", "Zoë is here", "you waved at me yesterday", "You sent a photo of the house and I cried",
        "", "❤️",
    ):  # fmt: skip
        assert not is_notice(text, people), text


def test_damaged_and_empty_files() -> None:
    empty = chat(["Bea", "Ana"], [], "Bea")
    assert recognize(source_of(empty)).name == "messenger"
    with pytest.raises(ImportRejected) as rejected:
        list(read(source_of(empty)))
    assert rejected.value.code == "nothing_found"
    with pytest.raises(ImportRejected) as rejected:
        list(
            read(
                zip_source(
                    {"messages/inbox/b/message_1.json": chat(["A", "B"], [message_of("A", "x", 1)] * 2, "B")[:-60]}
                )
            )
        )
    assert (rejected.value.code, "message_1.json" in rejected.value.location) == ("not_json", True)
    strange = json.dumps(
        {
            "participants": ["A", 3, None],
            "messages": [3, {"senderName": "A"}, {"senderName": "A", "text": "x"}],
            "threadName": "A",
        }
    )
    assert skips_of(list(read(source_of(strange)))) == ["broken", "empty"]


def test_what_others_put_on_the_network_is_not_said_by_who_shares_it() -> None:
    messages = [
        {"sender_name": "Bea", "timestamp_ms": BEGIN + n, "share": {"link": link, "share_text": "of somebody"}, **more}
        for n, (link, more) in enumerate(
            [
                ("https://www.instagram.com/reel/x", {}),
                ("https://m.facebook.com/story.php?id=1", {}),
                ("https://example.org/recipe", {}),
            ]
        )
    ]
    items = read_items(Messenger(), source_of(chat(["Bea", "Ana"], messages, "Bea")))
    assert [message.text for message in messages_of(items)] == ["https://example.org/recipe"]
    assert skips_of(items) == ["media", "media"]


def test_messages_of_one_moment_stay_in_the_order_of_the_kind_of_file() -> None:
    at_once = encrypted_chat(["Omar", "Minh"], [("Minh", "first"), ("Omar", "second")], "Omar_8")
    at_once = at_once.replace(str(BEGIN + 60_000), str(BEGIN))
    assert [message.text for message in messages_of(read_items(Messenger(), source_of(at_once)))] == ["first", "second"]
    messages = [message_of("Omar", "second", 1), message_of("Minh", "first", 1)]
    assert [
        message.text
        for message in messages_of(read_items(Messenger(), source_of(chat(["Omar", "Minh"], messages, "Omar"))))
    ] == [
        "first",
        "second",
    ]
