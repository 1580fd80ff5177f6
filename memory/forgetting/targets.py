"""Targets: what a person names by its id, found among what one persona has; and what must hold before it is forgotten:
nobody is replying from it, and the plan is the one that was confirmed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.crypto import salted_hmac

from chat.models import Message, Session, Turn
from memory.forgetting.types import Busy, Choice, Kind, Target
from memory.models import ConceptNode, Entity, ImportRun
from persona.models import Persona

MODELS: Mapping[str, Any] = {
    "message": Message,
    "node": ConceptNode,
    "entity": Entity,
    "session": Session,
    "import": ImportRun,
}


class NothingThere(LookupError):
    """None of what was to be forgotten is there."""


def target_of(persona: Persona, kind: Kind, reference: str) -> Target:
    """What the persona has of that id or external id. Raises LookupError."""
    if kind == "persona":
        return Target("persona", persona.pk)
    if kind == "owner":
        return Target("owner", persona.owner_id)
    found = MODELS[kind]._default_manager.filter(_named(reference), persona=persona)
    keys = list(found.values_list("pk", flat=True)[:2])
    if len(keys) != 1:
        raise LookupError(f"{'There is no' if not keys else 'There is more than one'} {kind} {reference!r} of hers.")
    return Target(kind, keys[0])


def whose(targets: Sequence[Target]) -> Persona:
    """The one persona that has them. Raises NothingThere, and ValueError for targets of several."""
    found = {
        owner
        for target in targets
        for owner in list(
            MODELS[target.kind]._default_manager.filter(pk=target.key).values_list("persona_id", flat=True)
        )
    }
    if not found:
        raise NothingThere
    if len(found) > 1:
        raise ValueError("what is forgotten at once belongs to one persona")
    return Persona.objects.select_related("owner").get(pk=found.pop())


def uuid_of(target: Target) -> str:
    """The public id of a target; empty where it is not there any longer."""
    rows = MODELS[target.kind]._default_manager.filter(pk=target.key)
    return next((str(uuid) for uuid in rows.values_list("uuid", flat=True)), "")


def _named(reference: str) -> Q:
    try:
        return Q(uuid=UUID(reference)) | Q(external_id=reference)
    except ValueError:
        return Q(external_id=reference)


def are_people(targets: Sequence[Target]) -> bool:
    """Whether the targets are a persona or an owner, and not what one persona has. Raises ValueError for more than one
    of them together."""
    found = [target for target in targets if target.kind in ("persona", "owner")]
    if found and len(targets) > 1:
        raise ValueError("a persona or an owner is forgotten alone")
    return bool(found)


def hold(personas: Iterable[Persona]) -> None:
    """See that no reply of these is under way. Call inside a transaction, which holds the write lock from its beginning
    on: no reply can begin until it ends. Raises Busy."""
    keys = [persona.pk for persona in personas]
    if Turn.objects.running().filter(persona__in=keys).exists():
        raise Busy


def digest_of(targets: Iterable[Target], choice: Choice, contents: Mapping[str, Any]) -> str:
    """The digest of a plan by its targets, its choice and its contents; nobody without the installation's secret can
    make one up."""
    chosen = {**asdict(choice), "staying": sorted(choice.staying), "mentions": sorted(choice.mentions)}
    confirmed = json.dumps([sorted((one.kind, one.key) for one in targets), chosen, contents], sort_keys=True)
    return salted_hmac("memory.forgetting.plan", confirmed, algorithm="sha256").hexdigest()
