"""The two groups of staff that an installation begins with: curators, and curators who may read.

They are made once; afterwards they are the operator's, to change, rename or delete from the desk.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

CURATORS, WHO_MAY_READ = "Curators", "Curators who may read"

# What is looked at, by app; what is decided; what reading takes besides.
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
    """Make the groups, where none was ever made."""
    if Group.objects.filter(name__in=[CURATORS, WHO_MAY_READ]).exists():
        return
    seen = {app: [f"view_{model}" for model in models] for app, models in SEEN.items()}
    both = _permissions(seen) | _permissions(DECIDED)
    Group.objects.create(name=CURATORS).permissions.set(Permission.objects.filter(both))
    Group.objects.create(name=WHO_MAY_READ).permissions.set(Permission.objects.filter(both | _permissions(READING)))


def _permissions(names: dict[str, list[str]]) -> Q:
    found = Q(pk=None)
    for app, codenames in names.items():
        found |= Q(content_type__app_label=app, codename__in=codenames)
    return found
