"""Whom a memory names: kept in step with its words."""

from echovessel.language.person_names import occurs
from memory.entities.resolve import link
from memory.models import Alias, ConceptNode, Entity, Mention
from memory.recall.retrievers import entities_named


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


def follow_words(node: ConceptNode) -> None:
    """After another description: note whom it names now, and forget whom it named. Call in its transaction."""
    note_named(node, node.description)
    mentions = Mention.objects.filter(node=node).select_related("entity").prefetch_related("entity__aliases")
    gone = [
        mention.pk
        for mention in mentions
        if not any(occurs(alias.text, node.description) for alias in mention.entity.aliases.all())
    ]
    Mention.objects.filter(pk__in=gone).delete()
