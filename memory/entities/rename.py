"""Changes that people make to an entity's names: another canonical name, adding a name, removing a name.

A mention means that the memory contains a name of the entity. So adding a name links the memories that contain it,
unless another entity has it as well; and removing a name unlinks memories that contain no other name of the entity.
"""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from echovessel.language.person_names import is_name, normalize_name, occurs
from memory.entities.resolve import MAX_NAME, learn_aliases, link
from memory.entities.stream_events import announce_changed
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.models.entity import MAX_RELATION

MAX_DESCRIPTION = 400
WORDS = {
    "no_name": _("This is not a name."),
    "too_long": _("This name is too long."),
    "long_description": _("This description is too long: 400 characters at most."),
    "talking": _("This is your own name or your companion's."),
    "merged": _("This person was merged into another."),
    "only_name": _("No other name of theirs appears in the memories about them."),
}


class NameRefused(ValueError):
    """A refused change of names; `code` and message give the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(WORDS[code])
        self.code = code


def rename(entity: Entity, name: str) -> None:
    """Give the entity another canonical name; it keeps the old one as an alias. Raises NameRefused."""
    with transaction.atomic():
        add_alias(entity, name)
        entity.canonical_name = " ".join(name.split())
        entity.save(update_fields=["canonical_name"])
        announce_changed(entity, "renamed")


def change(
    entity: Entity, name: str | None, aliases: Iterable[str], description: str | None, relation: str | None = None
) -> None:
    """Apply all changes or none: another canonical name, further aliases, a person's description and relation (empty to
    remove). None leaves a value unchanged. Raises NameRefused."""
    with transaction.atomic():
        if name is not None:
            rename(entity, name)
        for alias in aliases:
            add_alias(entity, alias)
        if description is not None:
            describe(entity, description)
        if relation is not None:
            relate(entity, relation)


def relate(entity: Entity, relation: str) -> None:
    """Set the entity's relation to the owner; empty to remove it. Raises NameRefused."""
    text = " ".join(relation.split())
    if len(text) > MAX_RELATION:
        raise NameRefused("too_long")
    entity.relation = text
    entity.save(update_fields=["relation"])


def describe(entity: Entity, description: str) -> None:
    """Set a person's description; after an empty text the slow cycle may describe it again. Raises NameRefused."""
    text = description.strip()
    if len(text) > MAX_DESCRIPTION:
        raise NameRefused("long_description")
    described_by = Entity.DescribedBy.PERSON if text else ""
    Entity.objects.filter(pk=entity.pk).update(description=text, described_by=described_by)


def add_alias(entity: Entity, name: str) -> Alias:
    """Add a name, and link the memories that contain it if no other entity has it; returns the alias, which exists
    already if the normalized name is the same. Raises NameRefused."""
    name = " ".join(name.split())
    with transaction.atomic():
        talking = {normalize_name(entity.persona.name), normalize_name(entity.persona.user_display_name)}
        refused = {
            "too_long": len(name) > MAX_NAME,
            "no_name": not is_name(name),
            "talking": normalize_name(name) in talking,
            "merged": Entity.objects.filter(pk=entity.pk, status=Entity.Status.MERGED).exists(),
        }
        for code in (code for code, holds in refused.items() if holds):
            raise NameRefused(code)
        normalized = normalize_name(name)
        has_alias = entity.aliases.filter(normalized=normalized).exists()
        learn_aliases(entity, [name])
        if not has_alias:
            others = Alias.objects.filter(persona=entity.persona_id, normalized=normalized).exclude(entity=entity)
            if not others.exclude(entity__status=Entity.Status.MERGED).exists():
                nodes = ConceptNode.objects.filter(persona=entity.persona_id)
                described = nodes.values_list("pk", "description").iterator()
                link(entity, nodes.filter(pk__in=[pk for pk, description in described if occurs(name, description)]))
            announce_changed(entity, "named")
        return entity.aliases.get(normalized=normalized)


def remove_alias(alias: Alias) -> None:
    """Remove a name. Raises NameRefused if no other name is left, or no other name occurs in the memories."""
    entity = alias.entity
    with transaction.atomic():
        entity.refresh_from_db()
        remaining_aliases = list(entity.aliases.exclude(pk=alias.pk))
        # The mentions whose memory contains this name and none of the others.
        mentions = Mention.objects.filter(entity=alias.entity_id).values_list("pk", "node__description")
        unnamed = [
            pk
            for pk, text in mentions
            if occurs(alias.text, text) and not any(occurs(other.text, text) for other in remaining_aliases)
        ]
        if entity.status == Entity.Status.MERGED:
            raise NameRefused("merged")
        if not remaining_aliases or (unnamed and len(unnamed) == entity.mentions.count()):
            raise NameRefused("only_name")
        Mention.objects.filter(pk__in=unnamed).delete()
        Alias.objects.filter(pk=alias.pk).delete()
        if normalize_name(entity.canonical_name) == alias.normalized:
            entity.canonical_name = remaining_aliases[0].text
            entity.save(update_fields=["canonical_name"])
        announce_changed(entity, "unnamed")
