"""The gate's facts about a persona, from the database."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, Max, Min, Q, Sum

from echovessel.llm.ledger import FREE, day_of, next_day
from echovessel.llm.models import LLMCall, Purpose
from memory.consolidation.slow_cycle_requests import fresh_events
from memory.models import SlowCycle, SlowCycleRun
from memory.models.node import RELATIONAL_TAGS
from memory.slow_cycle.gate import Facts

PURPOSES: Sequence[str] = (Purpose.SLOW_CYCLE, Purpose.ENTITY)
CORRECTION = RELATIONAL_TAGS[-2]


def facts_of(cycle: SlowCycle, now: datetime) -> Facts:
    """The current facts. Failed runs count as well, and so do paid calls without a result; calls answered by rules cost
    nothing and do not count."""
    fresh = fresh_events(cycle, now).aggregate(
        count=Count("pk"),
        gladdest=Max("emotional_impact"),
        saddest=Min("emotional_impact"),
        corrections=Count("pk", filter=Q(relational_tags__icontains=f'"{CORRECTION}"')),
    )
    runs = SlowCycleRun.objects.filter(persona=cycle.persona)
    today = LLMCall.objects.filter(owner=cycle.persona.owner_id, at__gte=day_of(now), at__lt=next_day(now))
    calls = today.filter(purpose__in=PURPOSES)
    sums = (
        calls.filter(persona_uuid=cycle.persona.uuid)
        .exclude(provider=FREE)
        .aggregate(Sum("tokens_in"), Sum("tokens_out"))
    )
    tokens_in, tokens_out = sums["tokens_in__sum"] or 0, sums["tokens_out__sum"] or 0
    return Facts(
        new_events=fresh["count"],
        heaviest=max(abs(fresh["gladdest"] or 0), abs(fresh["saddest"] or 0)),
        has_correction=bool(fresh["corrections"]),
        last_run_at=runs.aggregate(last=Max("at"))["last"],
        runs_today=runs.since(day_of(now)).count(),
        tokens_in_today=tokens_in,
        tokens_out_today=tokens_out,
    )
