"""Extraction: what of a talk is worth remembering, asked of a small model, chunk by chunk.

The answer is stored as it is before anything is made of it, so that a repeat never pays for it twice.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count

from chat.models import Session
from echovessel import embedding, llm
from echovessel.context import shortened, unfenced
from memory import knobs, vectors
from memory.consolidation import prompting
from memory.consolidation.answers import ExtractionAnswer
from memory.consolidation.chunks import cut
from memory.consolidation.lines import Line
from memory.models import ConceptNode, Entity, Extraction
from persona.models import Persona

BLOCK_TOKENS = 400
LINES_COMPARED = 32
NEIGHBOURS_PER_LINE = 8
FARTHEST = 1.2  # Euclidean; farther apart than this (cosine 0.28) two texts have nothing in common (recall.md)


def chunks_of(lines: Sequence[Line]) -> list[list[Line]]:
    """The session in the pieces that are asked about, always the same ones for the same lines."""
    return cut(lines, knobs.chunk_tokens(), knobs.chunk_overlap_lines())


def extract(session: Session, number: int, chunk: Sequence[Line], now: datetime) -> Extraction:
    """Ask about one chunk and store the answer. Raises LLMError and EmbeddingUnavailable.

    No transaction may be open: the model and the embedder work in here.
    """
    known = similar_events(session.persona, chunk)
    answer = llm.answer_now(_request(session, chunk, known, now), ExtractionAnswer)
    _drop_unknown_ids(answer.value, known)
    with transaction.atomic():
        stored, _ = Extraction.objects.get_or_create(
            session=session,
            chunk=number,
            defaults={"answer": answer.value.model_dump(mode="json"), "dropped": answer.value.dropped},
        )
    return stored


def _drop_unknown_ids(answer: ExtractionAnswer, known: Sequence[ConceptNode]) -> None:
    """Only what the model was shown can be replaced by what it says."""
    given = {node.pk for node in known}
    for event in answer.events:
        event.supersedes = [cited for cited in event.supersedes if prompting.node_id(cited) in given]


def _request(session: Session, chunk: Sequence[Line], known: Sequence[ConceptNode], now: datetime) -> llm.Request:
    persona = session.persona
    blocks = _blocks(persona)
    entities = _known_entities(persona)
    return prompting.request(
        persona,
        "extraction",
        tier="small",
        max_tokens=knobs.extraction_tokens(),
        session_uuid=session.uuid,
        values={
            "said": prompting.said(persona, chunk),
            "now": f"{now.astimezone(persona.zone):%Y-%m-%d %a %H:%M}",
            "timezone": persona.timezone,
            "persona_block": blocks.get("persona", ""),
            "user_block": blocks.get("user", ""),
            "entities": [_described(entity) for entity in entities],
            "known": prompting.remembered(persona, known),
        },
        material=_material(persona, chunk, entities, now),
    )


def _material(persona: Persona, chunk: Sequence[Line], entities: Sequence[Entity], now: datetime) -> dict[str, Any]:
    return {
        "now": now.isoformat(),
        "timezone": persona.timezone,
        "lines": [
            {"id": f"m{line.id}", "role": line.role, "content": line.content, "at": line.at.isoformat()}
            for line in chunk
        ],
        "known_entities": [{"name": entity.canonical_name, "kind": entity.kind} for entity in entities],
    }


def similar_events(persona: Persona, chunk: Sequence[Line]) -> list[ConceptNode]:
    """The known events nearest to what the user said, for the model to repeat none and to correct one."""
    wanted = knobs.similar_events()
    texts = [line.content for line in chunk if line.by_user][-LINES_COMPARED:]
    if not wanted or not texts or not ConceptNode.objects.of(persona).exists():
        return []
    distances: dict[int, float] = {}
    for vector in embedding.embed(texts):
        for pk, distance in vectors.nearest(persona.pk, vector, NEIGHBOURS_PER_LINE):
            distances[pk] = min(distance, distances.get(pk, FARTHEST))
    near = [pk for pk, distance in distances.items() if distance < FARTHEST]
    events = ConceptNode.objects.of(persona).recallable().filter(kind=ConceptNode.Kind.EVENT, pk__in=near)
    return sorted(events, key=lambda event: (distances[event.pk], event.pk))[:wanted]


def _known_entities(persona: Persona) -> list[Entity]:
    """Whom the persona knows, the most mentioned first."""
    known = persona.entities.filter(status=Entity.Status.CONFIRMED)
    counted = known.annotate(times=Count("mentions")).order_by("-times", "-id").prefetch_related("aliases")
    return list(counted[: knobs.known_entities()])


def _described(entity: Entity) -> str:
    others = [alias.text for alias in entity.aliases.all() if alias.text != entity.canonical_name]
    names = " / ".join([entity.canonical_name, *others[:4]])
    return unfenced(f"{names} ({entity.kind})")


def _blocks(persona: Persona) -> dict[str, str]:
    """What people wrote about the two (L1), shortened; read, and by no job ever written."""
    written = persona.core_blocks.filter(label__in=["persona", "user"]).values_list("label", "content")
    return {label: unfenced(shortened(content.strip(), BLOCK_TOKENS)) for label, content in written}
