"""Files that begin with the newest message, and files that do not."""

from datetime import datetime, timedelta
from itertools import count

from memory.imports.choices import Choices
from memory.imports.chunks import Cuts, chunk_file
from memory.imports.order import Order
from memory.imports.readers.types import FileMessage, FileSession, Role
from tests.table import each_row

START = datetime(2024, 1, 5, 21, 0)


def talk(*minutes: int | None, ids: str = "", roles: str = "") -> list[FileMessage]:
    """Messages by the minute of each; `ids` and `roles` hold one value per message."""
    sides: dict[str, Role] = {"u": "user", "p": "persona"}
    numbers = ids.split() if ids else [f"{'abcdefgh'[number]}{number}x" for number in range(len(minutes))]
    return [
        FileMessage("A", f"{at}.{number}", None if at is None else START + timedelta(minutes=at), source_id, "", role)
        for number, at, source_id, role in zip(
            count(), minutes, numbers, [sides.get(letter, "") for letter in roles.ljust(len(minutes))], strict=False
        )
    ]


def order_of(*sessions: list[FileMessage]) -> Order:
    order = Order()
    for messages in sessions:
        order.note(messages)
    return order


def stored_texts(messages: list[FileMessage]) -> list[str]:
    """The texts in the order in which they are stored."""
    order = order_of(messages)
    cuts = Cuts(12, 200, 9_000, 900, order.is_newest_first, keeps_at_once=order.keeps_order_of_equal_times)
    chunks = chunk_file([FileSession("", "1", tuple(messages), "")], "x", Choices(), cuts)
    return [message.content for chunk in chunks for message in chunk.lines]


def test_the_order_is_judged_by_the_whole_file() -> None:
    files = {
        "two lines": ([talk(1, 0)], True),
        "three lines within two hours": ([talk(9, 5, 0)], True),
        "four lines, some at once": ([talk(9, 5, 5, 0)], True),
        "several talks of two lines": ([talk(1, 0), talk(8, 7), talk(4, 3)], True),
        "several talks, of one nothing is known": ([talk(1, 0), talk(7), talk(4, 4), talk(9, 8)], True),
        "one that came late among the newest first": ([talk(9, 8, 7, 3, 4, 2, 1, 0)], True),
        "lines without a time between": ([talk(9, None, 5, None, 0)], True),
        "no time, and numbers that fall": ([talk(None, None, None, ids="9 8 7")], True),
        "one time, and numbers that fall": ([talk(1, 1, 1, ids="7/9 7/8 7/7")], True),
        "the topmost question and answer at one time": ([talk(5, 5, 0, 0, roles="upup")], True),
        "in order": ([talk(0, 5, 9)], False),
        "one line": ([talk(0)], False),
        "one time": ([talk(3, 3, 3)], False),
        "one came late": ([talk(0, 1, 2, 1, 3)], False),
        "two came late": ([talk(0, 1, 0, 2, 1, 3)], False),
        "the last came late": ([talk(1, 1, 1, 0)], False),
        "a clock that was set back by three hours": ([talk(300, 310, 320, 140, 150, 160)], False),
        "numbers that rise, times that do not": ([talk(2, 1, ids="1 2")], False),
        "talks of which the newest comes first": ([talk(90, 91), talk(60, 61), talk(30, 31)], False),
        "answers that stand beneath what they answer": ([talk(0, 7, 1, 8, 2, 9)], False),
    }
    assert {why: order_of(*sessions).is_newest_first for why, (sessions, _is_so) in files.items()} == {
        why: is_so for why, (_sessions, is_so) in files.items()
    }


@each_row(
    ("messages", "expected"),
    [
        (talk(9, 5, 0), "0.2 5.1 9.0"),
        (talk(1, 0), "0.1 1.0"),
        (talk(9, 5, 5, 0), "0.3 5.2 5.1 9.0"),  # in a file with the newest first, the upper message is the later one
        (talk(5, 5, 0, 0, roles="upup"), "0.2 0.3 5.0 5.1"),  # but no answer before its question
        (talk(5, 5, 0, 0, roles="pupu"), "0.3 0.2 5.1 5.0"),
        (talk(9, 5, 5, 0, ids="4 2 3 1"), "0.3 5.1 5.2 9.0"),  # and no number before a lower one
        (talk(0, 1, 1, 2), "0.0 1.1 1.2 2.3"),
    ],
)
def test_lines_are_stored_in_the_order_in_which_they_were_said(messages: list[FileMessage], expected: str) -> None:
    assert stored_texts(messages) == expected.split()
