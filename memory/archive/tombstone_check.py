"""What of an archive was forgotten here: found before anything is loaded, so that nothing of it is ever written.

A line is refused for its id or for its words; a talk with all of its lines; a memory for its id or its words, and with
all that it rests on. What loses a part of its ground only is taken without that part.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from memory.archive.schema import EntityRecord, MessageRecord, NodeRecord, Numbered
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_external
from memory.store.writing import tidy_description
from persona.models import Persona


@dataclass
class RefusedRecords:
    """The ids of what is left out; `cut` are talks that lose lines, and are taken without their summary.

    `beside` are the tombstones of the archive itself, by digest, with the moments they were set: what it holds was
    there after them, because it was told anew or was kept on purpose.
    """

    sessions: set[str] = field(default_factory=set)
    messages: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    beside: Mapping[str, datetime] = field(default_factory=dict)

    def among(self, persona: Persona, brought: Iterable[TombstoneSource]) -> set[TombstoneSource]:
        """Those of `brought` that were forgotten here."""
        return tombstones.refused_among(persona, brought, beside=self.beside)


Lines = Callable[[str], Iterable[list[Numbered[Any]]]]  # an archive's lines of a type, some at a time


def check_archive(lines: Lines, persona: Persona, beside: Mapping[str, datetime]) -> RefusedRecords:
    """What of the archive was forgotten here. Nothing is read where nothing was ever forgotten."""
    refused = RefusedRecords(beside=beside)
    if persona.tombstones.exists():
        _note_talks(lines, persona, refused)
        # Nodes with what they were concluded from, of which nothing may be left in the end.
        concluded: dict[str, NodeRecord] = {}
        for batch in lines("node"):
            nodes = [one.record for one in batch]
            note_nodes(persona, nodes, refused)
            concluded |= {node.id: node for node in nodes if node.filling and node.id not in refused.nodes}
        while gone := {key for key, node in concluded.items() if _rests_on_nothing(node, refused)}:
            refused.nodes |= gone
            concluded = {key: node for key, node in concluded.items() if key not in gone}
    return refused


def note_messages(persona: Persona, lines: Collection[MessageRecord], refused: RefusedRecords) -> None:
    """Add those of `lines` that were forgotten, and their talks to those that are cut."""
    if not persona.tombstones.exists():
        return
    brought = {line.id: _brought_by_line(persona, line) for line in lines}
    buried = refused.among(persona, chain.from_iterable(brought.values()))
    gone = [line for line in lines if line.session in refused.sessions or not buried.isdisjoint(brought[line.id])]
    refused.messages.update(line.id for line in gone)
    refused.cut.update(line.session for line in gone)


def note_nodes(
    persona: Persona, nodes: Collection[NodeRecord], refused: RefusedRecords, said: Mapping[str, str] | None = None
) -> None:
    """Add those of `nodes` that were forgotten, or that rest on lines alone of which none is left. `said` are the whole
    lines that they rest on, by their ids, as far as they are here."""
    if not persona.tombstones.exists():
        return
    contents = said or {}
    brought = {
        node.id: set(
            _brought_by_node(node, refused, [contents[key] for key in cited_message_ids(node) if key in contents])
        )
        for node in nodes
    }
    buried = refused.among(persona, chain.from_iterable(brought.values()))
    refused.nodes.update(
        node.id
        for node in nodes
        if not buried.isdisjoint(brought[node.id]) or (not node.filling and _rests_on_nothing(node, refused))
    )


def is_refused(persona: Persona, entity: EntityRecord, refused: RefusedRecords) -> bool:
    """Whether somebody or something was forgotten here, or is mentioned in nothing that is left."""
    if entity.nodes and refused.nodes.issuperset(entity.nodes):
        return True
    brought = [of_external("entity", entity.id), TombstoneSource("name", entity.name)]
    return bool(refused.among(persona, brought))


def names_left(persona: Persona, names: Collection[str], refused: RefusedRecords) -> list[str]:
    """Those of `names` that were not forgotten here."""
    buried = refused.among(persona, [TombstoneSource("name", name) for name in names])
    return [name for name in names if TombstoneSource("name", name) not in buried]


def _note_talks(archive: Lines, persona: Persona, refused: RefusedRecords) -> None:
    kept: set[str] = set()
    for talks in archive("session"):
        brought = {of_external("session", talk.record.id): talk.record.id for talk in talks}
        refused.sessions.update(brought[one] for one in refused.among(persona, brought))
    for batch in archive("message"):
        lines = [one.record for one in batch]
        note_messages(persona, lines, refused)
        kept.update(line.session for line in lines if line.id not in refused.messages)
    refused.sessions |= refused.cut - kept


def _rests_on_nothing(node: NodeRecord, refused: RefusedRecords) -> bool:
    """Whether all of its ground is refused; what never had any stands as it did."""
    said = cited_message_ids(node)
    concluded_from = set(node.filling or ())
    if not said and not concluded_from:
        return False
    return said <= refused.messages and concluded_from <= refused.nodes


def cited_message_ids(node: NodeRecord) -> set[str]:
    """The ids of the lines that a node rests on."""
    return {*node.messages, *(quoted.message for quoted in node.evidence or ())}


def _brought_by_line(persona: Persona, line: MessageRecord) -> set[TombstoneSource]:
    day = line.created_at.astimezone(persona.zone).date()
    return tombstones.of_line(line.id, line.content, day)


def _brought_by_node(node: NodeRecord, refused: RefusedRecords, said: Iterable[str]) -> Iterator[TombstoneSource]:
    yield of_external("node", node.id)
    yield TombstoneSource("text", tidy_description(node.description))
    quotes = (quoted.quote for quoted in node.evidence or () if quoted.message not in refused.messages)
    for text in chain(quotes, said):
        yield TombstoneSource("text", text)
