"""A talk in pieces: each line read once, what was read before given as context."""

from collections.abc import Iterable
from itertools import pairwise

from memory.consolidation.messages import PER_LINE, Piece, PromptMessage, next_piece
from tests.memory.sessions import NOW


def line(content: str, tokens: int = 5, number: int = 1) -> PromptMessage:
    return PromptMessage(number, "user", content, NOW, tokens)


def pieces(lines: list[PromptMessage], limit: int = 6_000, overlap: int = 4) -> list[Piece]:
    """Read from the first line on, each piece after the one before."""
    found: list[Piece] = []
    while piece := next_piece(lines, found[-1].through if found else -1, limit, overlap):
        found.append(piece)
    return found


def ids(lines: Iterable[PromptMessage]) -> list[int]:
    return [one.id for one in lines]


def test_a_long_talk_is_read_in_pieces_each_line_once_with_those_before_as_context() -> None:
    lines = [line(f"line {number}", tokens=100 - PER_LINE, number=number) for number in range(400)]
    found = pieces(lines)
    assert all(len(piece.lines) <= 60 for piece in found)
    assert [one.id for piece in found for one in piece.new] == list(range(400))
    assert not found[0].context
    for before, after in pairwise(found):
        assert ids(after.context) == ids(before.new)[-4:]


def test_what_is_said_later_does_not_change_a_piece_that_is_full() -> None:
    lines = [line(f"line {number}", tokens=100 - PER_LINE, number=number) for number in range(400)]
    assert pieces(lines[:130])[:2] == pieces(lines)[:2]


def test_after_an_early_reading_only_the_rest_is_new() -> None:
    lines = [line(f"line {number}", number=number) for number in range(9)]
    rest = next_piece(lines, 5, 6_000, 4)
    assert rest is not None
    assert (ids(rest.context), ids(rest.new), rest.through) == ([2, 3, 4, 5], [6, 7, 8], 8)
    assert next_piece(lines, 8, 6_000, 4) is None


def test_a_short_talk_is_one_piece_and_silence_is_none() -> None:
    assert len(pieces([line("hi")])) == 1
    assert pieces([]) == []


def test_lines_longer_than_a_piece_come_whole_and_alone() -> None:
    lines = [line("long", tokens=9_000, number=number) for number in range(3)]
    assert [ids(piece.lines) for piece in pieces(lines)] == [[0], [1], [2]]
