"""A piece of a life, with its words in every place where words are kept: lines, replies, memories, what was concluded,
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
    """What the tests speak of."""

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
    """All of it."""
    told = say(persona, TOLD, f"You told me: {TOLD}")
    pottery_told = say(persona, "I started pottery with Nora and Tomek.", "How nice.", minutes=1)
    talk = told.session
    milo = node(persona, FORGOTTEN[1], talk, quoting(told), emotional_impact=-8)
    ill = node(persona, FORGOTTEN[3], talk, quoting(told, 3, 11), superseded_by=milo, status="superseded")
    pottery = node(persona, "Ana started pottery with Nora and Tomek.", talk, quoting(pottery_told))
    week = node(
        persona, "Ana had a week of ends and beginnings.", talk, quoting(told, 0, 6), quoting(pottery_told, 0, 9)
    )
    grief = node(persona, FORGOTTEN[2], talk, kind="thought", on=[milo])
    renewal = node(persona, "She answers a loss with something new.", talk, kind="thought", on=[milo, pottery])
    _name(persona, milo, ill, pottery, grief)
    close(talk, summary="Milo's death, and pottery.")
    _remembered(talk, milo, told)
    later = _later(persona, milo, told, pottery)
    _noted_down(persona, talk, told, milo)
    persona.refresh_from_db()
    return Life(persona, talk, later, told, pottery_told, milo, ill, pottery, week, grief, renewal)


def say(persona: Persona, text: str, reply: str, *, minutes: int = 0, xray: dict[str, Any] | None = None) -> Message:
    """A line and the reply to it."""
    now = NOW + timedelta(minutes=minutes)
    message = receive_message(persona, text, None, "web", now).message
    turn = turns.claim(persona.pk, now)
    assert turn
    assert turns.finish(turn, reply, stopped=False, first_token_at=now, xray=xray or {}, now=now)
    return message


def quoting(message: Message, start: int = 0, end: int | None = None) -> Evidence:
    """The words of a line, for a memory to rest on."""
    quote = message.content[start:end]
    return Evidence(message=message, quote=quote, start=start, end=start + len(quote))


def node(
    persona: Persona, description: str, session: Session, *evidence: Evidence, on: Any = (), **fields: Any
) -> ConceptNode:
    """A memory that rests on words, or on other memories; with a vector of its own, that no model made."""
    fields = {
        "kind": "event",
        "source": "reflection" if on else "extraction",
        "content_hash": description[:64],
    } | fields
    made = ConceptNode.objects.create(
        persona=persona, description=description, session=session, embedding_model=embedding.name(), **fields
    )
    vectors.index([made], np.eye(1, embedding.DIMENSION, made.pk % embedding.DIMENSION, dtype=np.float32))
    for row in evidence:
        row.node = made
        row.save()
    Filling.objects.bulk_create([Filling(parent=made, child=child) for child in on])
    return made


def close(session: Session, summary: str) -> None:
    Session.objects.filter(pk=session.pk).update(status="closed", closed_at=NOW, summary=summary)
    session.refresh_from_db()


def entity(persona: Persona, name: str, *nodes: ConceptNode, **fields: Any) -> Entity:
    made = Entity.objects.create(persona=persona, canonical_name=name, **fields)
    Alias.objects.create(entity=made, persona=persona, text=name, normalized=normalize_name(name))
    Mention.objects.bulk_create([Mention(node=one, entity=made) for one in nodes])
    return made


def _name(persona: Persona, milo: ConceptNode, ill: ConceptNode, pottery: ConceptNode, grief: ConceptNode) -> None:
    cat = entity(persona, "Milo", milo, ill, grief, kind="pet")
    entity(persona, "Milou", kind="pet", status="merged", merged_into=cat)
    nora = entity(persona, "Nora", pottery, kind="person")
    MergeProposal.objects.create(a=cat, b=nora, score=0.5)
    place = {"described_by": "slow_cycle", "description": "The city where Milo died."}
    studies = node(persona, "Ana studied in Lisbon.", milo.session, quoting(pottery.evidence.get().message, 0, 1))
    entity(persona, "Lisbon", milo, ill, studies, kind="place", **place)


def _remembered(talk: Session, milo: ConceptNode, told: Message) -> None:
    """What consolidation leaves beside memories."""
    answer = extraction([event(milo.description, {"message_id": f"m{told.pk}", "quote": TOLD})])
    Extraction.objects.create(session=talk, chunk=0, through=told.pk, answer=answer, dropped=1, applied_at=NOW)
    mood.change(talk.persona, mood.Mood("sad for Milo", 3, "grieving"), talk.uuid, NOW)
    events.publish(
        talk.persona.uuid,
        "memory.event.created",
        event_id=str(milo.uuid),
        description=milo.description,
        session_id=None,
    )
    events.publish(talk.persona.uuid, "chat.session.boundary", closed_session_id=str(talk.uuid), summary=talk.summary)
    NodeVersion.objects.create(
        node=milo, version=1, description="Ana's cat Milo died in Porto.", emotional_impact=-8, edited_at=NOW
    )
    StagedVector.objects.create(node=milo, model="the next", embedding=b"\0" * 16)
    CrisisFlag.objects.create(message=told, raised_at=NOW)


def _later(persona: Persona, milo: ConceptNode, told: Message, pottery: ConceptNode) -> Session:
    """A talk in which it was recalled, that waits to be read, with an answer that was paid for already."""
    chosen = {"id": str(milo.uuid), "layer": "L3", "messages": [str(told.uuid)]}
    xray = {"recollections": {"chosen": [chosen], "candidates": [chosen, {"id": str(pottery.uuid)}]}}
    line = say(persona, "How was my week?", "Hard: the cat, and Lisbon.", minutes=90, xray=xray)
    Session.objects.filter(pk=line.session_id).update(status="closing")
    ModelReply.objects.create(
        persona=line.persona, session=line.session, step="extraction:1", number=0, text=f"It was about {TOLD}"
    )
    line.session.refresh_from_db()
    return line.session


def _noted_down(persona: Persona, talk: Session, told: Message, milo: ConceptNode) -> None:
    """In the ledger, in the desk's log, and in the trace of a job that failed."""
    assert told.turn
    LLMCall.objects.create(
        owner=persona.owner, persona_uuid=persona.uuid, session_uuid=talk.uuid, turn_uuid=told.turn.uuid,
        purpose="chat", provider="offline", model="offline", outcome="ok",
    )  # fmt: skip
    LogEntry.objects.create(
        user=persona.owner,
        content_type=ContentType.objects.get_for_model(apps.get_model("memory.Event"), for_concrete_model=False),
        object_id=str(milo.pk), object_repr=milo.description, action_flag=CHANGE,
    )  # fmt: skip
    Task.objects.create(
        id=uuid4().hex, name="a job", func="memory.tasks.consolidate_session", args=(talk.pk,),
        started=NOW, stopped=NOW, result=f"ValueError: {TOLD}", success=False,
    )  # fmt: skip
