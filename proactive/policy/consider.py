"""Considerations: once a minute the policy decides for each persona that may speak first whether it should.

The decision is recorded with the gate that refused and the facts it rests on. If the persona should speak, an outreach
is created and enqueued. No model is called, and personas whose owners have not turned it on cost nothing.
"""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django_q.tasks import async_task

from echovessel.db.compiled_queries import Query, Update, insert
from echovessel.process import redaction
from persona.models import Persona
from proactive import knobs
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.models.consideration import Gate
from proactive.policy.decision import Decision, decide
from proactive.policy.situation import Situation, read_situation
from proactive.policy.triggers import Reason

logger = logging.getLogger(__name__)

Status = Outreach.Status

_allowed: Query[ReachingOut] = Query(
    lambda: (
        ReachingOut.objects.filter(enabled=True)
        .exclude(persona__outreaches__status=Status.WANTED)
        .select_related("persona")
        .order_by("persona_id")
    )
)
_pending: Query[tuple[int]] = Query(
    lambda persona: Outreach.objects.filter(persona=persona, status=Status.WANTED).values_list("pk")[:1]
)
_newest: Query[Consideration] = Query(lambda persona: Consideration.objects.filter(persona=persona).order_by("-id")[:1])
_count_repeat = Update(
    lambda row, at, facts: (
        Consideration.objects.filter(pk=row),
        {"times": F("times") + 1, "at": at, "facts": facts},
    )
)


def consider_all(now: datetime) -> int:
    """Consider every persona that may speak first and has no pending outreach; returns how many were considered."""
    count = 0
    for allowed in _allowed():
        try:
            count += consider(allowed, now)
        except Exception as error:  # noqa: BLE001  (the edge of a job: the other personas are still considered)
            logger.error(
                "persona %s could not be considered: %s", allowed.persona_id, redaction.format_exception(error)
            )
    return count


def prune(now: datetime) -> int:
    """Delete considerations that are older than the knob allows, and those of a crisis hold that is over; returns the
    number of deleted rows."""
    old = Q(at__lt=now - timedelta(days=knobs.keep_considerations_days()))
    over = Q(gate=Gate.CRISIS_HOLD) & ~Q(persona__care_until__gt=now)
    return Consideration.objects.filter(old | over).delete()[0]


def reconsider(outreach: Outreach, now: datetime) -> Decision:
    """Decide anew about an outreach that was decided on before. The outreach itself does not count against it."""
    allowed = ReachingOut.objects.filter(persona=outreach.persona_id).select_related("persona").first()
    key = outreach.trigger_key
    situation = read_situation(allowed or ReachingOut(persona=outreach.persona), now, sparing=key)
    return decide(replace(situation, reasons=tuple(reason for reason in situation.reasons if reason.key == key)))


def consider(allowed: ReachingOut, now: datetime) -> bool:
    """Decide for one persona, record the decision, and create the outreach if the persona should speak; False if
    another worker has created one meanwhile. One transaction, so that nothing changes between the decision and the
    outreach."""
    persona = allowed.persona
    with transaction.atomic():
        if _pending(persona.pk):
            return False
        situation = read_situation(allowed, now)
        decision = decide(situation)
        outreach = _begin_outreach(persona, decision.reason, now) if decision.reason and decision.speaks else None
        _record(persona, situation, decision, outreach)
    return True


def _begin_outreach(persona: Persona, reason: Reason, now: datetime) -> Outreach:
    """Create the outreach for `reason`, or reopen the one that was held back, and enqueue it at commit."""
    outreach, is_new = Outreach.objects.get_or_create(
        persona=persona,
        trigger_key=reason.key,
        defaults={"trigger": reason.kind, "about_uuid": reason.about, "wanted_at": now},
    )
    if not is_new:
        values = {
            "status": Status.WANTED,
            "reason": "",
            "wanted_at": now,
            "attempts": 0,
            "holder": "",
            "lease_until": None,
        }
        Outreach.objects.filter(pk=outreach.pk).update(**values)
    async_task("proactive.tasks.reach_out", outreach.pk)
    return outreach


def _record(persona: Persona, situation: Situation, decision: Decision, outreach: Outreach | None) -> None:
    """Store the decision: count it on the newest row if that row holds the same decision of the same day, else insert a
    row."""
    row = Consideration(
        persona=persona,
        day=situation.local.date(),
        verdict=decision.verdict,
        gate=decision.gate or "",
        trigger=decision.reason.kind if decision.reason else "",
        trigger_key=decision.reason.key if decision.reason else "",
        facts=situation.facts(),
        outreach=outreach,
        first_at=situation.now,
        at=situation.now,
    )
    for newest in _newest(row.persona_id):
        if _decision_of(newest) == _decision_of(row):
            _count_repeat(newest.pk, row.at, row.facts)
            return
    insert(row)


def _decision_of(row: Consideration) -> tuple[object, ...]:
    return row.day, row.verdict, row.gate, row.trigger, row.trigger_key
