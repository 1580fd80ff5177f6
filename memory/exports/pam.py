"""The conversations and memories of a persona as Portable AI Memory 1.0.

The specification cannot mark an item as not for prompts: withheld messages are left out, and hidden or quarantined
memories are exported as deprecated. Sessions off the record are never exported.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from chat.models import Message
from memory.archive.parts import in_batches, in_order
from memory.imports.readers.pam import RELATIONS
from memory.imports.readers.pam_writing import PamExport, write
from memory.imports.readers.types import FileMessage, FileSession, Remembered, Role
from memory.models import ConceptNode, Entity, Evidence, Filling
from persona.models import Persona
from persona.models.core_block import Label

_STATUSES = {"active": "active", "superseded": "superseded", "archived": "archived"}
# Kinds of the specification; other kinds keep our names as custom kinds.
_TYPES = {"intention": "goal"}
_BLOCKS = {Label.USER: "identity", Label.STYLE: "instruction", Label.PERSONA: "companion"}
_TAG = re.compile("[a-z0-9][a-z0-9_-]*")


def write_pam(persona: Persona, now: datetime) -> Iterator[bytes]:
    """The bytes of the zip."""
    export_id = str(uuid5(NAMESPACE_URL, f"{persona.uuid} {now.isoformat()}"))
    export = PamExport(owner=persona.owner.get_username(), now=now, export_id=export_id)
    yield from write(_memories(persona), _sessions(persona), export)


# --- sessions ---------------------------------------------------------------------------------------------------------
def _sessions(persona: Persona) -> Iterator[FileSession]:
    """The sessions in batches of messages. System notices have no speaker and are left out."""
    sides: Mapping[str, tuple[Role, str]] = {
        Message.Role.USER: ("user", persona.user_display_name),
        Message.Role.PERSONA: ("persona", persona.name),
    }
    for session in in_order(persona.sessions.filter(off_the_record=False).order_by("started_at", "pk")):
        for batch in in_batches(in_order(session.messages.filter(withheld=False).order_by("created_at", "pk"))):
            records = []
            for message in batch:
                role, speaker = sides.get(message.role, ("other", message.speaker))
                if role == "other" and speaker.casefold() in (
                    persona.user_display_name.casefold(),
                    persona.name.casefold(),
                ):
                    speaker = f"{speaker} (other)" if speaker else ""  # readers tell people apart by name
                if speaker:
                    records.append(
                        FileMessage(speaker, message.content, message.created_at, str(message.uuid), "", role)
                    )
            if records:
                yield FileSession(session.summary, str(session.uuid), tuple(records), "")


# --- memories ---------------------------------------------------------------------------------------------------------
def _memories(persona: Persona) -> Iterator[Remembered]:
    # The core blocks, as an instruction, an identity, and a description of the companion.
    for block in persona.core_blocks.exclude(content="").order_by("label"):
        if block.content.strip():
            rest = _rest(block.edited_at, method="manual")
            kind = _BLOCKS[Label(block.label)]
            yield Remembered(block.content, kind, None, 1.0, f"{persona.uuid}-{block.label}", "", rest)
    links = _Links(persona)
    for node in in_order(persona.nodes.order_by("pk")):
        yield links.memory(node)
    described = persona.entities.exclude(status=Entity.Status.MERGED).exclude(description="").order_by("pk")
    for entity in in_order(described.prefetch_related("aliases")):
        names = [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name]
        rest = _rest(entity.created_at, method="manual" if entity.described_by == "person" else "llm_inference")
        rest["metadata"] = {"name": entity.canonical_name, "kind": entity.kind, "aliases": names}
        text = f"{entity.canonical_name}: {entity.description}"
        kind = "relationship" if entity.kind == Entity.Kind.PERSON else "context"
        yield Remembered(text, kind, None, None, str(entity.uuid), "", rest)


class _Links:
    """The sources and successors of memories, by uuid: each memory's first message, and the memories it was concluded
    from."""

    def __init__(self, persona: Persona) -> None:
        self.nodes = dict(persona.nodes.values_list("pk", "uuid"))
        self.said_in: dict[int, tuple[UUID, UUID]] = {}
        evidence = Evidence.objects.filter(node__persona=persona, message__withheld=False).order_by("message_id")
        for node, message, session in evidence.values_list("node_id", "message__uuid", "message__session__uuid"):
            self.said_in.setdefault(node, (message, session))
        self.grounds: dict[int, list[int]] = defaultdict(list)
        edges = Filling.objects.filter(parent__persona=persona, orphaned=False).order_by("pk")
        for parent, child in edges.values_list("parent_id", "child_id"):
            self.grounds[parent].append(child or 0)

    def relations(self, node: ConceptNode) -> list[dict[str, Any]]:
        """Edges from the memory to the memories it was concluded from."""
        grounds = (self.nodes[key] for key in self.grounds[node.pk] if key in self.nodes)
        return [
            {
                "id": f"{node.uuid}-{ground}",
                "from": str(node.uuid),
                "to": str(ground),
                "type": "derived_from",
                "created_at": node.created_at.isoformat(),
            }
            for ground in grounds
        ]

    def memory(self, node: ConceptNode) -> Remembered:
        relations = self.relations(node)
        rest = _rest(node.created_at, method="manual" if node.source == "person" else "llm_inference")
        # The days of the event: whole days, without a time zone of their own.
        start, end = node.event_time_start, node.event_time_end
        days = {"valid_from": _midnight(start), "valid_until": _midnight(end)} if start and end else {}
        successor = self.nodes.get(node.superseded_by_id or 0)
        superseded = {"superseded_by": str(successor)} if successor else {}
        rest["temporal"] |= {"updated_at": node.last_mentioned_at.isoformat()} | days | superseded
        if place := self.said_in.get(node.pk):
            rest["provenance"] |= {"message_ref": str(place[0]), "conversation_ref": str(place[1])}
        # Fields that the specification does not have.
        names = ("kind", "subject", "status", "emotional_impact", "emotion_tags", "relational_tags", "verification")
        rest |= {
            "status": _STATUSES.get(node.status, "deprecated"),
            "tags": [tag for tag in (*node.emotion_tags, *node.relational_tags) if _TAG.fullmatch(tag)],
            "metadata": {name: getattr(node, name) for name in (*names, "outcome", "pinned", "mention_count")},
        }
        rest |= {RELATIONS: relations} if relations else {}
        kind = _TYPES.get(node.kind, node.kind)
        return Remembered(node.description, kind, node.event_time_start, node.confidence, str(node.uuid), "", rest)


def _midnight(day: date) -> str:
    return f"{day.isoformat()}T00:00:00+00:00"


def _rest(at: datetime, method: str) -> dict[str, Any]:
    """The fields that the specification requires of every memory."""
    return {
        "temporal": {"created_at": at.isoformat()},
        "provenance": {"platform": PamExport.platform, "extraction_method": method},
    }
