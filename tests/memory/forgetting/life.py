"""A piece of a life with words in every place that can hold them: messages, memories, conclusions,
names, summaries, notes, answers of models, events, logs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django_q.models import Task

from chat.messages import receive_message
from chat.models import CrisisFlag, Message, Session
from chat.turns import turn as turns
from echovessel.embeddings import embedding
from echovessel.language.person_names import normalize_name
from echovessel.llm.models import LLMCall
from echovessel.outbox import events
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    Filling,
    Mention,
    MergeProposal,
    ModelReply,
    NodeVersion,
    StagedVector,
)
from memory.store import vectors
from persona import mood
from persona.models import Persona
from tests.memory.sessions import event, extraction

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
TOLD = "My cat Milo died in Lisbon on Friday."
FORGOTTEN = (TOLD, "Ana's cat Milo died in Lisbon.", "She grieves for Milo.", "Milo, the cat, is ill in Lisbon.")


@dataclass
class Life:
    """The rows of this life that tests name."""

    persona: Persona
    talk: Session
    later: Session
    told: Message
    pottery_told: Message
    milo: ConceptNode
    ill: ConceptNode
    pottery: ConceptNode
    week: ConceptNode
    grief: ConceptNode
    renewal: ConceptNode


def lived(persona: Persona) -> Life:
    """Create a life with every kind of row that can hold words."""
    message = say(persona, TOLD, f"You told me: {TOLD}")
    pottery_told = say(persona, "I started pottery with Nora and Tomek.", "How nice.", minutes=1)
    session = message.session
    milo = node(persona, FORGOTTEN[1], session, quoting(message), emotional_impact=-8)
    ill = node(persona, FORGOTTEN[3], session, quoting(message, 3, 11), superseded_by=milo, status="superseded")
    pottery = node(persona, "Ana started pottery with Nora and Tomek.", session, quoting(pottery_told))
    week = node(
        persona, "Ana had a week of ends and beginnings.", session, quoting(message, 0, 6), quoting(pottery_told, 0, 9)
    )
    grief = node(persona, FORGOTTEN[2], session, kind="thought", on=[milo])
    renewal = node(persona, "She answers a loss with something new.", session, kind="thought", on=[milo, pottery])
    _add_entities(persona, milo, ill, pottery, grief)
    close(session, summary="Milo's death, and pottery.")
    _add_consolidation(session, milo, message)
    later = _add_later_session(persona, milo, message, pottery)
    _add_logs(persona, session, message, milo)
    persona.refresh_from_db()
    return Life(persona, session, later, message, pottery_told, milo, ill, pottery, week, grief, renewal)


def say(persona: Persona, text: str, reply: str, *, minutes: int = 0, xray: dict[str, Any] | None = None) -> Message:
    """Receive a message and finish its turn with a reply."""
    now = NOW + timedelta(minutes=minutes)
    message = receive_message(persona, text, None, "web", now).message
    turn = turns.claim(persona.pk, now)
    assert turn
    assert turns.finish(turn, reply, stopped=False, first_token_at=now, xray=xray or {}, now=now)
    return message


def quoting(message: Message, start: int = 0, end: int | None = None) -> Evidence:
    """Evidence for a memory: a quote of a message."""
    quote = message.content[start:end]
    return Evidence(message=message, quote=quote, start=start, end=start + len(quote))


def node(
    persona: Persona, description: str, session: Session, *evidence: Evidence, on: Any = (), **fields: Any
) -> ConceptNode:
    """A memory with evidence or with other memories as its filling, and a distinct vector that no model computed."""
    fields = {
        "kind": "event",
        "source": "reflection" if on else "extraction",
        "content_hash": description[:64],
    } | fields
    created = ConceptNode.objects.create(
        persona=persona, description=description, session=session, embedding_model=embedding.name(), **fields
    )
    vectors.index([created], np.eye(1, embedding.DIMENSION, created.pk % embedding.DIMENSION, dtype=np.float32))
    for row in evidence:
        row.node = created
        row.save()
    Filling.objects.bulk_create([Filling(parent=created, child=child) for child in on])
    return created


def close(session: Session, summary: str) -> None:
    Session.objects.filter(pk=session.pk).update(status="closed", closed_at=NOW, summary=summary)
    session.refresh_from_db()


def entity(persona: Persona, name: str, *nodes: ConceptNode, **fields: Any) -> Entity:
    created = Entity.objects.create(persona=persona, canonical_name=name, **fields)
    Alias.objects.create(entity=created, persona=persona, text=name, normalized=normalize_name(name))
    Mention.objects.bulk_create([Mention(node=memory, entity=created) for memory in nodes])
    return created


def _add_entities(
    persona: Persona, milo: ConceptNode, ill: ConceptNode, pottery: ConceptNode, grief: ConceptNode
) -> None:
    cat = entity(persona, "Milo", milo, ill, grief, kind="pet")
    entity(persona, "Milou", kind="pet", status="merged", merged_into=cat)
    nora = entity(persona, "Nora", pottery, kind="person")
    MergeProposal.objects.create(a=cat, b=nora, score=0.5)
    place = {"described_by": "slow_cycle", "description": "The city where Milo died."}
    studies = node(persona, "Ana studied in Lisbon.", milo.session, quoting(pottery.evidence.get().message, 0, 1))
    entity(persona, "Lisbon", milo, ill, studies, kind="place", **place)


def _add_consolidation(session: Session, milo: ConceptNode, message: Message) -> None:
    """The rows that consolidation leaves in addition to memories."""
    answer = extraction([event(milo.description, {"message_id": f"m{message.pk}", "quote": TOLD})])
    Extraction.objects.create(session=session, chunk=0, through=message.pk, answer=answer, dropped=1, applied_at=NOW)
    mood.change(session.persona, mood.Mood("sad for Milo", 3, "grieving"), session.uuid, NOW)
    events.publish(
        session.persona.uuid,
        "memory.event.created",
        event_id=str(milo.uuid),
        description=milo.description,
        session_id=None,
    )
    events.publish(
        session.persona.uuid, "chat.session.boundary", closed_session_id=str(session.uuid), summary=session.summary
    )
    NodeVersion.objects.create(
        node=milo, version=1, description="Ana's cat Milo died in Porto.", emotional_impact=-8, edited_at=NOW
    )
    StagedVector.objects.create(node=milo, model="the next", embedding=b"\0" * 16)
    CrisisFlag.objects.create(message=message, raised_at=NOW)


def _add_later_session(persona: Persona, milo: ConceptNode, message: Message, pottery: ConceptNode) -> Session:
    """A session in which Milo was recalled; it waits for consolidation, and one reply of the model is stored."""
    recollection = {"id": str(milo.uuid), "layer": "L3", "messages": [str(message.uuid)]}
    xray = {"recollections": {"chosen": [recollection], "candidates": [recollection, {"id": str(pottery.uuid)}]}}
    later_message = say(persona, "How was my week?", "Hard: the cat, and Lisbon.", minutes=90, xray=xray)
    Session.objects.filter(pk=later_message.session_id).update(status="closing")
    ModelReply.objects.create(
        persona=later_message.persona,
        session=later_message.session,
        step="extraction:1",
        number=0,
        text=f"It was about {TOLD}",
    )
    later_message.session.refresh_from_db()
    return later_message.session


def _add_logs(persona: Persona, session: Session, message: Message, milo: ConceptNode) -> None:
    """Rows in the ledger of calls, in the log of the admin, and in the traceback of a failed job."""
    assert message.turn
    LLMCall.objects.create(
        owner=persona.owner, persona_uuid=persona.uuid, session_uuid=session.uuid, turn_uuid=message.turn.uuid,
        purpose="chat", provider="offline", model="offline", outcome="ok",
    )  # fmt: skip
    LogEntry.objects.create(
        user=persona.owner,
        content_type=ContentType.objects.get_for_model(apps.get_model("memory.Event"), for_concrete_model=False),
        object_id=str(milo.pk), object_repr=milo.description, action_flag=CHANGE,
    )  # fmt: skip
    Task.objects.create(
        id=uuid4().hex, name="a job", func="memory.tasks.consolidate_session", args=(session.pk,),
        started=NOW, stopped=NOW, result=f"ValueError: {TOLD}", success=False,
    )  # fmt: skip
