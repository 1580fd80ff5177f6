"""Sessions of an import for the tests, as they are after the messages of its file are stored."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from chat import search
from chat.models import Message, Session
from echovessel import llm
from echovessel.llm.prompts import tokens
from memory.imports import leases
from memory.imports.leases import ImportLease
from memory.models import ImportChunk, ImportJob, ImportRun
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, event, extraction

LONG_AGO = datetime(2021, 6, 1, 18, 0, tzinfo=NOW.tzinfo)
ROLES = {"Ana": Message.Role.USER, "Mira": Message.Role.PERSONA}


def an_import(persona: Persona, status: str = "remembering") -> ImportJob:
    """An import whose file is stored."""
    job = ImportJob.objects.create(
        owner=persona.owner, persona=persona, status=status, file_name="chat.txt", file_size=1, created_at=NOW
    )
    ImportRun.objects.create(uuid=job.uuid, persona=persona, at=NOW)
    return job


def import_session(
    job: ImportJob,
    *texts: str,
    at: datetime = LONG_AGO,
    kind: str = "talk",
    dated: bool = True,
) -> Session:
    """Store a session of the import; each text begins with its speaker ("Ana: …", "Mira: …")."""
    assert job.persona is not None
    session = Session.objects.create(
        persona=job.persona,
        channel="journal" if kind == "prose" else "whatsapp",
        status=Session.Status.CLOSING,
        close_reason=Session.CloseReason.IMPORT,
        started_at=at,
        last_message_at=at + timedelta(minutes=len(texts) - 1),
        closed_at=at,
        import_uuid=job.uuid,
        external_id=hashlib.sha256("\n".join(texts).encode()).hexdigest(),
    )
    messages = [_line(session, text, at + timedelta(minutes=number)) for number, text in enumerate(texts)]
    search.store(messages)
    count = sum(message.token_count for message in messages)
    Session.objects.filter(pk=session.pk).update(message_count=len(messages), token_count=count)
    ImportChunk.objects.create(
        job=job,
        persona=job.persona,
        number=job.chunks.count(),
        digest=str(session.external_id),
        kind=kind,
        dated=dated,
        session=session,
    )
    session.refresh_from_db()
    return session


def _line(session: Session, text: str, at: datetime) -> Message:
    speaker, content = text.split(": ", 1)
    return Message(
        session=session,
        persona=session.persona,
        role=ROLES.get(speaker, Message.Role.SYSTEM),
        speaker="" if speaker in ROLES else speaker,
        content=content,
        token_count=tokens(content),
        day=at.astimezone(session.persona.zone).date(),
        created_at=at,
        external_id=f"whatsapp:{hashlib.sha256(f'{at} {text}'.encode()).hexdigest()}",
        import_uuid=session.import_uuid,
    )


def events_of_each(request: Any) -> dict[str, Any]:
    """Answer with one event for each message of the user; no thoughts, no drafts."""
    if request.purpose in ("reflection", "onboarding"):
        return {"thoughts": [], "drafts": []}
    messages = [message for message in request.material["lines"] if message["role"] == "user" and not message["read"]]
    quotes = ({"message_id": message["id"], "quote": message["content"]} for message in messages)
    return extraction([event(f"Ana said: {quote['quote']}", quote) for quote in quotes])


def meanwhile(monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]) -> None:
    """Call `action` after the model answers and before the answer is used."""
    real_answer_now = llm.answer_now

    def answer_now(*args: Any, **kwargs: Any) -> Any:
        answer = real_answer_now(*args, **kwargs)
        action()
        return answer

    monkeypatch.setattr(llm, "answer_now", answer_now)


def acquire_job(job: ImportJob, clock: Clock | None = None) -> ImportLease:
    lease = leases.acquire(job.pk, clock or Clock())
    assert lease is not None
    return lease
