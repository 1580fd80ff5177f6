"""A long session in pieces that a small model can read whole. Pure."""

from collections.abc import Sequence

from memory.consolidation.lines import Line

PER_LINE = 16  # tokens of the id, time and name before each line


def cut(lines: Sequence[Line], limit: int, overlap: int) -> list[list[Line]]:
    """`lines` in order, in chunks of at most `limit` tokens that share `overlap` lines.

    No line is cut: one that is longer than the limit makes a chunk of its own. Where lines are so long that the
    shared ones would take more than half of a chunk, fewer are shared.
    """
    chunks: list[list[Line]] = []
    current: list[Line] = []
    fresh = 0
    for line in lines:
        if fresh and _cost(current) + _cost([line]) > limit:
            chunks.append(current)
            current, fresh = _tail(current, min(limit // 2, limit - _cost([line])), overlap), 0
        current = [*current, line]
        fresh += 1
    return [*chunks, current] if fresh else chunks


def _tail(lines: Sequence[Line], room: int, most: int) -> list[Line]:
    """The last lines, at most `most`, that fit into `room` tokens."""
    kept: list[Line] = []
    for line in reversed(lines[-most:] if most else []):
        room -= _cost([line])
        if room < 0:
            break
        kept.insert(0, line)
    return kept


def _cost(lines: Sequence[Line]) -> int:
    return sum(line.tokens + PER_LINE for line in lines)
