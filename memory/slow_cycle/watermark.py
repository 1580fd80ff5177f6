"""What is new to the slow cycle: by the keys of events, which know neither zones nor clocks."""

from datetime import datetime, timedelta

from django.db.models import Q

from memory import knobs
from memory.models import ConceptNode, SlowCycle
from memory.models.node import NodeQuerySet


def fresh_events(cycle: SlowCycle, now: datetime) -> NodeQuerySet:
    """The recallable events that no run was given yet, oldest first. What lies further back than some days is not
    wondered about by the first run, nor where an archive brings it."""
    events = ConceptNode.objects.filter(persona=cycle.persona_id, kind=ConceptNode.Kind.EVENT).recallable()
    wanted = Q(created_at__gte=now - timedelta(days=knobs.slow_cycle_first_days()))
    if cycle.through:
        wanted |= Q(import_uuid=None)
    return events.filter(wanted, pk__gt=cycle.through).order_by("pk")
