"""What a run is given: rows, and each as the prompt tells it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memory.recall.lessons import Boundary


class PromptItem(NamedTuple):
    """A row, and the line that the prompt tells it in."""

    row: Any
    line: str


@dataclass(frozen=True)
class RunInputs:
    """What a run is given; `boundaries` are what the owner wants left alone."""

    events: Sequence[PromptItem] = ()
    awaited: Sequence[PromptItem] = ()
    questions: Sequence[PromptItem] = ()
    thoughts: Sequence[PromptItem] = ()
    boundaries: Sequence[Boundary] = ()

    @property
    def lists(self) -> dict[str, Sequence[PromptItem]]:
        return {name: getattr(self, name) for name in ("events", "awaited", "questions", "thoughts")}

    @property
    def through(self) -> int:
        """The key of the last event."""
        return int(self.events[-1].row.pk)

    @property
    def words(self) -> list[str]:
        """All that is told."""
        return [told.line for found in self.lists.values() for told in found]

    def keys(self) -> dict[str, list[int]]:
        """What the account of the run tells of it: keys alone."""
        return {name: [told.row.pk for told in found] for name, found in self.lists.items()}
