"""Grounding: what a conclusion rests on. Pure.

Models cite the wrong one of what they were given, now and then. Whatever the words of a conclusion repeat of what was
given is a ground of it as well, so that forgetting that one finds it.
"""

from collections.abc import Iterable, Sequence

from memory.curation.restatements import Statement
from memory.models import ConceptNode


def grounds(
    cited: Sequence[ConceptNode], text: str, given: Iterable[ConceptNode], names: frozenset[str]
) -> list[ConceptNode]:
    """The cited ones, then those of the given that `text` repeats; none where nothing was cited. `names` are words that
    tell nothing, as `memory.curation.restatements.names_of` has them."""
    if not cited:
        return []
    known = {node.pk for node in cited}
    others = (node for node in given if node.pk not in known)
    return [*cited, *(node for node in others if Statement([node.description], names).is_repeated_by(text))]
