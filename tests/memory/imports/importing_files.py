"""Imports of files for the tests: uploaded, analyzed, confirmed, imported."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from chat.models import Message
from memory import imports
from memory.imports import runner
from memory.imports.choices import Choices
from memory.imports.readers import Source
from memory.models import ImportJob
from persona.models import Persona
from tests.memory.sessions import NOW, Clock

FILES = Path(__file__).parent / "readers" / "files"


def whatsapp(*lines: str, at: datetime = datetime(2023, 3, 25, 21, 0)) -> bytes:
    """A WhatsApp chat: messages ("Ana: Hello") a minute apart; a number in their place lets that many hours pass."""
    stamped_lines = []
    for line in lines:
        if line.isdecimal():
            at += timedelta(hours=int(line))
            continue
        stamped_lines.append(f"{at:%d/%m/%Y, %H:%M} - {line}")
        at += timedelta(minutes=1)
    return "\n".join(stamped_lines).encode()


def source(content: bytes, name: str) -> Source:
    return Source(io.BytesIO(content), name)


def begin_import(
    persona: Persona | None, content: bytes, name: str, owner: Any = None, now: datetime = NOW
) -> ImportJob:
    """Begin an import and store its file."""
    with source(content, name) as file:
        return imports.begin(owner or (persona and persona.owner), persona, file, now, keep=True)


def analyze_file(persona: Persona | None, content: bytes, name: str, **rest: Any) -> ImportJob:
    job = begin_import(persona, content, name, **rest)
    runner.run(job.pk, Clock())
    job.refresh_from_db()
    return job


def confirm_file(
    persona: Persona, content: bytes, name: str, roles: Mapping[str, str] | None = None, **choices: Any
) -> ImportJob:
    """Analyze the file and confirm the suggested choices; speakers without a suggested role become "other"."""
    job = analyze_file(persona, content, name)
    assert job.status == "asking", (job.status, job.refusal, job.failure)
    imports.confirm(job, choices_for(job, roles, **choices), NOW)
    return job


def choices_for(job: ImportJob, roles: Mapping[str, str] | None = None, **choices: Any) -> Choices:
    """The suggested choices, except that the speaker who bears the persona's name becomes the persona."""
    suggestion = imports.suggest_choices(job)
    roles_by_name = {name: role or "other" for name, role in suggestion.roles.items()}
    if job.persona and roles_by_name.get(job.persona.name) == "other":
        roles_by_name[job.persona.name] = "persona"
    roles_by_name |= roles or {}
    return replace(suggestion, **{"roles": roles_by_name, "undated": date(2024, 1, 5)} | choices)


def import_file(
    persona: Persona, content: bytes, name: str, roles: Mapping[str, str] | None = None, **rest: Any
) -> ImportJob:
    """Import the file and run the import until it is over."""
    job = confirm_file(persona, content, name, roles, **rest)
    while runner.run(job.pk, Clock()) == runner.Outcome.GOES_ON:
        pass
    job.refresh_from_db()
    return job


def message_lines(persona: Persona) -> Sequence[str]:
    """All messages of the persona in their order, each with its speaker."""
    messages = Message.objects.filter(persona=persona).order_by("created_at", "id")
    return [f"{message.speaker or message.role}: {message.content}" for message in messages]
