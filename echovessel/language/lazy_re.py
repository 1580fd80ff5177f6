"""`re` with a lazy `compile`: `from echovessel.language import lazy_re as re`.

Compiling the thousand patterns of this package takes 0.6 s (2 cores, 2026-11): a third of the start of every process,
and each process uses few of them. The first message after a start pays for the patterns of its language, about 0.1 s.
"""

import re
import tomllib
from functools import cached_property
from pathlib import Path
from re import *  # noqa: F403
from typing import Any, cast


class _Pattern:
    """A stand-in for a pattern that is compiled on first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def __getattr__(self, name: str) -> Any:
        # Stored as an attribute of its own, so that the next access does not call this method.
        attribute = self.__dict__[name] = getattr(self._compiled, name)
        return attribute


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:  # type: ignore[no-redef]  # noqa: A001
    return cast("re.Pattern[str]", _Pattern(pattern, flags))


def patterns_in(path: Path) -> dict[str, re.Pattern[str]]:
    """The patterns of a TOML file, by name, case-insensitive. The alternatives of each pattern are listed in rows."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: compile("|".join(alternatives), re.IGNORECASE) for name, alternatives in rows.items()}
