"""Mentions: which entities a memory names, updated when its description changes."""

from echovessel.language.person_names import is_name, normalize_name, occurs
from memory.entities.resolve import MAX_NAME, learn_aliases, link
from memory.entities.stream_events import announce_changed
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.recall.retrievers import entities_named

_QUOTATION_MARKS = str.maketrans("", "", "“”")


def note_named(node: ConceptNode, text: str) -> None:
    """Link the node to the known entities that the text names; a name with two bearers is ambiguous and links
    neither."""
    aliases = Alias.objects.filter(entity__in=entities_named(node.persona, [text])).select_related("entity")
    bearers: dict[str, set[Entity]] = {}
    for alias in aliases:
        if occurs(alias.text, text):
            bearers.setdefault(alias.normalized, set()).add(alias.entity)
    for bearer_entities in bearers.values():
        if len(bearer_entities) == 1:
            link(bearer_entities.pop(), [node])


def follow_words(node: ConceptNode, before: str) -> None:
    """Update the mentions of a node whose description was `before`: link the entities that it names now, unlink the
    others. If a name was corrected in its place, the entity had been called wrongly. Call in the same transaction."""
    note_named(node, node.description)
    mentions = Mention.objects.filter(node=node).select_related("entity").prefetch_related("entity__aliases")
    gone = []
    for mention in mentions:
        aliases = list(mention.entity.aliases.all())
        if any(occurs(alias.text, node.description) for alias in aliases):
            continue
        right = next(filter(None, (_name_instead(alias.text, before, node.description) for alias in aliases)), "")
        bearers = Alias.objects.filter(persona=node.persona_id, normalized=normalize_name(right))
        if right and not bearers.exclude(entity__status=Entity.Status.MERGED).exists():
            if not mention.entity.mentions.exclude(pk=mention.pk).exists():
                # Mentioned nowhere else: the entity was only called wrongly. Rename it, and remove the wrong names.
                learn_aliases(mention.entity, [right])
                mention.entity.aliases.exclude(normalized=normalize_name(right)).delete()
                mention.entity.canonical_name = right
                mention.entity.save(update_fields=["canonical_name"])
                announce_changed(mention.entity, "renamed")
                continue
            person = Entity.objects.create(persona=node.persona, canonical_name=right, kind=mention.entity.kind)
            learn_aliases(person, [right])
            link(person, [node])
        gone.append(mention.pk)
    Mention.objects.filter(pk__in=gone).delete()


def _name_instead(name: str, before: str, after: str) -> str:
    """The name that replaced `name`, if the texts differ only in it and in quotation marks; else "".

    >>> _name_instead("Martin", "Ana: “Martin plays the cello.”", "Ana: Oliver plays the cello.")
    'Oliver'
    >>> _name_instead("Martin", "Martin plays the cello.", "My brother bakes.")
    ''
    """
    before, after = before.translate(_QUOTATION_MARKS), after.translate(_QUOTATION_MARKS)
    at = before.find(name)
    rest = before[at + len(name) :]
    if at < 0 or not (after.startswith(before[:at]) and after.endswith(rest)):
        return ""
    instead = after[at : len(after) - len(rest)].strip()
    return instead if is_name(instead) and len(instead) <= MAX_NAME else ""
