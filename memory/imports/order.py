"""Order: whether a file begins with the newest message, by the times of the whole file. Pure.

In a file that begins with the newest, time goes back in nearly every pair of adjacent messages. A few late messages, or
a clock that was set, do not change the result. If all times are equal, or few pairs go back, the numbers of the
messages decide. Messages with the same time are reversed with the file, unless their numbers rise or questions stand
above their answers, as in lists of prompts and answers of the same moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from memory.imports.readers.types import FileMessage

# A file is reversed if time goes back at least this many times as often as forward.
_MOSTLY = 2
# Up to this many steps back may be late messages.
_A_FEW = 2
_LONGEST_NUMBER = 30


@dataclass
class _Pairs:
    """Pairs of adjacent messages: how many go forward, and how many back."""

    forth: int = 0
    back: int = 0

    def note(self, step: float) -> None:
        self.forth += step > 0
        self.back += step < 0

    @property
    def go_back(self) -> bool:
        return self.back > 0 and self.back >= _MOSTLY * self.forth


@dataclass
class Order:
    """The order of a file, as far as its sessions show it, piece by piece."""

    times: _Pairs = field(default_factory=_Pairs)
    numbers: _Pairs = field(default_factory=_Pairs)
    # Of messages with the same time: their numbers, and whether the answer stands above its question.
    numbers_at_once: _Pairs = field(default_factory=_Pairs)
    answers_at_once: _Pairs = field(default_factory=_Pairs)
    # Pairs of messages with the same time that are no question and its answer.
    at_once: int = 0

    def note(self, messages: Sequence[FileMessage]) -> None:
        """Count the pairs of these messages, which follow each other in the file."""
        for upper, lower in pairwise(messages):
            self.numbers.note(_counted(upper, lower))
        for upper, lower in pairwise(message for message in messages if message.at):
            step = seconds_between(upper.at, lower.at)
            self.times.note(step or 0)
            if step == 0:
                self.numbers_at_once.note(_counted(upper, lower))
                answer = _ANSWERS.get((upper.role, lower.role), 0)
                self.answers_at_once.note(answer)
                self.at_once += not answer

    @property
    def is_newest_first(self) -> bool:
        is_timed, is_numbered = self.times.forth or self.times.back, self.numbers.forth != self.numbers.back
        if is_timed and (self.times.back > _A_FEW or not self.times.go_back):
            return self.times.go_back
        if is_numbered or not is_timed:
            return self.numbers.go_back
        # A step back among many equal times is a late message.
        return self.at_once <= self.times.back

    @property
    def keeps_order_of_equal_times(self) -> bool:
        """Whether messages with the same time are in order, even if the file begins with the newest."""
        for pairs in (self.numbers_at_once, self.answers_at_once):
            if pairs.forth != pairs.back:
                return pairs.forth > pairs.back
        return False


_ANSWERS = {("user", "persona"): 1, ("persona", "user"): -1}


def seconds_between(upper: datetime | None, lower: datetime | None) -> float | None:
    """Seconds from the upper to the lower message; None if that is unknown."""
    if upper is None or lower is None:
        return None
    if (upper.tzinfo is None) != (lower.tzinfo is None):
        return None
    return (lower - upper).total_seconds()


def _counted(upper: FileMessage, lower: FileMessage) -> int:
    """How much higher the number of the lower message is; 0 if either has none."""
    return _number(lower) - _number(upper) if _is_numbered(upper) and _is_numbered(lower) else 0


def _is_numbered(message: FileMessage) -> bool:
    number = _last_part(message)
    return number.isascii() and number.isdecimal() and len(number) <= _LONGEST_NUMBER


def _number(message: FileMessage) -> int:
    return int(_last_part(message))


def _last_part(message: FileMessage) -> str:
    """The number of a message in its chat, as in "chat/17"."""
    return message.source_id.rpartition("/")[2]
