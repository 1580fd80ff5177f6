"""Grounding: what a conclusion rests on. Pure.

Models cite the wrong one of what they were given, now and then. Whatever the words of a conclusion repeat of what was
given is a ground of it as well, so that forgetting that one finds it.
"""

from collections.abc import Iterable, Sequence

from memory.curation.restatements import Statement
from memory.models import ConceptNode


def grounds(
    cited_nodes: Sequence[ConceptNode], text: str, shown_nodes: Iterable[ConceptNode], names: frozenset[str]
) -> list[ConceptNode]:
    """The cited ones, then those of the given that `text` repeats; none where nothing was cited. `names` are words that
    tell nothing, as `memory.curation.restatements.names_of` has them."""
    if not cited_nodes:
        return []
    cited_keys = {node.pk for node in cited_nodes}
    others = (node for node in shown_nodes if node.pk not in cited_keys)
    return [*cited_nodes, *(node for node in others if Statement([node.description], names).is_repeated_by(text))]
