"""The job that runs one persona's slow cycle, from its request to its results.

    acquire -> gate -> think -> describe -> store

Only `store` writes lasting results, in one transaction. If a run fails nothing is lost: its events are new to the next
one, after the next session. No session ever waits for it.
"""

import logging
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.utils import timezone

from echovessel.jobs import runner
from echovessel.jobs.lease import Clock, Lease
from memory import knobs
from memory.consolidation.slow_cycle_requests import clear_request
from memory.models import SlowCycle, SlowCycleRun
from memory.slow_cycle import replies
from memory.slow_cycle.context import RunInputs, build_inputs
from memory.slow_cycle.entity_descriptions import describe
from memory.slow_cycle.gate import Decision, decide
from memory.slow_cycle.gate_facts import facts_of
from memory.slow_cycle.persist import store
from memory.slow_cycle.prompt import think

logger = logging.getLogger(__name__)

# Failures caused by the events themselves: their number is limited, so that the same events are not asked about
# forever.
CAUSED_BY_EVENTS = ("content_refused", "unreadable")
MAX_FAILURES_BY_EVENTS = 3


class Outcome(StrEnum):
    """The result of one run."""

    DONE = "done"
    NOT_NOW = "not_now"
    FAILED = "failed"
    LATER = runner.LATER
    NOT_MINE = runner.NOT_MINE


def run(persona_id: int, clock: Clock = timezone.now) -> Outcome:
    """Run the slow cycle if the gate allows it. A failure is stored as a run."""
    lease = acquire(persona_id, clock)
    return Outcome(SlowCycleJob(lease).run()) if lease else Outcome.NOT_MINE


def acquire(persona_id: int, clock: Clock) -> Lease[SlowCycle] | None:
    """A lease on the persona's slow cycle; None if it was not requested, is leased by another worker, or waits for a
    retry."""
    rows = SlowCycle.objects.filter(pk=persona_id).select_related("persona__owner")
    return Lease.acquire(rows, rows.waiting(clock()), clock)


class SlowCycleJob(runner.Job[Lease[SlowCycle]]):
    def __init__(self, lease: Lease[SlowCycle]) -> None:
        super().__init__(lease)
        self.cycle = lease.row
        self.reason: str = SlowCycleRun.Reason.RESTED
        self.inputs = RunInputs()

    def run_steps(self) -> Outcome:
        decision = decide(facts_of(self.cycle, self.lease.clock()), self.lease.clock())
        self.reason = decision.reason or self.reason
        if self.is_exhausted():
            return self.fail("stopped")
        if decision.refusal is not None:
            return self.wait_for_gate(decision)
        self.inputs = build_inputs(self.cycle, self.lease.clock())
        thinking = think(self.lease, self.inputs)
        described = describe(self.lease, knobs.slow_cycle_run_tokens() - thinking.cost)
        store(self.lease, self.reason, thinking, described)
        return Outcome.DONE

    def wait_for_gate(self, decision: Decision) -> Outcome:
        """Wait until the refusal is over or there is something new. A refusal costs no attempt."""
        with transaction.atomic():
            self.lease.release(lease_until=decision.again_at, attempts=self.lease.attempts() - 1)
            if decision.again_at is None:
                replies.delete(self.cycle.persona)
                clear_request(self.cycle)
        return Outcome.NOT_NOW

    def fail(self, failure: str) -> Outcome:
        """Give up until the next session ends. The events stay new, unless models have refused them too often."""
        through, results = self.cycle.through, list[dict[str, Any]]()
        failed = SlowCycleRun.objects.filter(persona=self.cycle.persona, outcome=SlowCycleRun.Outcome.FAILED)
        before = failed.filter(through=self.cycle.through, failure__in=CAUSED_BY_EVENTS).count()
        too_often = failure in CAUSED_BY_EVENTS and before + 1 >= MAX_FAILURES_BY_EVENTS
        if self.inputs.events and too_often:
            through, results = self.inputs.through, [{"kind": "events", "dropped": failure}]
        with transaction.atomic():
            self.lease.release(through=through, attempts=0)
            clear_request(self.cycle)
            replies.delete(self.cycle.persona)
            SlowCycleRun.objects.create(
                persona=self.cycle.persona,
                session=self.cycle.requested_by,
                reason=self.reason,
                outcome=SlowCycleRun.Outcome.FAILED,
                failure=failure,
                given=self.inputs.keys(),
                made=results,
                through=through,
                at=self.lease.clock(),
            )
        logger.error("%s failed: %s", self.cycle, failure)
        return Outcome.FAILED
