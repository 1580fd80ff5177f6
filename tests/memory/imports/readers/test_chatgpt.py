"""ChatGPT's export."""

import json
from datetime import UTC, datetime
from typing import Any

from memory.imports.readers import read as read_file
from memory.imports.readers import recognize
from memory.imports.readers.chatgpt import ChatGPT
from memory.imports.readers.types import FileSession, ReaderItem, Remembered, Skipped
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

DATA = (FILES / "chatgpt.json").read_bytes()


def read(conversations: Any) -> list[ReaderItem]:
    return read_items(ChatGPT(), source_of(json.dumps(conversations)))


def conversation() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DATA)[0]
    return document


def test_the_current_branch_is_read_and_nothing_else() -> None:
    items = read_items(ChatGPT(), fixture("chatgpt.json"))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == [
        ("user", "user", "My cat is called 小黑.\nHe is black."),
        ("assistant", "persona", "What a good name for a cat."),
        ("user", "user", "Here he is."),
        ("assistant", "persona", "He looks proud."),
        ("user", "user", "Can you hear me?"),
        ("assistant", "persona", "Yes, I can hear you."),
        ("user", "user", "Second talk."),
        ("assistant", "persona", "Indeed."),
    ]
    assert sorted(skips_of(items)) == ["hidden", "media", "media", "not_chosen", "thinking", "tool", "tool"]


def test_a_line_has_the_files_id_its_time_and_a_place_for_people() -> None:
    session = next(
        session for session in read_items(ChatGPT(), fixture("chatgpt.json")) if isinstance(session, FileSession)
    )
    message = session.lines[1]
    assert (session.title, session.source_id, session.location) == ("小黑 the cat", "c-1", "conversation 1")
    assert (message.source_id, message.location) == ("a1", "conversation 1, message 5")
    assert message.at == datetime(2023, 12, 31, 21, 5, 2, 250_000, UTC)


def test_what_the_user_wrote_about_herself_is_offered_once() -> None:
    items = read([conversation(), conversation() | {"id": "c-9", "conversation_id": "c-9"}])
    about = [(memory.type, memory.text) for memory in items if isinstance(memory, Remembered)]
    assert about == [("user_profile", "I am Ana and live in Shanghai."), ("user_instructions", "Be brief.")]


def test_without_a_current_node_the_branch_written_last_is_read() -> None:
    assert [message.source_id for message in messages_of(read([conversation() | {"current_node": None}]))][-1] == "a3"


def test_a_circle_of_parents_ends() -> None:
    circular = conversation()
    circular["mapping"]["root"]["parent"] = "a3"
    assert len(messages_of(read([circular]))) == 6


def test_the_zip_is_read_with_all_its_parts_and_the_rest_is_told() -> None:
    first, second = json.loads(DATA)
    source = zip_source(
        {
            "conversations-000.json": json.dumps([first]), "conversations-001.json": json.dumps([second]),
            "user.json": "{}", "chat.html": "<html>", "dalle/1.webp": b"x", "export_manifest.json": "{}",
        }
    )  # fmt: skip
    assert recognize(source).name == "chatgpt"
    items = read_items(ChatGPT(), source)
    assert [message.source_id for message in messages_of(items)] == [
        message.source_id for message in messages_of(read_items(ChatGPT(), fixture("chatgpt.json")))
    ]
    reasons = {skip.location: skip.reason for skip in items if isinstance(skip, Skipped)}
    assert reasons["chat.html"] == "duplicate"
    assert reasons["user.json"] == reasons["export_manifest.json"] == "settings"
    assert reasons["dalle/1.webp"] == "media"


def test_a_conversation_that_is_none_is_told_by_its_number() -> None:
    items = read([{"title": "x"}, conversation()])
    assert items[0] == Skipped("conversation 1", "broken")
    assert messages_of(items)[0].location == "conversation 2, message 4"


def test_times_beyond_reason_are_left_open() -> None:
    late = conversation()
    late["mapping"]["u1"]["message"]["create_time"] = 1e18
    assert messages_of(read([late]))[0].at is None


def with_message(**fields: Any) -> list[ReaderItem]:
    """The first conversation with another last message."""
    document = conversation()
    document["mapping"]["a3"]["message"] |= fields
    return read([document])


@each_row("data", [json.dumps(conversation()), json.dumps(conversation(), indent=2)])
def test_one_conversation_by_itself_is_read(data: str) -> None:
    source = source_of(data, "conversation.json")
    assert recognize(source).name == "chatgpt"
    assert len(messages_of(read_items(ChatGPT(), source))) == 6


def test_a_conversation_a_line_is_read() -> None:
    source = source_of("\n".join(json.dumps(row) for row in json.loads(DATA)), "conversations.jsonl")
    assert recognize(source).name == "chatgpt"
    assert messages_of(read_items(ChatGPT(), source)) == messages_of(read_items(ChatGPT(), fixture("chatgpt.json")))


@each_row(
    ("text", "expected"),
    [
        ("It is open【12†source】 today【4:0†map.pdf】.", "It is open today."),
        ("It is open:contentReference[oaicite:3]{index=3}【oaicite:3】.", "It is open."),
        ("Open \ue200cite\ue202turn0search1\ue202turn0news2\ue201.", "Open ."),
        ('In \ue200entity\ue202["city","Berlin","in Germany"]\ue201 it snows.', "In Berlin it snows."),
        ("\ue203It snows\ue204 in Berlin.", "It snows in Berlin."),
        ("【小黑】 is what stood there.", "【小黑】 is what stood there."),
    ],
)
def test_marks_of_sources_are_no_words(text: str, expected: str) -> None:
    items = with_message(content={"content_type": "text", "parts": [text]})
    assert messages_of(items)[-1].text == expected


def test_whatever_a_user_writes_stays() -> None:
    document = conversation()
    document["mapping"]["u1"]["message"]["content"] = {"content_type": "text", "parts": ["See 【1†source】."]}
    assert messages_of(read([document]))[0].text == "See 【1†source】."


def test_what_the_model_says_to_itself_is_no_line() -> None:
    items = with_message(channel="analysis")
    assert [message.source_id for message in messages_of(items)][-1] != "a3"
    assert skips_of(items).count("thinking") == 2


def test_what_was_kept_of_the_user_is_offered_with_its_day() -> None:
    memories = "1. [2024-05-01]. User likes tea.\n\n2. [2024-05-02]. User has a cat\nnamed 小黑."
    items = with_message(content={"content_type": "model_editable_context", "model_set_context": memories})
    assert [
        (memory.text, str(memory.day)) for memory in items if isinstance(memory, Remembered) and memory.type == "memory"
    ] == [
        ("User likes tea.", "2024-05-01"),
        ("User has a cat\nnamed 小黑.", "2024-05-02"),
    ]


def test_what_she_wrote_of_herself_comes_without_the_sentences_around_it() -> None:
    content = {"content_type": "user_editable_context", "user_profile": "The user provided: ```Ana```"}
    instructions = {"about_user_message": "Ana, a nurse", "about_model_message": "Be kind"}
    items = with_message(content=content, metadata={"user_context_message_data": instructions})
    assert [memory.text for memory in items if isinstance(memory, Remembered)][-2:] == ["Ana, a nurse", "Be kind"]


def _message(number: int, role: str = "", **more: Any) -> dict[str, Any]:
    side = role or ("user", "assistant")[number % 2]
    content = {"content_type": "text", "parts": [f"Line {number}"]}
    return {
        "id": f"m{number}",
        "author": {"role": side},
        "create_time": 1_700_000_000 + number,
        "content": content,
    } | more


def test_conversations_without_links_are_read_whole_and_in_order() -> None:
    nodes = {f"n{number}": {"id": f"n{number}", "message": _message(number)} for number in (3, 0, 2, 1)}
    node_list = [*nodes.values()]
    in_order = [node for _key, node in sorted(nodes.items())]
    inner = {
        node["id"]: node | {"children": [f"n{number + 1}"] if number < 3 else []}
        for number, node in enumerate(in_order)
    }
    messages = [_message(number) for number in (0, 1, 2, 3)]
    plain = [{"role": message["author"]["role"], "content": message["content"]} for message in messages]
    common_fields = {"title": "T", "linear_conversation": in_order, "mapping": nodes}
    for data in (
        [{"title": "T", "mapping": nodes}],
        {"title": "T", "mapping": nodes, "current_node": "n3"},
        [{"title": "T", "mapping": inner}],
        [{"title": "T", "mapping": node_list}],
        {"conversations": [{"title": "T", "mapping": nodes}]},
        {"props": {"pageProps": {"serverResponse": {"type": "data", "data": common_fields}}}},
        [{"title": "T", "messages": messages}],
        [{"title": "T", "messages": plain}],
        {"title": "T", "messages": messages},
        node_list,
        messages,
    ):
        for source in (
            source_of(json.dumps(data), "conversations.json"),
            zip_source({"conversations.json": json.dumps(data)}),
        ):
            assert recognize(source).name == "chatgpt", data
            assert [message.text for message in messages_of(list(read_file(source)))] == [
                f"Line {number}" for number in range(4)
            ], data


def test_a_strange_node_among_messages_without_links_is_told() -> None:
    data = [{"title": "T", "mapping": {"a": {"message": _message(0)}, "b": 3, "c": {"message": _message(1)}, "d": {}}}]
    items = list(read_file(source_of(json.dumps(data))))
    assert ([message.text for message in messages_of(items)], skips_of(items)) == (["Line 0", "Line 1"], ["broken"])
