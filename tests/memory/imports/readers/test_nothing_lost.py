"""Every chat format returns the messages with the same text in the same order; nothing is lost or added."""

import pytest
from hypothesis import assume, settings
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers import format_named, recognize
from memory.imports.readers.types import FileSession, Limits, Options
from memory.imports.readers.whatsapp_words import ATTACHED, BEHIND, CALL, DELETED, EDITED, MEDIA, NOTHING, PLACE, POLL
from tests.memory.imports.readers.format_writers import FORMAT_WRITERS, ChatMessage, FormatWriter
from tests.memory.imports.readers.sources import messages_of, read_items, skips_of, source_of

# Any text, except characters that a text file cannot distinguish from its own layout.
LETTERS = some.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\u200e\u200f") | some.sampled_from(
    "\n:：-[]{}\"'\\,/.<>*_@# 12你好😀é"
)
TEXTS = some.text(LETTERS, min_size=1, max_size=60).filter(lambda text: bool(text.strip()) and text == text.strip())
TALKS = some.lists(some.builds(ChatMessage, some.booleans(), TEXTS), min_size=1, max_size=12)
# A session with one speaker may as well be notes, so the kind is given.
CHAT = Options(kind="chat")
FORMATS = pytest.mark.parametrize(("name", "render"), FORMAT_WRITERS)


@FORMATS
@supposing(messages=TALKS)
def test_every_line_comes_back_in_its_place(name: str, render: FormatWriter, messages: list[ChatMessage]) -> None:
    check_comes_back(name, render, messages)


@pytest.mark.campaign
@FORMATS
@settings(max_examples=1_000)
@supposing(messages=TALKS)
def test_every_line_of_a_thousand_sessions_comes_back(
    name: str, render: FormatWriter, messages: list[ChatMessage]
) -> None:
    check_comes_back(name, render, messages)


def check_comes_back(name: str, render: FormatWriter, messages: list[ChatMessage]) -> None:
    assume(name != "transcript" or not any(_begins_like_speech(message.text) for message in messages))
    assume(name != "whatsapp" or not any(_is_placeholder(message.text) for message in messages))
    items = read_items(format_named(name), source_of(render(messages)), CHAT)
    assert [message.text for message in messages_of(items)] == [message.text for message in messages]
    assert skips_of(items) == []
    assert [message.role in ("user", "") for message in messages_of(items) if message.role] == [
        expected.by_user for expected, message in zip(messages, messages_of(items), strict=True) if message.role
    ]


def _begins_like_speech(text: str) -> bool:
    """A later line of a message that reads "Ana: …" cannot be distinguished from a new message."""
    return any(mark in line for line in text.split("\n")[1:] for mark in ":：")


def _is_placeholder(text: str) -> bool:
    """Whether `text` is what WhatsApp writes in place of media; it is skipped, even when a person typed it."""
    kinds = (ATTACHED, BEHIND, CALL, DELETED, EDITED, MEDIA, PLACE, POLL)
    return text == NOTHING or any(kind.search(text) for kind in kinds)


@FORMATS
def test_the_same_file_gives_the_same_ids(name: str, render: FormatWriter) -> None:
    data = render(
        [
            ChatMessage(True, "Hello"),
            ChatMessage(False, "Hello"),
            ChatMessage(True, "Hello"),
            ChatMessage(True, "Hello"),
        ]
    )
    options = Options(day_first=None)
    first, second = (messages_of(read_items(format_named(name), source_of(data), options)) for _ in range(2))
    assert [message.source_id for message in first] == [message.source_id for message in second]
    assert len({message.source_id for message in first}) == 4


@FORMATS
def test_the_format_is_recognised(name: str, render: FormatWriter) -> None:
    messages = [
        ChatMessage(True, "Good morning."),
        ChatMessage(False, "Good morning, Ana."),
        ChatMessage(True, "I had a dream."),
    ] * 3
    assert recognize(source_of(render(messages))).name == name


@FORMATS
def test_a_long_session_comes_in_pieces_that_belong_together(name: str, render: FormatWriter) -> None:
    messages = [ChatMessage(bool(number % 2), f"Line {number}") for number in range(25)]
    items = read_items(format_named(name), source_of(render(messages), limits=Limits(talk_lines=10)))
    sessions = [session for session in items if isinstance(session, FileSession)]
    assert [len(session.lines) for session in sessions] == [10, 10, 5]
    assert len({(session.source_id, session.title) for session in sessions}) == 1
    assert [message.text for message in messages_of(items)] == [message.text for message in messages]


@FORMATS
def test_a_line_longer_than_a_message_is_told(name: str, render: FormatWriter) -> None:
    messages = [
        ChatMessage(True, "Short."),
        ChatMessage(False, "长" * 400),
        ChatMessage(True, "Short again."),
        ChatMessage(False, "Good."),
    ]
    items = read_items(format_named(name), source_of(render(messages), limits=Limits(message_bytes=1000)))
    assert [message.text for message in messages_of(items)] == ["Short.", "Short again.", "Good."]
    assert skips_of(items) == ["too_long"]


@FORMATS
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_every_format_is_read_in_every_encoding(name: str, render: FormatWriter, encoding: str) -> None:
    messages = [
        ChatMessage(True, "今天我去了湖边，天气很好。"),
        ChatMessage(False, "你一个人去的吗？"),
        ChatMessage(True, "和小黑一起。"),
    ]
    data = render(messages * 2).decode().encode(encoding)
    assert [message.text for message in messages_of(read_items(format_named(name), source_of(data)))] == [
        message.text for message in messages * 2
    ]
