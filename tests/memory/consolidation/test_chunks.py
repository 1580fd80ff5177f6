"""A session in pieces: each message is new once, and the messages before it are context."""

from collections.abc import Iterable
from itertools import pairwise

from memory.consolidation.messages import PER_LINE, Piece, PromptMessage, next_piece
from tests.memory.sessions import NOW


def create_message(content: str, tokens: int = 5, number: int = 1) -> PromptMessage:
    return PromptMessage(number, "user", content, NOW, tokens)


def split_pieces(messages: list[PromptMessage], limit: int = 6_000, overlap: int = 4) -> list[Piece]:
    """All pieces, from the first message on, each after the one before."""
    found_pieces: list[Piece] = []
    while piece := next_piece(messages, found_pieces[-1].through if found_pieces else -1, limit, overlap):
        found_pieces.append(piece)
    return found_pieces


def message_ids(messages: Iterable[PromptMessage]) -> list[int]:
    return [message.id for message in messages]


def test_a_long_session_is_read_in_pieces_each_message_once_with_those_before_as_context() -> None:
    messages = [create_message(f"line {number}", tokens=100 - PER_LINE, number=number) for number in range(400)]
    all_pieces = split_pieces(messages)
    assert all(len(piece.lines) <= 60 for piece in all_pieces)
    assert [message.id for piece in all_pieces for message in piece.new] == list(range(400))
    assert not all_pieces[0].context
    for before, after in pairwise(all_pieces):
        assert message_ids(after.context) == message_ids(before.new)[-4:]


def test_what_is_said_later_does_not_change_a_piece_that_is_full() -> None:
    messages = [create_message(f"line {number}", tokens=100 - PER_LINE, number=number) for number in range(400)]
    assert split_pieces(messages[:130])[:2] == split_pieces(messages)[:2]


def test_after_an_early_reading_only_the_rest_is_new() -> None:
    messages = [create_message(f"line {number}", number=number) for number in range(9)]
    rest = next_piece(messages, 5, 6_000, 4)
    assert rest is not None
    assert (message_ids(rest.context), message_ids(rest.new), rest.through) == ([2, 3, 4, 5], [6, 7, 8], 8)
    assert next_piece(messages, 8, 6_000, 4) is None


def test_a_short_session_is_one_piece_and_silence_is_none() -> None:
    assert len(split_pieces([create_message("hi")])) == 1
    assert split_pieces([]) == []


def test_messages_longer_than_a_piece_come_whole_and_alone() -> None:
    messages = [create_message("long", tokens=9_000, number=number) for number in range(3)]
    assert [message_ids(piece.lines) for piece in split_pieces(messages)] == [[0], [1], [2]]
