"""What a person does to an entity, by the same rules on the owner's page and in the admin; the API calls the same."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.entities import rename, split
from memory.entities.rename import NameRefused
from memory.entities.split import NotSplit
from memory.models import Entity
from memory.web.keys import read_key

# Raised by the actions, with words for people.
REFUSALS = (NameRefused, NotSplit)


def _rename(entity: Entity, data: QueryDict, by: Any) -> Any:
    rename.rename(entity, data.get("name", ""))
    return _("Renamed.")


def _describe(entity: Entity, data: QueryDict, by: Any) -> Any:
    rename.describe(entity, data.get("description", ""))
    return _("Description saved.")


def _add_name(entity: Entity, data: QueryDict, by: Any) -> Any:
    before = entity.aliases.count()
    rename.add_alias(entity, data.get("name", ""))
    return _("The name was added.") if entity.aliases.count() > before else _("Nothing was changed.")


def _remove_name(entity: Entity, data: QueryDict, by: Any) -> Any:
    rename.remove_alias(get_object_or_404(entity.aliases, pk=read_key(data.get("alias", ""))))
    return _("The name was removed.")


def _split(entity: Entity, data: QueryDict, by: Any) -> Any:
    aliases, mentions = (list(map(read_key, data.getlist(name))) for name in ("alias", "mention"))
    split.split(entity, aliases, mentions, by, timezone.now())
    return _("Split: they are two people from now on.")


ENTITY_ACTIONS: Mapping[str, Callable[[Entity, QueryDict, Any], Any]] = {
    "rename": _rename,
    "describe": _describe,
    "add_name": _add_name,
    "remove_name": _remove_name,
    "split": _split,
}


def run_entity_action(action: str, entity: Entity, request: HttpRequest) -> str:
    """Do it, and return what was done in words. Raises one of REFUSALS, and Http404 for a name that is not there."""
    return str(ENTITY_ACTIONS[action](entity, request.POST, request.user))
