"""No message, memory or forgetting goes through more files and functions than it does today."""

import pytest

from tests.walks import format_table, walks

# Files and functions as measured on 2026-11-23 and a tenth more, since what runs beside a turn differs. Lower them
# when they fall; `python -m tests.walks` prints them beside the aim.
CEILING = {
    "a message with memory off": (39, 231),
    "a message that a later session recalls": (149, 830),
    "a memory that is forgotten": (27, 188),
}


@pytest.mark.django_db(transaction=True)
def test_no_walk_is_longer_than_its_ceiling() -> None:
    traced = walks()
    for name, (most_files, most_functions) in CEILING.items():
        files, functions = traced[name].counts()
        assert 0 < files <= most_files, "\n".join(format_table(traced))
        assert 0 < functions <= most_functions, "\n".join(format_table(traced))
