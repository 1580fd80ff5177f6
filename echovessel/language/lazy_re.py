"""`re`, whose `compile` waits for the first use: `from echovessel.language import lazy_re as re`.

The thousand patterns by which people's words are read take 0.6 s to compile (2 cores, 2026-11): a third of the start of
every process, of which each uses few. The first message after a start pays for those of its language, some 0.1 s.
"""

import re
import tomllib
from functools import cached_property
from pathlib import Path
from re import *  # noqa: F403
from typing import Any, cast


class _Pattern:
    """Stands for a pattern, which it is from its first use on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def __getattr__(self, name: str) -> Any:
        # Kept as its own, so that the next use does not come here.
        attribute = self.__dict__[name] = getattr(self._compiled, name)
        return attribute


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:  # type: ignore[no-redef]  # noqa: A001
    return cast("re.Pattern[str]", _Pattern(pattern, flags))


def patterns_in(path: Path) -> dict[str, re.Pattern[str]]:
    """The patterns of a TOML file by their names; letter case does not matter. The alternatives of each are in rows."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: compile("|".join(alternatives), re.IGNORECASE) for name, alternatives in rows.items()}
