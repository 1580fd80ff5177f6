"""Something is forgotten out of a long life, with everything: it is nowhere any more, and nothing brings it back."""

import base64
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import transaction

from chat.messages import receive_message
from chat.models import Message, Session
from chat.prompt import assemble
from chat.sessions import close
from chat.turns import turn as turns
from echovessel.embeddings import embedding
from memory import forgetting
from memory.archive import import_archive
from memory.archive import write as archive_write
from memory.bench.synthetic_sessions import generate_sessions
from memory.consolidation import runner
from memory.forgetting import Target, plan, verify
from memory.models import ConceptNode, Entity, ReflectionRun, Tombstone
from memory.store import checks
from memory.store.active_model import follow
from memory.store.writing import Draft, write
from persona.models import Persona
from tests.memory.archive.archives import PERSONA
from tests.memory.sessions import cite, event, extraction, impression
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)
BEGINNING = datetime(2018, 1, 1, 9, tzinfo=UTC)
TODAY = datetime(2026, 11, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Secret:
    """What is told in one talk, what is made of it, and what recalls it later. Nobody else says its `rare` words."""

    lines: Sequence[str]
    replies: Sequence[str]
    description: str
    thought: str
    name: str
    about: str
    summary: str
    question: str
    recalled: str
    rare: Sequence[str]

    @property
    def words(self) -> list[str]:
        """Everything that has to be gone."""
        said = [*self.lines, *self.replies, self.recalled]
        return [*said, self.description, self.thought, self.about, self.summary, *self.rare]


ENGLISH = Secret(
    lines=("My brother Zebulon stole the Qorvath violin from our uncle.", "He hid it under a boathouse in Marrowby."),
    replies=("You told me: My brother Zebulon stole the Qorvath violin.", "Under a boathouse in Marrowby? I see."),
    description="Ana's brother Zebulon stole the Qorvath violin and hid it in Marrowby.",
    thought="She carries the theft of Zebulon like a stone in her shoe.",
    name="Zebulon",
    about="The brother who took the violin.",
    summary="She told of Zebulon and the violin.",
    question="What was it again about my uncle's violin?",
    recalled="Zebulon took the Qorvath violin and hid it.",
    rare=("Zebulon", "Qorvath", "Marrowby"),
)
CHINESE = Secret(
    lines=("我哥哥泽布伦偷了外公的云杉小提琴。", "他把琴藏在马罗比的船屋下面了。"),
    replies=("你说你哥哥泽布伦偷了外公的云杉小提琴。", "藏在马罗比的船屋下面？我明白了。"),
    description="安娜的哥哥泽布伦偷了外公的云杉小提琴，藏在马罗比。",
    thought="泽布伦的偷窃像鞋里的石子一样硌着她。",
    name="泽布伦",
    about="偷走小提琴的哥哥。",
    summary="她讲了泽布伦和云杉小提琴的事。",
    question="外公的小提琴后来怎么样了？",
    recalled="泽布伦偷了云杉小提琴，把它藏起来了。",
    rare=("泽布伦", "云杉小提琴", "马罗比"),
)


def build_archive(sessions: int) -> bytes:
    """An archive of `sessions` sessions in both languages, each with a memory of what was said first."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in archive_records(sessions))


def archive_records(sessions: int) -> Iterator[dict[str, Any]]:
    chance = np.random.default_rng(5)
    yield {
        "type": "header", "format": "echovessel-archive", "version": 1, "embedding_model": embedding.name(),
    }  # fmt: skip
    yield PERSONA
    for number, talk in enumerate(generate_sessions(sessions, 6)):
        at = BEGINNING + timedelta(days=number)
        yield {
            "type": "session", "id": f"s{number}", "channel": "web", "status": "closed",
            "started_at": at.isoformat(), "closed_at": at.isoformat(), "summary": f"{talk.lines[0]} …",
        }  # fmt: skip
        for place, line in enumerate(talk.lines):
            yield {
                "type": "message", "id": f"m{number}.{place}", "session": f"s{number}", "content": line,
                "role": "persona" if place % 2 else "user", "created_at": (at + timedelta(minutes=place)).isoformat(),
            }  # fmt: skip
        direction = chance.normal(size=embedding.DIMENSION).astype("<f4")
        yield {
            "type": "node", "id": f"n{number}", "kind": "event", "description": f"Ana: {talk.lines[0]}",
            "session": f"s{number}", "messages": [f"m{number}.0"], "created_at": at.isoformat(),
            "evidence": [{"message": f"m{number}.0", "quote": talk.lines[0]}],
            "embedding": base64.b64encode((direction / np.linalg.norm(direction)).tobytes()).decode(),
        }  # fmt: skip


def tell(persona: Persona, line: str, reply: str, now: datetime) -> Message:
    """One turn, with the prompt and the x-ray that it really has."""
    message = receive_message(persona, line, None, "web", now).message
    turn = turns.claim(persona.pk, now)
    assert turn
    xray = assemble.assemble(turn, now).xray
    assert turns.finish(turn, reply, stopped=False, first_token_at=now, xray=xray, now=now)
    return message


def told(persona: Persona, secret: Secret, model: Script, now: datetime) -> ConceptNode:
    """Told, remembered, thought about, described, and recalled in another talk."""
    first, second = (tell(persona, *pair, now) for pair in zip(secret.lines, secret.replies, strict=True))
    happened = event(secret.description, cite(first), cite(second), emotional_impact=-9)
    named = {"canonical_name": secret.name, "aliases": [], "kind": "person", "in_events": [0]}
    mood = {"mood": f"uneasy: {secret.name}"[:40], "energy": 4, "last_user_signal": secret.rare[1]}
    model.answers(
        extraction([happened], mentioned_entities=[named], session_mood_signal=mood, session_summary=secret.summary),
        impression(secret.thought),
    )
    rest(first.session, now)
    Entity.objects.filter(canonical_name=secret.name).update(description=secret.about, described_by="slow_cycle")
    later = tell(persona, secret.question, secret.recalled, now + timedelta(hours=3))
    model.answers(extraction())
    rest(later.session, now + timedelta(hours=3))
    return ConceptNode.objects.get(persona=persona, description=secret.description)


def rest(session: Session, now: datetime) -> None:
    """The talk ends, and is read."""
    close.close(session, Session.CloseReason.EXPLICIT, now)
    assert runner.run(session.pk, lambda: now) in (runner.Outcome.CLOSED, runner.Outcome.TRIVIAL)


@pytest.fixture(params=[60, pytest.param(3_000, marks=pytest.mark.campaign)], ids="{} talks".format)
def persona(ana: User, model: Script, request: pytest.FixtureRequest) -> Persona:
    return import_archive(io.BytesIO(build_archive(request.param)), ana).persona


NAMED = ("id", "session", "turn", "messages", "evidence", "filling", "superseded_by", "resolved_by")


def renamed(archive: bytes, secret: Secret) -> bytes:
    """The same talk as if it came from elsewhere: under other ids."""
    lines = [json.loads(line) for line in archive.splitlines()]
    sessions = {line["session"] for line in lines if line.get("content") in secret.lines}
    told = [line for line in lines if line["type"] in ("session", "turn", "message", "node") and _is_of(line, sessions)]
    kept = [*(line for line in lines if line["type"] in ("header", "persona")), *told]
    for line in kept:
        if line["type"] != "persona":
            line |= {key: _elsewhere(line[key]) for key in NAMED if key in line}
    return b"".join(json.dumps(line).encode() + b"\n" for line in kept)


def _is_of(line: dict[str, Any], sessions: set[str]) -> bool:
    return line.get("session", line.get("id")) in sessions


def _elsewhere(ids: Any) -> Any:
    if isinstance(ids, list):
        return [_elsewhere(one) for one in ids]
    return ids | {"message": _elsewhere(ids["message"])} if isinstance(ids, dict) else f"elsewhere-{ids}"


def refused(persona: Persona, text: str, source: str) -> bool:
    """Whether the gate lets nothing of it in, whoever brings it."""
    ground = ConceptNode.objects.of(persona).exclude(description="").latest("pk")
    draft = Draft(kind="thought", description=text, source=source, filling=[ground])
    vector = embedding.embed([text])[0]
    with transaction.atomic():
        return write(persona, draft, vector, follow(), TODAY).outcome == "refused"


def reread(persona: Persona) -> None:
    """Read every talk of those days once more, and reflect on it."""
    for session in persona.sessions.filter(started_at__gte=TODAY):
        session.extractions.all().delete()
        ReflectionRun.objects.filter(session=session).delete()
        Session.objects.filter(pk=session.pk).update(status="closing")
        assert runner.run(session.pk, lambda: TODAY + timedelta(days=5)) != runner.Outcome.FAILED


def test_forgotten_text_is_nowhere_and_is_not_restored_by_any_path(
    persona: Persona, ana: User, model: Script, settings: Any
) -> None:
    days = (TODAY, TODAY + timedelta(days=1))
    secrets = {one: told(persona, one, model, at) for one, at in zip((ENGLISH, CHINESE), days, strict=True)}
    archive = b"".join(archive_write.archive_lines(persona, TODAY))
    everything = [text for secret in secrets for text in secret.words]
    assert {hit.form for hit in verify.find_texts(ENGLISH.rare)} >= {"text", "words"}
    kept = persona.nodes.count(), persona.messages.count()
    for node in secrets.values():
        planned = plan([Target("node", node.pk)])
        receipt = forgetting.forget(planned, ana, TODAY)
        assert (receipt.status, receipt.counts) == ("done", planned.counts)
        assert verify.prove([receipt]).hits == []
    assert verify.find_texts(everything) == []
    assert (persona.nodes.count(), persona.messages.count()) == (kept[0] - 4, kept[1] - 10)
    assert checks.broken_invariants(TODAY) == {}

    for again in (archive, *(renamed(archive, secret) for secret in secrets)):
        imported = import_archive(io.BytesIO(again), ana)
        assert imported.persona == persona
        assert imported.refused.total() > 0
    settings.LLM_PROVIDER = "offline"
    reread(persona)
    for secret in secrets:
        for source in ConceptNode.Source.values:
            assert refused(persona, secret.description, source)
            assert refused(persona, secret.thought, source)
    assert verify.find_texts(everything) == []
    assert checks.broken_invariants(TODAY) == {}
    assert Tombstone.objects.filter(persona=persona, refused__gt=0).exists()
