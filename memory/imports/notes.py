"""Notes: content other than messages, such as character cards, lorebooks and memories of other systems. Texts for core
blocks are proposed as drafts; the rest is stored unverified. All rows get the uuid of the import."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from uuid import UUID

import numpy as np
from django.db.models import Q

from echovessel.embeddings import embedding
from echovessel.language.person_names import normalize_name, occurs
from memory.archive.parts import uuids_among
from memory.entities.mentions import note_named
from memory.entities.resolve import learn_aliases, link, usable_names
from memory.imports.note_rules import (
    LONGEST_DESCRIPTION,
    DescribedPerson,
    Memory,
    Names,
    Note,
    Passage,
    SortedNotes,
    sort_notes,
)
from memory.imports.readers.types import digest
from memory.models import Alias, ConceptNode, Entity
from memory.slow_cycle.entity_descriptions import shorten_description
from memory.store import tombstones
from memory.store.active_model import follow
from memory.store.tombstones import TombstoneSource, of_external
from memory.store.writing import Draft, in_one_line, tidy_description, write
from persona.models import Persona
from persona.onboarding import drafts

MAX_NAMES = 12
_NOON = time(12)


@dataclass(frozen=True)
class PreparedNotes:
    """Notes that are sorted, embedded and ready to be stored. `vectors` are those of the memories, by id."""

    sorted_out: SortedNotes
    vectors: Mapping[str, np.ndarray]
    model: str


def prepare_notes(persona: Persona, notes: Sequence[Note]) -> PreparedNotes:
    """Sort and embed the notes. No transaction may be open. Raises EmbeddingUnavailable."""
    model, sorted_notes = follow(), sort_notes(notes, Names(persona.name, persona.user_display_name))
    memories = sorted_notes.all_memories()
    vectors = embedding.embed([tidy_description(memory.text) for memory in memories])
    by_id = {memory.external_id: vector for memory, vector in zip(memories, vectors, strict=True)}
    return PreparedNotes(sorted_notes, by_id, model)


def store(persona: Persona, ready: PreparedNotes, import_uuid: UUID, now: datetime) -> Mapping[str, int]:
    """Write all notes, once, in the caller's transaction; returns counts of "drafts", "nodes", "entities", "known",
    "refused", and of left out notes by reason. Raises ModelChanged if the embedding model was changed meanwhile."""
    storing = _NoteStorer(persona, ready, import_uuid, now)
    if ready.sorted_out.greeting and not persona.messages.exists():
        # Read again, because a model may have written a greeting for an opened page. A greeting from another card or a
        # person is kept.
        replaceable = Persona.objects.filter(Q(greeting="") | Q(greeting_by_model=True), pk=persona.pk)
        replaceable.update(
            greeting=ready.sorted_out.greeting, greeting_import_uuid=import_uuid, greeting_by_model=False
        )
    for passage in ready.sorted_out.passages:
        storing.propose(passage)
    for memory in ready.sorted_out.memories:
        storing.remember(memory)
    for person in ready.sorted_out.people:
        storing.introduce(person)
    return storing.counts


@dataclass
class _NoteStorer:
    """Stores notes, and counts them."""

    persona: Persona
    ready: PreparedNotes
    import_uuid: UUID
    now: datetime
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.counts.update(self.ready.sorted_out.left_out)

    # --- L1, for people to accept -----------------------------------------------------------------------------------
    def propose(self, passage: Passage) -> None:
        if tombstones.refuses_draft(self.persona, passage.label, passage.text, passage.quote):
            self.counts["refused"] += 1
            return
        words = drafts.DraftSource(passage.quote, where=passage.where)
        is_new = drafts.propose(self.persona, passage.label, passage.text, [words], self.import_uuid, self.now)
        self.counts["drafts" if is_new else "known"] += 1

    # --- L3 ---------------------------------------------------------------------------------------------------------
    def remember(self, memory: Memory) -> ConceptNode | None:
        """Write the memory through the gate. None if it was forgotten before, or is already stored, which changes
        nothing."""
        own = list(uuids_in([memory.external_id]))
        if (
            self.persona.nodes.filter(Q(external_id=_id(memory.external_id)) | Q(uuid__in=own)).exists()
            or self.persona.entities.filter(uuid__in=own).exists()
        ):
            self.counts["known"] += 1
            return None
        if tombstones.refused_among(self.persona, [of_external("node", _id(memory.external_id))]):
            self.counts["refused"] += 1
            return None
        vector = self.ready.vectors[memory.external_id]
        # Noon of the day on which the other system stored it, in the persona's zone, but never in the future.
        if memory.day is None:
            remembered_at = None
        else:
            remembered_at = min(datetime.combine(memory.day, _NOON, self.persona.zone), self.now)
        node = write(
            self.persona,
            Draft(
                kind=memory.kind,
                description=memory.text,
                source=ConceptNode.Source.IMPORT,
                subject=memory.subject,
                emotional_impact=memory.emotional_impact,
                emotion_tags=memory.emotion_tags,
                relational_tags=memory.relational_tags,
                event_time=memory.event_time,
                confidence=memory.confidence,
                external_id=_id(memory.external_id),
                created_at=remembered_at,
                import_uuid=self.import_uuid,
            ),
            vector,
            self.ready.model,
            self.now,
        )
        outcome = {"new": "nodes", "refused": "refused"}.get(node.outcome, "known")
        self.counts[outcome] += 1
        if node.node is not None and outcome == "nodes":
            note_named(node.node, node.node.description)
        return node.node

    # --- L5 ---------------------------------------------------------------------------------------------------------
    def introduce(self, person: DescribedPerson) -> None:
        """Create a new, uncertain entity; if its name is known or unusable, its text becomes a memory."""
        names = usable_names(self.persona, person.names)
        if self.persona.entities.filter(external_id=_id(person.external_id)).exists():
            self.counts["known"] += 1
            return
        # The id, the text or the name may have been forgotten here.
        sources = [of_external("entity", _id(person.external_id)), TombstoneSource("text", person.text)]
        sources += [TombstoneSource("name", name) for name in list(names)[:1]]
        if bool(tombstones.refused_among(self.persona, sources)):
            self.counts["refused"] += 1
            return
        aliases = Alias.objects.filter(persona=self.persona, normalized__in=[normalize_name(name) for name in names])
        if not names or aliases.exists():
            self._remember_all(person)
            return
        entity = Entity.objects.create(
            persona=self.persona,
            external_id=_id(person.external_id),
            canonical_name=names[0],
            description=shorten_description(in_one_line(person.text)),
            status=Entity.Status.UNCERTAIN,
            import_uuid=self.import_uuid,
        )
        buried = tombstones.refused_among(self.persona, [TombstoneSource("name", name) for name in names])
        learn_aliases(entity, [name for name in names if TombstoneSource("name", name) not in buried][:MAX_NAMES])
        self.counts["entities"] += 1
        if len(in_one_line(person.text)) > LONGEST_DESCRIPTION:
            link(
                entity,
                [
                    node
                    for node in self._remember_all(person)
                    if any(occurs(alias.text, node.description) for alias in entity.aliases.all())
                ],
            )

    def _remember_all(self, person: DescribedPerson) -> list[ConceptNode]:
        return [node for memory in person.memories if (node := self.remember(memory))]


def uuids_in(ids: Iterable[str]) -> dict[UUID, str]:
    """The uuids at the end of these ids, with the ids: rows that were exported here and come back."""
    ends = {name.partition(":")[2]: name for name in ids}
    return {uuid: ends[str(uuid)] for uuid in uuids_among(ends)}


def _id(external_id: str) -> str:
    """The id to store: unchanged, or its digest if it is too long."""
    longest = ConceptNode._meta.get_field("external_id").max_length or 0
    return external_id if len(external_id) <= longest else digest(external_id)
