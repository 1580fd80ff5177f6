"""The people, places and things that memories are about: a map and a list, and one page for each."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from memory.consolidation import open_items
from memory.entities.photos import photo_of, photos_of, remove_photo, save_photo
from memory.models import ConceptNode, Entity, Mention
from memory.models.node import L3
from memory.web.entity_actions import REFUSALS, run_entity_action
from memory.web.presenters import people_map
from memory.web.presenters.days import format_day
from memory.web.presenters.merge_proposals import decided_proposals
from memory.web.presenters.person import facts_about
from memory.web.views.base import page, persona_page
from memory.web.views.companion import PICTURE_CHANGED, read_picture, show_picture
from memory.web.views.memories import with_names
from memory.web.views.merge_proposals import own_entity
from persona.companion import pictures
from persona.companion.pictures import PictureChanged, PictureRefused
from persona.models import Persona

Outcome = ConceptNode.Outcome
MAX_LISTED = 300
MAX_MEMORIES = 60


@persona_page
@require_http_methods(["GET", "HEAD"])
def people(request: HttpRequest, persona: Persona) -> HttpResponse:
    """All entities with a name: on a map around the owner, and in a list."""
    active = Q(mentions__node__status=ConceptNode.Status.ACTIVE)
    entities = persona.entities.exclude(status=Entity.Status.MERGED).annotate(
        memories=Count("mentions"),
        heard_at=Max("mentions__node__last_mentioned_at", filter=active & Q(mentions__node__kind__in=L3)),
        awaited=Count(
            "mentions",
            filter=active & Q(mentions__node__kind__in=open_items.KINDS, mentions__node__outcome=Outcome.OPEN),
        ),
    )
    listed_entities = list(entities.prefetch_related("aliases").order_by("-memories", "canonical_name")[:MAX_LISTED])
    photos = photos_of(listed_entities)
    for entity in listed_entities:
        entity.shown_photo = photos.get(entity.pk)  # type: ignore[attr-defined]
        day = entity.heard_at and entity.heard_at.astimezone(persona.zone).date()
        entity.heard = format_day(persona, day) if day else ""  # type: ignore[attr-defined]
    spots = people_map.place_people([(entity, entity.memories) for entity in listed_entities[: people_map.MAX_ON_MAP]])
    context = {
        "people": listed_entities,
        "map": people_map,
        "spots": spots,
        "bonds": people_map.bonds(spots),
        "more": max(0, persona.entities.exclude(status=Entity.Status.MERGED).count() - len(listed_entities)),
    }
    return page(request, persona, "memory/people.html", context)


@persona_page
@require_http_methods(["GET", "HEAD"])
def person(request: HttpRequest, persona: Persona, entity: UUID) -> HttpResponse:
    """One entity: names, description, memories, and the decisions about it."""
    return _render_person(request, persona, own_entity(persona, entity))


def _render_person(
    request: HttpRequest, persona: Persona, row: Entity, photo_trouble: Any = "", status: int = 200
) -> HttpResponse:
    nodes = ConceptNode.objects.filter(mentions__entity=row).newest_first()[:MAX_MEMORIES]
    mentions = dict(Mention.objects.filter(entity=row, node__in=list(nodes)).values_list("node_id", "pk"))
    memories = [(mentions[node.pk], node) for node in with_names(persona, nodes)]
    context = {
        "entity": row,
        "about": facts_about(row),
        "names": list(row.aliases.all()),
        "memories": memories,
        "more": max(0, row.mentions.count() - len(memories)),
        "decided": decided_proposals(row),
        "photo": photo_of(row),
        "photo_trouble": photo_trouble,
        "max_picture_bytes": pictures.MAX_BYTES,
    }
    return page(request, persona, "memory/somebody.html", context, status=status)


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def photo(request: HttpRequest, persona: Persona, entity: UUID) -> HttpResponse:
    """The photo of an entity, for its owner only; replace or remove it."""
    row = own_entity(persona, entity)
    if request.method != "POST":
        stored_photo = photo_of(row)
        if stored_photo is None:
            raise Http404
        return show_picture(stored_photo)
    version_seen = request.POST.get("seen", "")
    try:
        if "remove" in request.POST:
            remove_photo(row, version_seen)
            messages.success(request, _("The picture is removed."))
        else:
            save_photo(row, read_picture(request), version_seen)
            messages.success(request, _("The picture is saved."))
    except PictureChanged:
        return _render_person(request, persona, row, PICTURE_CHANGED, status=409)
    except PictureRefused as refusal:
        return _render_person(request, persona, row, pictures.explain(refusal), status=422)
    return redirect("memory_somebody", persona.uuid, row.uuid)


photo.max_upload_bytes = pictures.MAX_BYTES  # type: ignore[attr-defined]


@persona_page
@require_POST
def person_action(request: HttpRequest, persona: Persona, entity: UUID, action: str) -> HttpResponse:
    """Rename, describe, add or remove a name, or split."""
    row = own_entity(persona, entity)
    try:
        messages.success(request, run_entity_action(action, row, request))
    except REFUSALS as error:
        messages.error(request, str(error))
    return redirect("memory_somebody", persona.uuid, row.uuid)
