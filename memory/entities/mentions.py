"""Whom a memory names: kept in step with its words."""

from echovessel.language.person_names import is_name, normalize_name, occurs
from memory.entities.resolve import MAX_NAME, learn_aliases, link
from memory.entities.stream_events import announce_changed
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.recall.retrievers import entities_named

_QUOTATION_MARKS = str.maketrans("", "", "“”")


def note_named(node: ConceptNode, text: str) -> None:
    """Note whom the words name, of those that the persona knows; a name that two bear tells nothing."""
    aliases = Alias.objects.filter(entity__in=entities_named(node.persona, [text])).select_related("entity")
    bearers: dict[str, set[Entity]] = {}
    for alias in aliases:
        if occurs(alias.text, text):
            bearers.setdefault(alias.normalized, set()).add(alias.entity)
    for named in bearers.values():
        if len(named) == 1:
            link(named.pop(), [node])


def follow_words(node: ConceptNode, before: str) -> None:
    """After another description than `before`: note whom it names now, and forget whom it named. Who has another name
    in the same place has been called wrongly. Call in its transaction."""
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
                # Who was only called wrongly gets the right name; the wrong one leads nowhere any longer.
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
    """The name that stands in the place of `name`, where the texts differ in nothing else but quotation marks.

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
