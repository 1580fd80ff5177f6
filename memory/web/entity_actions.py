"""The actions of a person on an entity, by the same rules on the owner's page and in the admin, as in the API."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _

from memory.entities import rename, split
from memory.entities.rename import NameRefused
from memory.entities.split import NotSplit
from memory.models import Entity
from memory.web.keys import read_key

# Exceptions of the actions; their messages are shown to people.
REFUSALS = (NameRefused, NotSplit)


ENTITY_ACTIONS = ("rename", "describe", "relate", "add_name", "remove_name", "split")


def run_entity_action(action: str, entity: Entity, request: HttpRequest) -> str:
    """Run an action; returns its result in words. Raises one of REFUSALS, and Http404 for an unknown name or action."""
    data = request.POST
    if action == "rename":
        rename.rename(entity, data.get("name", ""))
        return _("Renamed.")
    if action == "describe":
        rename.describe(entity, data.get("description", ""))
        return _("Description saved.")
    if action == "relate":
        rename.relate(entity, data.get("relation", ""))
        return _("Saved.")
    if action == "add_name":
        before = entity.aliases.count()
        rename.add_alias(entity, data.get("name", ""))
        return _("The name was added.") if entity.aliases.count() > before else _("Nothing was changed.")
    if action == "remove_name":
        rename.remove_alias(get_object_or_404(entity.aliases, pk=read_key(data.get("alias", ""))))
        return _("The name was removed.")
    if action == "split":
        aliases, mentions = (list(map(read_key, data.getlist(name))) for name in ("alias", "mention"))
        split.split(entity, aliases, mentions, request.user, timezone.now())  # type: ignore[arg-type]
        return _("Split into two people.")
    raise Http404
