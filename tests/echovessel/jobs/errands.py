"""A small job for the kill matrix: an errand that asks a model, stores what it says, and is done.

    python -m tests.echovessel.jobs.errands DATABASE STRIDE      what became of each errand, as JSON

DATABASE is a migrated one. In a copy of it an errand is run, and at every STRIDE-th statement something happens: its
process is killed (SIGKILL), another worker overtakes it, or the database fails. Then another worker carries on.
"""

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import OperationalError, connection, connections, models, transaction  # noqa: E402
from django_q.models import OrmQ  # noqa: E402
from django_q.tasks import async_task  # noqa: E402
from pydantic import BaseModel  # noqa: E402

from echovessel import llm  # noqa: E402
from echovessel.jobs import knobs, runner  # noqa: E402
from echovessel.jobs.lease import HOST, Clock, Lease, LeasedReplyStore, available  # noqa: E402
from echovessel.llm.models import LLMCall  # noqa: E402
from echovessel.llm.providers import Models, Provider  # noqa: E402
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Usage  # noqa: E402
from tests.journeys.forget_process import copied, opened  # noqa: E402
from tests.memory.sessions import Clock as TestClock  # noqa: E402

QUESTIONS = ("what", "where", "when")  # the first is answered unreadably once; the others are checkpoints each
WHILE_IT_THINKS = "while the model thinks"
CLOCK = TestClock()
BEGINNING = CLOCK()


# --- the rows and the job -----------------------------------------------------------------------------------------
class Errand(models.Model):
    status = models.CharField(max_length=8, default="open")
    failure = models.CharField(max_length=40, blank=True)
    holder = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        app_label = "errands"

    def __str__(self) -> str:
        return f"errand {self.pk}"


class Result(models.Model):
    """What a step made. Nothing but the job keeps it from being made twice."""

    errand = models.IntegerField()
    step = models.CharField(max_length=8)
    text = models.CharField(max_length=40)

    class Meta:
        app_label = "errands"

    def __str__(self) -> str:
        return f"result {self.pk}"


class StoredReply(models.Model):
    errand = models.IntegerField()
    step = models.CharField(max_length=8)
    number = models.IntegerField()
    text = models.TextField()
    whole = models.BooleanField()
    usage = models.JSONField()

    class Meta:
        app_label = "errands"

    def __str__(self) -> str:
        return f"stored reply {self.pk}"


class Words(BaseModel):
    words: str


class ErrandProvider(Provider):
    """Answers by the request alone. The first answer to the first question fits no schema."""

    name = "errand"
    defaults = Models("one", "one", "one")

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        assert not connection.in_atomic_block
        if dies_while_it_thinks:
            die()
        yield "no" if request.user == QUESTIONS[0] else json.dumps({"words": request.user[:4]})
        yield StreamEnd("stop", Usage(10, 0, 5))


dies_while_it_thinks = False


class ErrandJob(runner.Job[Lease[Errand]]):
    def run_steps(self) -> str:
        if self.is_exhausted():
            return self.fail("stopped")
        for number, question in enumerate(QUESTIONS):
            if not self.results().filter(step=question).exists():
                self.ask(question, is_checkpoint=number > 0)
        with transaction.atomic():
            self.lease.release(status="done", attempts=0)
            StoredReply.objects.filter(errand=self.lease.row.pk).delete()
        return "done"

    def ask(self, question: str, *, is_checkpoint: bool) -> None:
        errand = self.lease.row.pk
        replies = LeasedReplyStore(
            self.lease, StoredReply.objects, is_checkpoint=is_checkpoint, errand=errand, step=question
        )
        request = llm.Request(system="", user=question, tier="small", purpose="extraction", max_tokens=5)
        answer = llm.answer_now(request, Words, replies=replies)
        with transaction.atomic():
            self.lease.checkpoint()
            Result.objects.create(errand=errand, step=question, text=answer.value.words)

    def results(self) -> models.QuerySet[Result]:
        return Result.objects.filter(errand=self.lease.row.pk)

    def fail(self, failure: str) -> str:
        self.lease.release(status="failed", failure=failure, attempts=0)
        return "failed"


def run(clock: Clock = CLOCK) -> str:
    rows = Errand.objects.filter(status="open")
    lease = Lease.acquire(rows, rows.filter(available(clock())), clock)
    return ErrandJob(lease).run() if lease else runner.NOT_MINE


def requeue_stale() -> int:
    rows = Errand.objects.filter(status="open")
    return runner.requeue_stale(rows, rows.filter(available(CLOCK())), enqueue=lambda row: async_task("run", row.pk))


# --- what happens to it -------------------------------------------------------------------------------------------
def at_statement(moment: int, happens: Callable[[], None], length: int = 1) -> tuple[str, int]:
    """Run the errand; `happens` is called before the `moment`-th statement (from 1), and before those after it up to
    `length`. Returns the outcome and the number of statements."""
    seen = 0

    def execute(run_statement: Callable[..., Any], *args: Any) -> Any:
        nonlocal seen
        seen += 1
        if moment <= seen < moment + length:
            happens()
        return run_statement(*args)

    with connection.execute_wrapper(execute):
        return run(), seen


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed(moment: int | str) -> bool:
    """Whether a process that runs the errand was killed at this moment."""
    connections.close_all()
    child = os.fork()
    if not child:
        if moment == WHILE_IT_THINKS:
            globals()["dies_while_it_thinks"] = True
        at_statement(moment if isinstance(moment, int) else 0, die)
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def after_a_death_here(moment: int | str) -> dict[str, Any]:
    """Of this host it is known that the process is dead: the errand is taken up immediately."""
    death = {"killed": killed(moment), "status": Errand.objects.get().status}
    return death | {"requeued": requeue_stale(), "outcome": run()}


def after_a_death_elsewhere(moment: int | str) -> dict[str, Any]:
    """Of another host nothing is known: the errand is taken up when the lease has run out."""
    death = {"killed": killed(moment), "status": Errand.objects.get().status}
    for errand in Errand.objects.exclude(holder=""):
        Errand.objects.update(holder=errand.holder.replace(HOST, "elsewhere"))
        assert (requeue_stale(), run()) == (0, runner.NOT_MINE)
        CLOCK.forward(seconds=knobs.lease_seconds() + 1)
    return death | {"requeued": requeue_stale(), "outcome": run()}


def after_being_overtaken(moment: int) -> dict[str, Any]:
    """The worker is only slow. Its lease runs out, another one does the errand, and then it goes on. In a transaction
    it cannot be overtaken: it holds the lock of the database."""
    overtook: list[str] = []

    def overtake() -> None:
        if not connection.in_atomic_block and Errand.objects.get().holder and not overtook:
            later = TestClock(CLOCK())
            later.forward(seconds=knobs.lease_seconds() + 1)
            overtook.append("")
            overtook[0] = run(later)

    outcome, _ = at_statement(moment, overtake)
    return {"overtook": overtook, "outcome": outcome}


def after_a_fault(moment: int) -> dict[str, Any]:
    """The database fails for three statements: the step is tried again, or the lease runs out."""

    def fail() -> None:
        raise OperationalError("database or disk is full")

    with suppress(OperationalError):
        at_statement(moment, fail, length=3)
    CLOCK.forward(hours=1)
    return {"requeued": requeue_stale(), "outcome": run()}


def after_as_many_deaths_as_a_step_has_attempts() -> dict[str, Any]:
    deaths = 0
    while killed(WHILE_IT_THINKS):
        deaths += 1
    return {"deaths": deaths, "status": Errand.objects.get().status, "failure": Errand.objects.get().failure}


def remains() -> dict[str, Any]:
    return {
        "errands": list(Errand.objects.values_list("status", "failure", "holder", "lease_until", "attempts")),
        "results": list(Result.objects.order_by("id").values_list("step", "text")),
        "replies": StoredReply.objects.count(),
        "paid": list(LLMCall.objects.order_by("id").values_list("outcome", "tokens_in", "tokens_out")),
    }


def tried_out(life: Path, what: Callable[..., dict[str, Any]], *moment: int | str) -> dict[str, Any]:
    CLOCK.now = BEGINNING
    with opened(copied(life)):
        return {"what": what.__name__, "moment": moment} | what(*moment) | {"remains": remains()}


def main(life: Path, stride: int) -> None:
    settings.LLM_PROVIDER = "tests.echovessel.jobs.errands.ErrandProvider"
    with opened(life):
        with connection.schema_editor() as editor:
            for model in (Errand, Result, StoredReply):
                editor.create_model(model)
        Errand.objects.create()
        OrmQ.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with opened(copied(life)):
        outcome, statements = at_statement(0, die)
        undisturbed = {"outcome": outcome, "statements": statements, "remains": remains()}
    ways = (after_a_death_here, after_a_death_elsewhere, after_being_overtaken, after_a_fault)
    # What is overtaken outside transactions only is looked for more often.
    strides = {after_being_overtaken: min(stride, 2)}
    moments = [(way, moment) for way in ways for moment in range(1, statements + 1, strides.get(way, stride))]
    thinking = [(way, WHILE_IT_THINKS) for way in (after_a_death_here, after_a_death_elsewhere)]
    disturbed = [tried_out(life, way, moment) for way, moment in (*thinking, *moments)]
    given_up = tried_out(life, after_as_many_deaths_as_a_step_has_attempts)
    json.dump({"undisturbed": undisturbed, "disturbed": disturbed, "given up": given_up}, sys.stdout, default=str)


if __name__ == "__main__":
    sys.modules["tests.echovessel.jobs.errands"] = sys.modules["__main__"]
    main(Path(sys.argv[1]), int(sys.argv[2]))
