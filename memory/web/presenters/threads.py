"""A story line for its owner: its state and span, and its memories with their days, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from memory.curation.threads import members_of
from memory.models import ConceptNode, Thread
from memory.models.thread import day_of
from memory.web.presenters.days import format_day, format_day_of


@dataclass(frozen=True)
class StoryLine:
    """A thread, its memories with their days, and how long ago it began."""

    thread: Thread
    rows: Sequence[tuple[ConceptNode, SafeString]]
    began: SafeString | str

    @property
    def newest(self) -> Sequence[tuple[ConceptNode, SafeString]]:
        """The memories shown in the list."""
        return self.rows[:3]

    @property
    def more(self) -> int:
        return len(self.rows) - len(self.newest)


def present_thread(thread: Thread) -> StoryLine:
    """A story line for a thread from `curation.threads.with_members`."""
    persona, nodes = thread.persona, members_of(thread)
    began = format_day(persona, day_of(nodes[-1], persona.zone)) if nodes else ""
    return StoryLine(thread, [(node, format_day_of(persona, node)) for node in nodes], began)
