"""Whom memories are about: a map and a list, and one page for each."""

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from memory.entities import rename, split
from memory.entities.rename import NameRefused
from memory.entities.split import NotSplit
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.web.presenters.merge_proposals import decided_proposals
from memory.web.presenters.people_map import MAP_HEIGHT, MAP_WIDTH, MOST_ON_MAP, bonds, place_people
from memory.web.views.base import page, persona_page
from memory.web.views.memories import with_names
from memory.web.views.merge_proposals import own_entity
from persona.models import Persona

MOST_LISTED = 300
MOST_MEMORIES = 60
SAID = {
    "renamed": _("Renamed."),
    "described": _("Described."),
    "named": _("The name was added."),
    "unnamed": _("The name was removed."),
    "nothing": _("There was nothing to change."),
    "split": _("They are two from now on."),
}


@persona_page
@require_http_methods(["GET", "HEAD"])
def people(request: HttpRequest, persona: Persona) -> HttpResponse:
    """Everybody and everything with a name."""
    known = persona.entities.exclude(status=Entity.Status.MERGED).annotate(memories=Count("mentions"))
    found = list(known.prefetch_related("aliases").order_by("-memories", "canonical_name")[:MOST_LISTED])
    spots = place_people([(entity, entity.memories) for entity in found[:MOST_ON_MAP]])
    context = {
        "people": found,
        "spots": spots,
        "bonds": bonds(spots),
        "width": MAP_WIDTH,
        "height": MAP_HEIGHT,
        "more": max(0, persona.entities.exclude(status=Entity.Status.MERGED).count() - len(found)),
    }
    return page(request, persona, "memory/people.html", context)


@persona_page
@require_http_methods(["GET", "HEAD"])
def person(request: HttpRequest, persona: Persona, entity: UUID) -> HttpResponse:
    """One of them: names, description, memories, and what was decided about them."""
    found = own_entity(persona, entity)
    nodes = ConceptNode.objects.filter(mentions__entity=found).newest_first()[:MOST_MEMORIES]
    mentions = dict(Mention.objects.filter(entity=found, node__in=list(nodes)).values_list("node_id", "pk"))
    memories = [(mentions[node.pk], node) for node in with_names(nodes)]
    context = {
        "entity": found,
        "names": list(found.aliases.all()),
        "memories": memories,
        "more": max(0, found.mentions.count() - len(memories)),
        "decided": decided_proposals(found),
    }
    return page(request, persona, "memory/somebody.html", context)


@persona_page
@require_POST
def person_action(request: HttpRequest, persona: Persona, entity: UUID, deed: str) -> HttpResponse:
    """Rename, describe, add or remove a name, or split."""
    found = own_entity(persona, entity)
    try:
        said = _PEOPLE_DEEDS[deed](found, request)
    except (NameRefused, NotSplit) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, str(SAID[said]))
    return redirect("memory_somebody", persona.uuid, found.uuid)


def _rename(found: Entity, request: HttpRequest) -> str:
    rename.rename(found, request.POST.get("name", ""))
    return "renamed"


def _describe(found: Entity, request: HttpRequest) -> str:
    rename.describe(found, request.POST.get("description", ""))
    return "described"


def _add_name(found: Entity, request: HttpRequest) -> str:
    known = found.aliases.count()
    rename.add_alias(found, request.POST.get("name", ""))
    return "named" if found.aliases.count() > known else "nothing"


def _remove_name(found: Entity, request: HttpRequest) -> str:
    alias = get_object_or_404(Alias, entity=found, pk=_key(request.POST.get("alias", "")))
    rename.remove_alias(alias)
    return "unnamed"


def _split(found: Entity, request: HttpRequest) -> str:
    aliases, mentions = (_keys(request.POST.getlist(name)) for name in ("alias", "mention"))
    split.split(found, aliases, mentions, request.user, timezone.now())  # type: ignore[arg-type]
    return "split"


_PEOPLE_DEEDS: Mapping[str, Callable[[Entity, HttpRequest], str]] = {
    "rename": _rename,
    "describe": _describe,
    "add_name": _add_name,
    "remove_name": _remove_name,
    "split": _split,
}
DEEDS = tuple(_PEOPLE_DEEDS)


def _key(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _keys(texts: Iterable[str]) -> list[int]:
    return [_key(text) for text in texts]
