"""What was written of a memory before it was put right is not left to say the contrary: what is said of those whom it
mentions, and the summary of its talk. Both can be written anew; what a person wrote stays."""

from chat.models import Session
from memory.models import ConceptNode, Entity
from memory.store.corrections import ReplacedText, repeats


def erase_derived_text(node: ConceptNode, replaced: ReplacedText) -> None:
    """Erase it. Call in the transaction in which the node is put right, before it mentions anybody else."""
    erase_entity_descriptions(node)
    if node.session and repeats(node.session.summary, replaced):
        Session.objects.filter(pk=node.session.pk).update(summary="")


def erase_entity_descriptions(node: ConceptNode) -> None:
    """Erase what was written of those whom it mentions, so that they are described anew."""
    mentioned = Entity.objects.filter(mentions__node=node).exclude(described_by=Entity.DescribedBy.PERSON)
    mentioned.exclude(description="").update(description="", described_by="", described_through=0)
