"""The processes of `test_reembed_kills`: a house with memories, and a `reembed` that dies where it is told to.

python -m tests.journeys.reembed_process deaths     a change that dies by SIGKILL again and again, each time in a
                                                process of its own, at "before|after FUNCTION CALL" of DEATHS; what
                                                remains, as JSON
python -m tests.journeys.reembed_process reembed    change to the new model; says "embedding" and waits for a line
                                                before it embeds the third batch, with WAIT set
python -m tests.journeys.reembed_process server     for each line of its input tells what it recalls, and by which model
python -m tests.journeys.reembed_process remains    which vectors there are, and what is recalled by them, as JSON

`deaths` and `server` first make two personas with memories, their vectors by the old model. Processes that die are
forked: to start each anew costs 2 s.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from itertools import count
from typing import Any

import django
import numpy as np
from django.db import connections

from tests.memory.store.two_models import NEW, OLD, encode, vector

MEMORIES = 150
BATCH = 16
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def house() -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415  (after django.setup)

    from memory.models import ConceptNode  # noqa: PLC0415
    from memory.store import vectors  # noqa: PLC0415
    from persona.onboarding.creation import create_persona  # noqa: PLC0415

    owner = User.objects.create_user("ana")
    for name in ("Mira", "Otto"):
        persona = create_persona(owner, name, user_name="Ana")
        nodes = ConceptNode.objects.bulk_create(
            ConceptNode(persona=persona, kind="event", source="import", description=text, embedding_model=OLD)
            for text in (told(name, number) for number in range(MEMORIES))
        )
        vectors.index(nodes, encode([node.description for node in nodes], OLD))


def told(name: str, number: int) -> str:
    return f"Ana told {name} of thing {number}."


def reembed() -> None:
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    from memory.store import reembedding  # noqa: PLC0415

    reembedding.BATCH = BATCH
    execute_from_command_line(["manage.py", "reembed", "--model", NEW])


def deaths() -> None:
    """After each death, and at last after a run that nobody disturbs: how the process ended, what it said, and what
    remains."""
    house()
    ends = []
    for kill_at in (*json.loads(os.environ["DEATHS"]), ""):
        connections.close_all()
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.dup2(writing, sys.stdout.fileno())
            if kill_at:
                _arm(*kill_at.split())
            reembed()
            sys.stdout.flush()
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as said:
            ends.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.read(), left()])
    json.dump(ends, sys.stdout)


def _arm(moment: str, point: str, call: str) -> None:
    path, name = point.rsplit(".", 1)
    where = import_module(path)
    real, calls = getattr(where, name), count(1)

    def deadly(*args: Any, **kwargs: Any) -> Any:
        is_due = next(calls) == int(call)
        if is_due and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        made = real(*args, **kwargs)
        if is_due:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    setattr(where, name, deadly)


_batches = count(1)


def _encode(texts: Sequence[str], model: str) -> np.ndarray:
    if os.environ.get("WAIT") and model == NEW and next(_batches) == 4:  # the first one only loads the model
        print("embedding", flush=True)  # noqa: T201
        sys.stdin.readline()
    return encode(texts, model)


def server() -> None:
    from echovessel.embeddings import embedding  # noqa: PLC0415
    from memory.recall import recall  # noqa: PLC0415
    from persona.models import Persona  # noqa: PLC0415

    house()
    print("ready", flush=True)  # noqa: T201
    mira = Persona.objects.get(name="Mira")
    for line in sys.stdin:
        [best, *_] = recall(mira, [line.strip()], now=NOW, budget_tokens=200).items
        print(json.dumps([embedding.name(), best.content, best.parts["relevance"]]), flush=True)  # noqa: T201


def remains() -> None:
    json.dump(left(), sys.stdout)


def left() -> dict[str, Any]:
    from django.db import connection  # noqa: PLC0415

    from memory.models import ConceptNode, NodeVector, StagedVector  # noqa: PLC0415
    from memory.recall import recall  # noqa: PLC0415
    from memory.store import active_model  # noqa: PLC0415
    from persona.models import Persona  # noqa: PLC0415

    in_use = active_model.model_in_use()
    stored = {row.node_id: (row.model, bytes(row.embedding)) for row in NodeVector.objects.all()}
    nodes = {node.pk: node for node in ConceptNode.objects.all()}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), sum(s.signs = vec_quantize_binary(v.embedding)) "
            "FROM memory_nodevec s JOIN memory_nodevector v ON v.node_id = s.node_id"
        )
        searched, alike = cursor.fetchone()
        cursor.execute("PRAGMA integrity_check")
        [[integrity]] = cursor.fetchall()
    asked = {persona: told(persona.name, 7) for persona in Persona.objects.all()}
    found = {persona: recall(persona, [line], now=NOW, budget_tokens=200) for persona, line in asked.items()}
    return {
        "in use": in_use,
        "nodes": len(nodes),
        "labels": sorted({node.embedding_model for node in nodes.values()}),
        "right": sum(
            stored.get(pk) == (in_use, vector(node.description, in_use).tobytes()) for pk, node in nodes.items()
        ),
        "staged": StagedVector.objects.count(),
        "searched": [searched, alike],
        "recalled": [one.items[0].content == asked[persona] for persona, one in found.items()],
        "integrity": integrity,
    }


if __name__ == "__main__":
    django.setup()
    from echovessel.embeddings import embedding

    embedding._encode = _encode
    {"deaths": deaths, "reembed": reembed, "server": server, "remains": remains}[sys.argv[1]]()
