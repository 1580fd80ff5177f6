"""Finds the records of an archive that were forgotten here, before anything is loaded, so that none is ever written.

A message is refused for its id or its text; a session if all of its messages are refused; a node for its id or its
text, or if all its sources are refused. A node that loses only some of its sources is loaded without these.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
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
    """The ids of records to leave out. `cut` are sessions that lose messages; they are loaded without their summary.

    `archive_tombstones` are the tombstones of the archive itself, by digest, with their times. Its records were saved
    after them, because they were written anew or kept on purpose.
    """

    sessions: set[str] = field(default_factory=set)
    messages: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    archive_tombstones: Mapping[str, datetime] = field(default_factory=dict)

    def among(self, persona: Persona, sources: Iterable[TombstoneSource]) -> set[TombstoneSource]:
        """Those of `sources` that were forgotten here."""
        return tombstones.refused_among(persona, sources, archive_tombstones=self.archive_tombstones)


ArchiveLines = Callable[[str], Iterable[list[Numbered[Any]]]]  # yields an archive's records of a type, in batches


def check_archive(lines: ArchiveLines, persona: Persona, archive_tombstones: Mapping[str, datetime]) -> RefusedRecords:
    """The records that were forgotten here. If nothing was ever forgotten, nothing is read."""
    refused = RefusedRecords(archive_tombstones=archive_tombstones)
    if persona.tombstones.exists():
        surviving: set[str] = set()
        for sessions in lines("session"):
            sources = {of_external("session", numbered.record.id): numbered.record.id for numbered in sessions}
            refused.sessions.update(sources[source] for source in refused.among(persona, sources))
        for batch in lines("message"):
            messages = [numbered.record for numbered in batch]
            note_messages(persona, messages, refused)
            surviving.update(message.session for message in messages if message.id not in refused.messages)
        refused.sessions |= refused.cut - surviving
        # Nodes with sources, all of which may turn out to be refused.
        concluded: dict[str, NodeRecord] = {}
        for batch in lines("node"):
            nodes = [numbered.record for numbered in batch]
            note_nodes(persona, nodes, refused)
            concluded |= {node.id: node for node in nodes if node.filling and node.id not in refused.nodes}
        while refused_ids := {key for key, node in concluded.items() if _rests_on_nothing(node, refused)}:
            refused.nodes |= refused_ids
            concluded = {key: node for key, node in concluded.items() if key not in refused_ids}
    return refused


def note_messages(persona: Persona, messages: Collection[MessageRecord], refused: RefusedRecords) -> None:
    """Mark forgotten messages as refused, and their sessions as cut."""
    if not persona.tombstones.exists():
        return
    zone = persona.zone
    sources = {
        message.id: tombstones.of_line(message.id, message.content, message.created_at.astimezone(zone).date())
        for message in messages
    }
    hits = refused.among(persona, chain.from_iterable(sources.values()))
    for message in messages:
        if message.session in refused.sessions or not hits.isdisjoint(sources[message.id]):
            refused.messages.add(message.id)
            refused.cut.add(message.session)


def note_nodes(
    persona: Persona,
    nodes: Collection[NodeRecord],
    refused: RefusedRecords,
    cited_texts: Mapping[str, str] | None = None,
) -> None:
    """Mark nodes as refused that were forgotten, or that rest only on messages that are all refused. `cited_texts`
    are the contents of these messages, by id, as far as they exist here."""
    if not persona.tombstones.exists():
        return
    contents = cited_texts or {}
    sources: dict[str, set[TombstoneSource]] = {}
    for node in nodes:
        quotes = (quoted.quote for quoted in node.evidence or () if quoted.message not in refused.messages)
        cited_contents = (contents[key] for key in cited_message_ids(node) if key in contents)
        texts = {
            TombstoneSource("text", text) for text in (tidy_description(node.description), *quotes, *cited_contents)
        }
        sources[node.id] = texts | {of_external("node", node.id)}
    hits = refused.among(persona, chain.from_iterable(sources.values()))
    refused.nodes.update(
        node.id
        for node in nodes
        if not hits.isdisjoint(sources[node.id]) or (not node.filling and _rests_on_nothing(node, refused))
    )


def is_refused(persona: Persona, entity: EntityRecord, refused: RefusedRecords) -> bool:
    """Whether an entity was forgotten here, or all nodes that mention it are refused."""
    if entity.nodes and refused.nodes.issuperset(entity.nodes):
        return True
    return bool(refused.among(persona, [of_external("entity", entity.id), TombstoneSource("name", entity.name)]))


def remaining_names(persona: Persona, names: Collection[str], refused: RefusedRecords) -> list[str]:
    """Those of `names` that were not forgotten here."""
    hits = refused.among(persona, [TombstoneSource("name", name) for name in names])
    return [name for name in names if TombstoneSource("name", name) not in hits]


def _rests_on_nothing(node: NodeRecord, refused: RefusedRecords) -> bool:
    """Whether all sources of the node are refused; a node that never had any is kept."""
    message_ids, children = cited_message_ids(node), set(node.filling or ())
    return bool(message_ids or children) and message_ids <= refused.messages and children <= refused.nodes


def cited_message_ids(node: NodeRecord) -> set[str]:
    """The ids of the messages that a node cites."""
    return {*node.messages, *(quoted.message for quoted in node.evidence or ())}
