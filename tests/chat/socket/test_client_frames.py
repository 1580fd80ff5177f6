"""What a page may send, and what is said about everything else."""

import contextlib
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.socket import consumer
from chat.socket.consumer import BadFrame, SendMessage, parse
from tests.table import each_row

CLIENT_ID = "5f0c6d2e-2f60-4a3c-9f6f-1d2a8f2a8a11"


def message(**changes: object) -> str:
    return json.dumps({"type": "message", "client_id": CLIENT_ID, "content": "hello"} | changes)


def test_a_message_is_read_as_it_was_written_but_for_a_nul() -> None:
    frame = parse(message(content="  emoji 👩‍👩‍👧 \u202e rtl \x00 nul\u2028 "))
    assert isinstance(frame, SendMessage)
    assert frame.content == "  emoji 👩‍👩‍👧 \u202e rtl  nul\u2028 "
    assert frame.client_id == uuid.UUID(CLIENT_ID)


@each_row(
    ("text", "code"),
    [
        (None, "bad_frame"),
        ("", "bad_frame"),
        ("{", "bad_frame"),
        ("[" * 100_000, "bad_frame"),
        ("[]", "bad_frame"),
        ("NaN", "bad_frame"),
        ('"message"', "bad_frame"),
        ("{}", "unknown_type"),
        ('{"type": "sudo"}', "unknown_type"),
        ('{"type": ["message"]}', "unknown_type"),
        ('{"type": "message"}', "bad_frame"),
        (message(client_id="not a uuid"), "bad_frame"),
        (message(content=5), "bad_frame"),
        (message(content={"a": 1}), "bad_frame"),
        (message(content=""), "empty"),
        (message(content="x" * 20_001), "too_long"),
        ('{"type": "stop"}', "bad_frame"),
        ('{"type": "resume", "after": -1}', "bad_frame"),
        ('{"type": "resume", "after": "x"}', "bad_frame"),
        ('{"type": "resume", "after": 1e400}', "bad_frame"),
    ],
)
def test_a_frame_nobody_can_act_on_is_named(text: str | None, code: str) -> None:
    with pytest.raises(BadFrame) as caught:
        parse(text)
    assert caught.value.code == code


def test_the_longest_message_is_taken() -> None:
    assert isinstance(parse(message(content="猫" * 20_000)), SendMessage)


def test_a_refused_message_keeps_its_client_id_for_the_page() -> None:
    with pytest.raises(BadFrame) as caught:
        parse(message(content="x" * 20_001))
    assert caught.value.client_id == CLIENT_ID
    assert "20,001" in str(caught.value)


def test_lone_surrogates_become_something_that_can_be_stored() -> None:
    frame = parse(message().replace("hello", "a\\ud800b"))
    assert isinstance(frame, SendMessage)
    assert frame.content == "a\ufffdb"


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_nothing_but_bad_frame_ever_comes_out_of_parsing(data: object) -> None:
    with contextlib.suppress(BadFrame):
        parse(json.dumps(data))


@given(
    st.dictionaries(
        st.sampled_from(["type", "client_id", "content", "turn_id", "after"]),
        st.sampled_from([*consumer.TYPES, CLIENT_ID, 3, None, "x"]),
    )
)
def test_nothing_but_bad_frame_comes_out_of_nearly_right_frames(data: dict[str, object]) -> None:
    with contextlib.suppress(BadFrame):
        parse(json.dumps(data))
