"""The two staff groups of a new installation: curators, and curators who may read.

They are created once; afterwards the operator may change, rename or delete them in the admin.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

CURATORS, WHO_MAY_READ = "Curators", "Curators who may read"

# Models that may be viewed, by app; permissions to decide; the extra permission to read.
SEEN = {
    "chat": ["session", "message", "turn"],
    "memory": [
        "event",
        "fact",
        "thought",
        "intention",
        "expectation",
        "lesson",
        "entity",
        "mergeproposal",
        "extraction",
        "reflectionrun",
        "slowcyclerun",
        "question",
        "receipt",
    ],
    "persona": ["persona", "coredraft", "moodchange"],
    "proactive": ["outreach", "consideration"],
}
DECIDED = {"memory": ["change_mergeproposal", "change_question"], "chat": ["change_session"]}
READING = {"persona": ["read_words"]}


def ensure(**_: Any) -> None:
    """Create the groups, unless one of them exists."""
    if Group.objects.filter(name__in=[CURATORS, WHO_MAY_READ]).exists():
        return
    models_by_app = {app: [f"view_{model}" for model in models] for app, models in SEEN.items()}
    both = _permissions(models_by_app) | _permissions(DECIDED)
    Group.objects.create(name=CURATORS).permissions.set(Permission.objects.filter(both))
    Group.objects.create(name=WHO_MAY_READ).permissions.set(Permission.objects.filter(both | _permissions(READING)))


def _permissions(names: dict[str, list[str]]) -> Q:
    condition = Q(pk=None)
    for app, codenames in names.items():
        condition |= Q(content_type__app_label=app, codename__in=codenames)
    return condition
