"""Considering: once a minute each persona that may speak first asks herself whether she should. What came of it is
recorded, by which gate and on what facts; where she should, an outreach is on its way from then on.

It costs no model call, and nothing at all for who has not turned it on.
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
_on_its_way: Query[tuple[int]] = Query(
    lambda persona: Outreach.objects.filter(persona=persona, status=Status.WANTED).values_list("pk")[:1]
)
_newest: Query[Consideration] = Query(lambda persona: Consideration.objects.filter(persona=persona).order_by("-id")[:1])
_again = Update(
    lambda row, at, facts: (
        Consideration.objects.filter(pk=row),
        {"times": F("times") + 1, "at": at, "facts": facts},
    )
)


def consider_all(now: datetime) -> int:
    """Let every persona that may, and has no outreach on its way, consider it; returns how many did."""
    count = 0
    for allowed in _allowed():
        try:
            count += consider(allowed, now)
        except Exception as error:  # noqa: BLE001  (the edge of a job: the others are to be considered all the same)
            logger.error(
                "persona %s could not be considered: %s", allowed.persona_id, redaction.format_exception(error)
            )
    return count


def prune(now: datetime) -> int:
    """Delete the record of what is older than the knob allows, and of a crisis, once it holds her back no more; returns
    how many rows went."""
    old = Q(at__lt=now - timedelta(days=knobs.keep_considerations_days()))
    over = Q(gate=Gate.CRISIS_HOLD) & ~Q(persona__care_until__gt=now)
    return Consideration.objects.filter(old | over).delete()[0]


def decide_again(outreach: Outreach, now: datetime) -> Decision:
    """Whether `outreach` is still to be said, as things stand now. It does not stand in its own way."""
    allowed = ReachingOut.objects.filter(persona=outreach.persona_id).select_related("persona").first()
    key = outreach.trigger_key
    situation = read_situation(allowed or ReachingOut(persona=outreach.persona), now, sparing=key)
    return decide(replace(situation, reasons=tuple(reason for reason in situation.reasons if reason.key == key)))


def consider(allowed: ReachingOut, now: datetime) -> bool:
    """Decide for one persona, record it, and begin the outreach where she is to speak; False where another worker has
    begun one since. All in one transaction, so that nothing changes between what was seen and what is done."""
    persona = allowed.persona
    with transaction.atomic():
        if _on_its_way(persona.pk):
            return False
        situation = read_situation(allowed, now)
        decision = decide(situation)
        outreach = _begin_outreach(persona, decision.reason, now) if decision.reason and decision.speaks else None
        _record(persona, situation, decision, outreach)
    return True


def _begin_outreach(persona: Persona, reason: Reason, now: datetime) -> Outreach:
    """An outreach for `reason`, on its way as soon as this is committed: a new one, or the one that was held back."""
    outreach, is_new = Outreach.objects.get_or_create(
        persona=persona,
        trigger_key=reason.key,
        defaults={"trigger": reason.kind, "about_uuid": reason.about, "wanted_at": now},
    )
    if not is_new:
        again = {
            "status": Status.WANTED,
            "reason": "",
            "wanted_at": now,
            "attempts": 0,
            "holder": "",
            "lease_until": None,
        }
        Outreach.objects.filter(pk=outreach.pk).update(**again)
    async_task("proactive.tasks.reach_out", outreach.pk)
    return outreach


def _record(persona: Persona, situation: Situation, decision: Decision, outreach: Outreach | None) -> None:
    """Keep what came of it: counted on the newest row where that says the same of the same day, else in one of its
    own."""
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
        if _says(newest) == _says(row):
            _again(newest.pk, row.at, row.facts)
            return
    insert(row)


def _says(row: Consideration) -> tuple[object, ...]:
    return row.day, row.verdict, row.gate, row.trigger, row.trigger_key
