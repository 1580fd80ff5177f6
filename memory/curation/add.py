"""Add a memory that a person writes: an event or a conclusion, with its evidence.

A person's memory needs ground as well: an event rests on messages, a conclusion on messages or memories.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from chat.models import Message
from echovessel.embeddings import embedding
from memory.curation.correct import InvalidMemory
from memory.curation.remember import NotRemembered
from memory.entities.mentions import note_named
from memory.models import ConceptNode
from memory.models.node import L3
from memory.store.active_model import follow, with_one_model
from memory.store.deduplication import DateRange
from memory.store.writing import (
    Draft,
    Quote,
    WrittenNode,
    clamped_impact,
    emotion_tags,
    relational_tags,
    tidy_description,
    write,
)
from persona.models import Persona


class MissingEvidence(ValueError):
    """It has no ground: an event needs a message, anything else a message or a memory."""


@dataclass(frozen=True)
class Addition:
    """A memory to add. `lines` are messages, quoted whole; `grounds` are memories it was concluded from."""

    kind: str
    description: str
    subject: str = ConceptNode.Subject.USER
    emotional_impact: int = 0
    emotion_tags: Sequence[str] = ()
    relational_tags: Sequence[str] = ()
    event_time: DateRange | None = None
    domain: str = ""
    lines: Sequence[Message] = ()
    grounds: Sequence[ConceptNode] = ()


@with_one_model
def add(persona: Persona, addition: Addition, now: datetime) -> WrittenNode:
    """Write the memory through the gate of all memories, confirmed because a person states it; returns the outcome.

    No transaction may be open. Raises MissingEvidence, NotRemembered, InvalidMemory and EmbeddingUnavailable.
    """
    for message in addition.lines:
        if message.session.off_the_record:
            raise NotRemembered("off_the_record")
        if message.withheld or message.role == Message.Role.SYSTEM:
            raise NotRemembered("withheld")
    is_event = addition.kind in L3
    if not addition.lines and (is_event or not addition.grounds):
        raise MissingEvidence
    if not (description := tidy_description(addition.description)):
        raise InvalidMemory("description", "a node needs a description")
    if addition.event_time and addition.event_time[1] < addition.event_time[0]:
        raise InvalidMemory("event_time", "an event cannot end before it begins")
    draft = Draft(
        kind=addition.kind,
        description=description,
        source=ConceptNode.Source.PERSON,
        subject=addition.subject,
        emotional_impact=clamped_impact(addition.emotional_impact),
        emotion_tags=emotion_tags(addition.emotion_tags),
        relational_tags=relational_tags(addition.relational_tags),
        event_time=addition.event_time,
        domain=(addition.domain or ConceptNode.Domain.ABOUT) if addition.kind == ConceptNode.Kind.FACT else "",
        session=addition.lines[0].session if addition.lines else None,
        verification=ConceptNode.Verification.CONFIRMED,
        evidence=[Quote(message, message.content, 0, len(message.content)) for message in addition.lines],
        filling=() if is_event else addition.grounds,
    )
    model = follow()
    [vector] = embedding.embed([draft.description], is_hurried=True)
    with transaction.atomic():
        Persona.objects.select_for_update().get(pk=persona.pk)
        node = write(persona, draft, vector, model, now)
        if node.node is None:
            raise NotRemembered("forgotten")
        note_named(node.node, draft.description)
    return node
