"""The deaths of a first word: a real process each time, killed at a moment of its own; then another carries on.

    python -m tests.journeys.outreach_process FOLDER DEATHS      what became of each, as JSON

The folder holds a database that was never used, life.sqlite3. In it an outreach is made, which is on its way in a copy
of its own each time. A push service listens all the while.
"""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from chat.models import Message, Turn  # noqa: E402
from echovessel.db.sqlite import erasure  # noqa: E402
from echovessel.embeddings import embedding  # noqa: E402
from echovessel.llm.base import Provider  # noqa: E402
from echovessel.llm.models import LLMCall  # noqa: E402
from echovessel.llm.request import Finished, Request, Shape, Usage  # noqa: E402
from echovessel.llm.tiers import Models  # noqa: E402
from echovessel.outbox.models import OutboxEvent  # noqa: E402
from memory.models import ConceptNode, Evidence, Filling, ModelReply  # noqa: E402
from memory.store import checks, vectors  # noqa: E402
from persona.models import Persona  # noqa: E402
from persona.onboarding.creation import create_persona  # noqa: E402
from proactive.models import Outreach  # noqa: E402
from proactive.outreach import create  # noqa: E402
from proactive.policy import consider  # noqa: E402
from proactive.push import send as push_send  # noqa: E402
from proactive.push import subscriptions  # noqa: E402
from tests.journeys.forget_process import copied, opened  # noqa: E402
from tests.journeys.kill_process import embed  # noqa: E402
from tests.memory.sessions import Clock  # noqa: E402
from tests.proactive.reaching import DUE, PROMISE, allow, talked  # noqa: E402
from tests.wire.push_service import Browser, PushService  # noqa: E402

SAID = "How did the interview go?"
CLOCK = Clock()
THINKING, SENDING = "while the model thinks", "when the notice was sent"
DIES = "THE_MODEL_KILLS"
Moment = int | str


class OneWordProvider(Provider):
    """Says the same to everybody; and may be the last to see its process alive. (It is found by its path, in another
    copy of this module, so that only the environment reaches it.)"""

    name = "one word"
    defaults = Models("one", "one", "one")

    async def stream(self, request: Request, shape: Shape | None = None) -> AsyncGenerator[str | Finished, None]:
        if DIES in os.environ:
            die()
        await asyncio.sleep(0)
        yield json.dumps({"message": SAID})
        yield Finished("stop", Usage(10, 0, 5))


def main(folder: Path, count: int) -> None:
    settings.LLM_PROVIDER = "tests.journeys.outreach_process.OneWordProvider"
    embedding.embed = embed
    with PushService() as service:
        settings.PUSH_SERVICES = [service.origin]
        life = folder / "life.sqlite3"
        begin(life, service)
        _, statements = counted(life), counted(life)  # the second time, as each child, it has looked some up
        spread = count - 2
        numbers = [round(1 + at * (statements - 1) / (spread - 1)) for at in range(spread)]
        deaths = [after_a_death(life, moment, service) for moment in (THINKING, SENDING, *numbers)]
    json.dump({"statements": statements, "deaths": deaths}, sys.stdout)


def begin(life: Path, service: PushService) -> None:
    """Make a life in which something that was promised is due, and the first word about it on its way."""
    with opened(life):
        ana = User.objects.create_user("ana")
        persona = create_persona(ana, "Mira", user_name="Ana", timezone="Asia/Shanghai")
        allow(persona, push=True)
        talked(persona)
        subscriptions.subscribe(ana.pk, subscriptions.read(Browser(f"{service.origin}/send").subscription()))
        promise(persona)
        consider.consider_all(CLOCK())
        assert Outreach.objects.get().status == "wanted"
        erasure.checkpoint(connection)


def promise(persona: Persona) -> None:
    """What was promised, on the ground of a line of hers."""
    line = persona.messages.get(role=Message.Role.PERSONA)
    told = remembered(persona, line.content, kind="event")
    Evidence.objects.create(node=told, message=line, quote=line.content, start=0, end=len(line.content))
    promised = remembered(persona, PROMISE, kind="intention", event_time_start=DUE, event_time_end=DUE)
    Filling.objects.create(parent=promised, child=told)


def remembered(persona: Persona, words: str, **values: Any) -> ConceptNode:
    values |= {"subject": "persona", "source": "extraction", "content_hash": words, "embedding_model": embedding.name()}
    node = ConceptNode.objects.create(persona=persona, description=words, **values)
    vectors.index([node], embedding.embed([words]))
    return node


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def carried_out(at_each_statement: Callable[[int], None]) -> str:
    """The job; `at_each_statement` hears of each statement before it is run."""
    numbers = itertools.count(1)

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        at_each_statement(next(numbers))
        return run(*args)

    with connection.execute_wrapper(execute):
        return create.run(Outreach.objects.get().pk, CLOCK)


def counted(life: Path) -> int:
    """How many statements it takes."""
    seen: list[int] = []
    with opened(copied(life)):
        assert carried_out(seen.append) == "delivered"
    return len(seen)


def after_a_death(life: Path, moment: Moment, service: PushService) -> dict[str, Any]:
    """What is there in the end, when a process has died at that moment and another has carried on."""
    service.notices.clear()
    with opened(copied(life)):
        how = killed(moment)
        shown = lines_shown()
        stored, paid = list(said_lines()), LLMCall.objects.count()
        create.requeue_stale(CLOCK())
        second = create.run(Outreach.objects.get().pk, CLOCK)
        return {
            "moment": moment,
            "killed": how == signal.SIGKILL,
            "half": [shown != stored, len(stored) != Outreach.objects.filter(turn_uuid__in=turns_of(stored)).count()],
            "was said": len(stored),
            "was paid": paid,
            "second": str(second),
            "lost": [line for line in shown if line not in said_lines()],
            "lines": len(said_lines()),
            "told": lines_shown() == said_lines(),
            "stamped": [one.status for one in Outreach.objects.filter(turn_uuid__in=turns_of(said_lines()))],
            "calls": LLMCall.objects.count(),
            "kept": ModelReply.objects.count(),
            "turns": Turn.objects.filter(spoke_first=True).count(),
            "notices": len(service.notices),
            "broken": checks.broken(CLOCK()),
        }


def said_lines() -> list[str]:
    return [str(uuid) for uuid in Message.objects.filter(content=SAID).order_by("id").values_list("uuid", flat=True)]


def lines_shown() -> list[str]:
    """What pages were told of."""
    done = OutboxEvent.objects.filter(name="chat.message.done").order_by("id")
    return [event.data["message_id"] for event in done]


def turns_of(lines: list[str]) -> list[Any]:
    return list(Message.objects.filter(uuid__in=lines).values_list("turn__uuid", flat=True))


def killed(moment: Moment) -> int:
    """The signal by which a process ends that carries the outreach out, and is killed at this moment."""
    connections.close_all()
    child = os.fork()
    if not child:
        if moment == THINKING:
            os.environ[DIES] = "1"
        if moment == SENDING:
            dies_after_sending()
        carried_out(lambda number: die() if number == moment else None)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def dies_after_sending() -> None:
    send = push_send.send

    def deadly(*args: Any) -> None:
        send(*args)
        die()

    push_send.send = deadly  # type: ignore[assignment]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
