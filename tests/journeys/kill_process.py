"""The worker of the kill campaign: the real job worker over a made-up household, which dies where it is told to.

    python -m tests.journeys.kill_process household      make personas and their talks, all still open
    python -m tests.journeys.kill_process worker   the job worker; dies by its own SIGKILL at the points in KILL_AT
    python -m tests.journeys.kill_process up             `manage.py up` with this worker
    python -m tests.journeys.kill_process minder         close the talks in order and sweep until all have settled; what
                                                         is left of it all goes into remains.json
    python -m tests.journeys.kill_process desk           the admin's list of failed sessions

The model is a pure function of its request, and so is the embedder: words hashed into directions.
"""

import asyncio
import hashlib
import json
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import numpy as np

from echovessel.llm.providers import Models, Provider
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Usage

# Where a worker is killed: before and after each of these, and within a transaction. That no other place differs from
# them is proven by the kill matrix of the engine and the statement sweep of the job.
POINTS = (
    "echovessel.jobs.lease.LeasedReplyStore.save",  # in a transaction
    "memory.consolidation.apply.apply",
    "memory.consolidation.runner.Consolidation.close",
)
IN_ITS_TIMER = "while it holds the lock of its timer"
MOMENTS = (*(f"{moment} {point}" for point in POINTS for moment in ("before", "after")), IN_ITS_TIMER)
MAX_KILLS_A_SESSION = 4  # one fewer than the tries that a step has
BEGINNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
NAMES = ("Milo", "Noor", "Omar", "Rosa", "Tomas", "小黑", "李明", "王芳", "阿诚", "豆豆")
NODE_ID = re.compile(r'"e\d+"')
NICKNAMES = ("Buddy", "老伙计")  # two bear it: people are asked whether they are one


# --- the model and the embedder -----------------------------------------------------------------------------------
class PureProvider(Provider):
    """Answers by the request alone: every line of the user is an event, the first given event a thought."""

    name = "pure"
    defaults = Models("pure", "pure", "pure")

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        answer = json.dumps(ANSWERS[request.purpose](request.material), ensure_ascii=False)
        await asyncio.sleep(float(os.environ.get("SLOW", "0")))
        yield answer
        yield StreamEnd("stop", Usage(len(json.dumps(_stable(request.material))), 0, len(NODE_ID.sub("", answer))))


def _stable(material: Mapping[str, Any]) -> Any:
    """What of a request is the same in every run: neither the clock nor the keys of nodes."""
    lines = [line["content"] for line in material.get("lines", [])]
    return [lines, [event["description"] for event in material.get("events", [])], material.get("known_entities")]


def _extracted(material: Mapping[str, Any]) -> dict[str, Any]:
    if not material:  # the question which earlier facts the news of a session leaves untrue
        return {"changes": []}
    told = [line for line in material["lines"] if line["role"] == "user"]
    return {
        "events": [_event(line) for line in told],
        "mentioned_entities": [_named(name, told) for name in NAMES if any(name in line["content"] for line in told)],
        "facts": [_fact(line) for line in told],
        "open_loops": [_loop(line) for line in told if "promise" in line["content"]],
        "entity_clarification": None,
        "session_mood_signal": {"mood": f"mood {len(told)}", "energy": len(told) % 10, "last_user_signal": "warm"},
        "session_summary": told[0]["content"][:80] if told else "",
        "self_check_notes": "",
    }


def _named(name: str, told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    about = {place: line["content"] for place, line in enumerate(told) if name in line["content"]}
    aliases = [nickname for nickname in NICKNAMES if any(nickname in text for text in about.values())]
    return {"canonical_name": name, "aliases": aliases, "kind": "person", "in_events": list(about)}


def _event(line: Mapping[str, Any]) -> dict[str, Any]:
    text = line["content"]
    return {
        "description": text.removesuffix(" Really."),
        "emotional_impact": -9 if any(word in text for word in ("died", "去世")) else 2,
        "emotion_tags": ["calm"],
        "relational_tags": ["commitment"] if "promise" in text else [],
        "subject": "user",
        "event_time": {"start": "2026-03-01", "end": "2026-03-01"} if "Sunday" in text else None,
        "evidence": [{"message_id": line["id"], "quote": text}],
        "supersedes": [],
        "confidence": 0.8,
    }


def _fact(line: Mapping[str, Any]) -> dict[str, Any]:
    evidence = [{"message_id": line["id"], "quote": line["content"]}]
    return {
        "description": f"It holds that {line['content'].removesuffix(' Really.')}",
        "whose": "owner",
        "domain": "plans" if "Sunday" in line["content"] else "about",
        "state": "planned" if "Sunday" in line["content"] else None,
        "since": None,
        "until": None,
        "evidence": evidence,
        "supersedes": [],
        "confidence": 0.8,
    }


def _loop(line: Mapping[str, Any]) -> dict[str, Any]:
    evidence = [{"message_id": line["id"], "quote": line["content"]}]
    return {"description": f"Ana owes: {line['content']}", "owed_by": "owner", "due": None, "evidence": evidence}


def _reflected(material: Mapping[str, Any]) -> dict[str, Any]:
    first = material["events"][0]
    words = "那天之后，" if "去世" in first["description"] else "Since then: "
    thought = {
        "description": f"{words}{first['description']}",
        "emotional_impact": -3,
        "subject": "user",
        "filling": [event["id"] for event in material["events"][:3]],
    }
    return {"thoughts": [thought]}


ANSWERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "extraction": _extracted,
    "reflection": _reflected,
}


def embed(texts: Sequence[str], **_: Any) -> np.ndarray:
    """Texts with the same words lie near each other."""
    from echovessel.embeddings import embedding  # noqa: PLC0415  (after django.setup)
    from echovessel.language import tokenizer  # noqa: PLC0415  (after django.setup)

    rows = np.zeros((len(texts), embedding.DIMENSION), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in [*tokenizer.tokenize(text), "one more"]:
            row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % embedding.DIMENSION] += 1
        row /= np.linalg.norm(row)
    return rows


# --- the household ------------------------------------------------------------------------------------------------
def household() -> None:
    """Six personas of three people, five talks each, all open, in an order of their own for each persona."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from persona.onboarding.creation import create_persona  # noqa: PLC0415

    zones = ("UTC", "Asia/Shanghai", "America/Los_Angeles")
    for number in range(6):
        owner, _ = User.objects.get_or_create(username=f"owner{number % 3}")
        persona = create_persona(
            owner, f"Persona{number}", user_name="Ana", timezone=zones[number % 3], language=("en", "zh")[number % 2]
        )
        for place in range(5):
            _talk(persona, place, _lines(number, place))


def _lines(number: int, place: int) -> list[str]:
    """What is said in the talk at this place of the persona's life."""
    chinese = number % 2
    name = NAMES[(number + place) % 5 + 5 * chinese]
    if (number, place) == (2, 1):
        return ["hi", "> hey"]  # trivial
    if (number, place) == (3, 3):
        return ["这是秘密。", "> 嗯", "我偷了一本书。", "> 哦"] if chinese else []  # off the record
    lines = [f"我和{name}第{place}次去爬山。", "> 真好", f"{name}送了我{number + 2}个苹果。", "> 哇"]
    if not chinese:
        lines = [
            f"I met {name} on Sunday number {place}.", "> How nice.", f"{name} gave me {number + 2} apples.", "> Oh!",
        ]  # fmt: skip
    if place:  # told again: reinforced
        lines += [f"我有一只猫叫{NAMES[5]}。" if chinese else f"I have a cat named {NAMES[0]}. Really.", "> Yes."]
    if place % 2:  # a shock
        lines += [f"{name}的奶奶去世了。" if chinese else f"The grandmother of {name} died.", "> …"]
    if place == 4:
        one, other = (NAMES[(number + earlier) % 5 + 5 * chinese] for earlier in (0, 1))
        lines += [f"{one}和{other}都叫老伙计。" if chinese else f"{one} and {other} are both called Buddy.", "> Ah."]
    if place == 2:  # so long that it is read in pieces
        lines += [f"> {'好' if chinese else 'Well, '}" * 40 for _ in range(12)]
    return lines


def _talk(persona: Any, place: int, lines: Sequence[str]) -> None:
    from chat.messages import add_message  # noqa: PLC0415
    from chat.models import Message, Session  # noqa: PLC0415

    at = BEGINNING + timedelta(hours=7 * place)
    session = Session.objects.create(
        persona=persona,
        channel=f"talk-{place}",  # of one channel only one talk is open
        started_at=at,
        last_message_at=at,
        off_the_record=any("秘密" in line for line in lines),
    )
    for number, line in enumerate(lines):
        role = Message.Role.PERSONA if line.startswith("> ") else Message.Role.USER
        add_message(session, role, line.removeprefix("> "), at + timedelta(seconds=30 * number))


# --- the worker that dies -----------------------------------------------------------------------------------------
def worker() -> None:
    from django.core.management import call_command  # noqa: PLC0415
    from django_q.signals import post_execute_in_worker, post_spawn  # noqa: PLC0415

    from echovessel.embeddings import embedding  # noqa: PLC0415
    from memory import tasks  # noqa: PLC0415

    embedding.embed = _poisoned(embed)
    tasks.consolidate_session = _known_to_the_grave(tasks.consolidate_session)
    for name in filter(None, os.environ.get("KILL_AT", "").split(",")):
        if name == IN_ITS_TIMER:
            post_execute_in_worker.connect(_die_in_its_timer)
        else:
            _arm(*name.split(" "))
    post_spawn.connect(_note_worker)
    call_command("worker")


_session = [0]


def _known_to_the_grave(job: Callable[[int], str]) -> Callable[[int], str]:
    def consolidate_session(session_id: int) -> str:
        _session[0] = session_id
        return job(session_id)

    return consolidate_session


def _poisoned(job: Callable[[Sequence[str]], np.ndarray]) -> Callable[[Sequence[str]], np.ndarray]:
    """An embedder that dies of the word in POISON, as one does whose memory runs out."""

    def swallowed(texts: Sequence[str], **_: Any) -> np.ndarray:
        if (poison := os.environ.get("POISON")) and any(poison in text for text in texts):
            _die()
        return job(texts)

    return swallowed


def _note_worker(**_: Any) -> None:
    (_folder() / "worker.pid").write_text(str(os.getpid()))


def _arm(moment: str, point: str) -> None:
    """Have the process die before or after the function at `point`, the first time it comes there."""
    path, name = point.rsplit(".", 1)
    try:
        where = import_module(path)
    except ModuleNotFoundError:
        module, owner = path.rsplit(".", 1)
        where = getattr(import_module(module), owner)
    real = getattr(where, name)

    def deadly(*args: Any, **kwargs: Any) -> Any:
        if moment == "before":
            _die_once(f"{moment} {point}")
        made = real(*args, **kwargs)
        if moment == "after":
            _die_once(f"{moment} {point}")
        return made

    setattr(where, name, deadly)


def _die_in_its_timer(**_: Any) -> None:
    """django-q sends this signal while the guard cannot look at the worker's timer."""
    _die_once(IN_ITS_TIMER)


def _die_once(moment: str) -> None:
    graves = _folder() / "graves"
    if len(list(graves.glob(f"* of {_session[0]}"))) >= MAX_KILLS_A_SESSION:
        return
    if list(graves.glob(f"{moment} of *")):
        return
    (graves / f"{moment} of {_session[0]}").touch()
    _die()


def _die() -> None:
    with (_folder() / "deaths").open("a") as file:
        file.write(f"{_session[0]}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def _folder() -> Path:
    return Path(os.environ["DATA_DIR"])


def up() -> None:
    from django.core.management import call_command  # noqa: PLC0415

    from echovessel.management.commands import up as supervisor  # noqa: PLC0415

    supervisor.WORKER = [sys.executable, "-m", "tests.journeys.kill_process", "worker"]
    call_command("up", port=int(os.environ["PORT"]))


# --- the minder ---------------------------------------------------------------------------------------------------
def minder() -> None:
    """Of each persona close the next talk when the one before has settled, so that every run remembers in one order;
    look for what was left undone all the time; end when nothing waits. PERSONAS bounds of how many."""
    from django.utils import timezone  # noqa: PLC0415

    from chat.models import Session  # noqa: PLC0415
    from chat.sessions import close  # noqa: PLC0415
    from memory.consolidation import requests, runner  # noqa: PLC0415
    from persona.models import Persona  # noqa: PLC0415

    def step() -> bool:
        waiting = False
        for persona in Persona.objects.all()[: int(os.environ.get("PERSONAS", "6"))]:
            unsettled = persona.sessions.exclude(status__in=["closed", "failed"]).order_by("started_at").first()
            if unsettled is None:
                continue
            waiting = True
            if unsettled.status == Session.Status.OPEN and not unsettled.early_consolidation_requested_at:
                if _is_read_early(unsettled) and not unsettled.extractions.exists():
                    requests.request_early_consolidation(unsettled, timezone.now())
                else:
                    close.close(unsettled, "idle", timezone.now())
        runner.requeue_stale(timezone.now())
        return waiting

    while step():
        time.sleep(0.25)
    (_folder() / "remains.json").write_text(json.dumps(remains()))


def _is_read_early(session: Any) -> bool:
    return session.channel == "talk-3" and not session.off_the_record


# --- what remains -------------------------------------------------------------------------------------------------
def remains() -> dict[str, Any]:
    """Everything that a run leaves behind, without what differs from run to run by its nature (keys, clocks)."""
    from django.db import connection  # noqa: PLC0415

    from chat import search  # noqa: PLC0415
    from chat.models import Message, Session  # noqa: PLC0415
    from echovessel.llm.models import LLMCall  # noqa: PLC0415
    from echovessel.outbox.models import OutboxEvent  # noqa: PLC0415
    from memory import models  # noqa: PLC0415
    from memory.store import vectors  # noqa: PLC0415
    from persona.models import MoodChange, Persona  # noqa: PLC0415

    def rows(of: Any, *fields: str) -> list[list[str]]:
        return sorted([str(value) for value in row] for row in of.objects.values_list(*fields))

    def sql(query: str) -> list[list[str]]:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return sorted([str(value) for value in row] for row in cursor.fetchall())

    node, who = "node__description", "node__persona__name"
    return {
        "sessions": rows(
            Session, "persona__name", "channel", "status", "trivial", "summary", "failure", "attempts", "holder",
            "lease_until", "waiting_for", "early_consolidation_requested_at", "close_reason", "message_count",
        ),
        "messages": rows(Message, "uuid", "content"),
        "nodes": rows(
            models.ConceptNode, "persona__name", "kind", "subject", "description", "emotional_impact", "emotion_tags",
            "relational_tags", "event_time_start", "event_time_end", "session__uuid", "source", "confidence", "status",
            "superseded_by__description", "mention_count", "access_count", "content_hash",
        ),
        "born": rows(models.Event, "persona__name", "description", "created_at"),
        "evidence": rows(models.Evidence, who, node, "message__uuid", "quote", "start", "end"),
        "filling": rows(models.Filling, "parent__persona__name", "parent__description", "child__description"),
        "entities": rows(models.Entity, "persona__name", "canonical_name", "kind", "status", "description"),
        "aliases": rows(models.Alias, "persona__name", "entity__canonical_name", "text", "normalized"),
        "mentions": rows(models.Mention, who, node, "entity__canonical_name"),
        "proposals": rows(
            models.MergeProposal, "a__persona__name", "a__canonical_name", "b__canonical_name", "score", "status",
            "reasons",
        ),
        "moods": rows(MoodChange, "persona__name", "mood", "energy", "last_user_signal", "session_uuid", "at"),
        "mood now": rows(Persona, "name", "episodic_state"),
        "readings": rows(models.Extraction, "session__uuid", "chunk", "through", "answer", "dropped"),
        "all applied": models.Extraction.objects.filter(applied_at=None).count() == 0,
        "reflections": rows(models.ReflectionRun, "persona__name", "session__uuid", "reason", "thoughts", "dropped"),
        "ledger": rows(
            LLMCall, "owner__username", "persona_uuid", "session_uuid", "purpose", "provider", "model", "tokens_in",
            "tokens_cached", "tokens_out", "estimated", "outcome",
        ),
        "replies kept": models.ModelReply.objects.count(),
        "told": sorted(Counter(f"{event.stream} {event.name}" for event in OutboxEvent.objects.all()).items()),
        "told at the end": sorted(
            json.dumps(event.data, sort_keys=True)
            for event in OutboxEvent.objects.filter(name="chat.session.boundary")
        ),
        "vectors": sql(
            "SELECT p.name, n.description, hex(v.embedding) FROM memory_nodevector v "
            "JOIN memory_conceptnode n ON n.id = v.node_id JOIN persona_persona p ON p.id = n.persona_id"
        ),
        "searched vectors": sql(
            "SELECT p.name, n.description, hex(v.signs) FROM memory_nodevec v "
            "JOIN memory_conceptnode n ON n.id = v.node_id JOIN persona_persona p ON p.id = n.persona_id"
        ),
        "words": sql(
            "SELECT p.name, n.description, t.scope, t.body FROM memory_nodetext t "
            "JOIN memory_conceptnode n ON n.id = t.node_id JOIN persona_persona p ON p.id = n.persona_id"
        ),
        "index of nodes": _index_is_sound(vectors.TEXT),
        "index of messages": _index_is_sound(search.INDEX),
        "integrity": sql("PRAGMA integrity_check"),
        "foreign keys": sql("PRAGMA foreign_key_check"),
    }  # fmt: skip


def desk() -> None:
    from django.conf import settings  # noqa: PLC0415
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_superuser("curator"))
    print(client.get("/admin/chat/session/?status__exact=failed").content.decode())  # noqa: T201


def _index_is_sound(index: Any) -> bool:
    """Whether a text index holds every word of its table's rows, for these rows and no others."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {index.key}, {index.scope}, {index.body} FROM {index.table}")
        rows = cursor.fetchall()
    held: dict[str, dict[str, set[int]]] = {}
    for key, scope, body in rows:
        for word in body.split():
            held.setdefault(scope, {}).setdefault(word, set()).add(key)
    return all(
        {word: set(map(int, ids)) for word, ids in index.holding(connection, list(words), scope, len(rows)).items()}
        == words
        for scope, words in held.items()
    )


if __name__ == "__main__":
    sys.modules["tests.journeys.kill_process"] = sys.modules["__main__"]
    django.setup()
    {"household": household, "worker": worker, "up": up, "minder": minder, "desk": desk}[sys.argv[1]]()
