"""The kept messages and memories that share fingerprints with forgotten text.

Kept text is no trace of forgotten text, wherever its rows lead: to their index rows, quotes and events, the summary of
their session, the memories that rest on them. A copy that leads to none of them is a trace. Core blocks and
descriptions written by people belong to these people, and are no trace either.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from chat.models import Message, MessageText
from echovessel.db.text_columns import OnForget
from memory.erasure import receipts
from memory.forgetting.registry import among
from memory.models import ConceptNode, Entity, Evidence, Filling, Mention, NodeText

if TYPE_CHECKING:
    from memory.forgetting.verify import Value

_UUID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The columns by which a row refers to a message, memory, session or turn; in their own tables, the primary key.
_REFERENCE_COLUMNS = {"message_id": "message", "node_id": "node", "session_id": "session", "turn_id": "turn"}
_KIND_OF_TABLE = {
    "chat_message": "message",
    "memory_conceptnode": "node",
    "memory_entity": "entity",
    "chat_session": "session",
    "chat_turn": "turn",
}


@dataclass
class KeptRows:
    """The fingerprints of kept rows, by references to these: (kind, key), or a uuid in hex."""

    prints_by_reference: dict[Any, set[str]] = field(default_factory=lambda: defaultdict(set))
    prints: set[str] = field(default_factory=set)
    messages: int = 0

    @classmethod
    def of(cls, prints: Collection[str], deleted_ids: Collection[str]) -> "KeptRows":
        """The kept rows with one of these fingerprints; `deleted_ids` are the ids of forgotten rows, in hex."""
        kept_rows = cls()
        if prints:
            kept_rows.read_messages(prints, deleted_ids)
            kept_rows.read_nodes(prints, deleted_ids)
        return kept_rows

    def accounting_for(self, value: "Value", texts: Iterable[str]) -> set[str]:
        """The fingerprints of kept rows that the row of this value refers to."""
        row: Mapping[str, Any] = value.row
        keys: set[Any] = {
            (kind, row[column]) for column, kind in _REFERENCE_COLUMNS.items() if row.get(column) is not None
        }
        if value.table in _KIND_OF_TABLE:
            keys.add((_KIND_OF_TABLE[value.table], row["id"]))
        texts_with_ids = (text for text in [*texts, *map(str, row.values())])
        keys |= {uuid_text.replace("-", "") for text in texts_with_ids for uuid_text in _UUID.findall(text)}
        return set().union(*(self.prints_by_reference[key] for key in keys if key in self.prints_by_reference))

    def read_messages(self, prints: Collection[str], deleted_ids: Collection[str]) -> None:
        bodies = MessageText.objects.order_by().values_list("message_id", "body").iterator(chunk_size=500)
        message_ids = _with_prints(bodies, prints)
        rows = Message.objects.filter(pk__in=among(message_ids)).values_list(
            "pk", "uuid", "session_id", "session__uuid", "turn_id", "turn__uuid"
        )
        for pk, uuid, session, session_uuid, turn, turn_uuid in rows:
            if uuid.hex in deleted_ids:
                continue
            self.messages += 1
            self._note(
                message_ids[pk], ("message", pk), uuid, ("session", session), session_uuid, ("turn", turn), turn_uuid
            )

    def read_nodes(self, prints: Collection[str], deleted_ids: Collection[str]) -> None:
        """Read memories that rest on something; one without ground counts as a copy."""
        bodies = NodeText.objects.order_by().values_list("node_id", "body").iterator(chunk_size=500)
        node_ids = _with_prints(bodies, prints)
        quoted = Exists(Evidence.objects.filter(node=OuterRef("pk")))
        concluded = Exists(Filling.objects.filter(parent=OuterRef("pk"), child__isnull=False))
        imported = Q(source=ConceptNode.Source.PERSON) | Q(import_uuid__isnull=False)
        grounded = ConceptNode.objects.filter(quoted | concluded | imported, pk__in=among(node_ids))
        for pk, uuid, session, session_uuid in grounded.values_list("pk", "uuid", "session_id", "session__uuid"):
            if uuid.hex not in deleted_ids:
                self._note(node_ids[pk], ("node", pk), uuid, ("session", session), session_uuid)
        for entity, node in Mention.objects.filter(node__in=among(node_ids)).values_list("entity_id", "node_id"):
            self.prints_by_reference["entity", entity] |= self.prints_by_reference.get(("node", node), set())

    def _note(self, prints: set[str], *references: Any) -> None:
        self.prints |= prints
        for reference in references:
            if reference is not None:
                self.prints_by_reference[reference.hex if isinstance(reference, UUID) else reference] |= prints


def is_written_by_people(value: "Value") -> bool:
    """Whether people wrote it: a core block, the persona's facts, or the description of an entity."""
    return value.declaration.on_forget is OnForget.OWNERS or (
        value.name == "memory_entity.description" and value.row["described_by"] == Entity.DescribedBy.PERSON
    )


def _with_prints(bodies: Iterable[tuple[int, str]], wanted: Collection[str]) -> dict[int, set[str]]:
    """The fingerprints in each tokenized body that contains any of `wanted`."""
    hits = ((key, set(receipts.fingerprints_in(body.split())).intersection(wanted)) for key, body in bodies)
    return {key: prints for key, prints in hits if prints}
