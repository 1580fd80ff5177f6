"""Evidence checks: what a conclusion rests on. Pure.

Models sometimes cite the wrong memory. A memory whose words the conclusion repeats counts as its ground as well, so
that forgetting this memory finds the conclusion.
"""

from collections.abc import Iterable, Sequence

from memory.curation.restatements import Statement
from memory.models import ConceptNode


def grounds(
    cited_nodes: Sequence[ConceptNode], text: str, shown_nodes: Iterable[ConceptNode], names: frozenset[str]
) -> list[ConceptNode]:
    """The cited nodes, then those of `shown_nodes` that `text` repeats; none if nothing was cited. `names` are words
    without meaning here, as in `memory.curation.restatements.names_of`."""
    if not cited_nodes:
        return []
    cited_keys = {node.pk for node in cited_nodes}
    others = (node for node in shown_nodes if node.pk not in cited_keys)
    return [*cited_nodes, *(node for node in others if Statement([node.description], names).is_repeated_by(text))]
