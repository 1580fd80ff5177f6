"""API of what remains (L3–L5): read it, add to it, correct it, hide it, forget it; and what was made between talks."""

# In this order: of two addresses that fit, the one that was named first is meant.
from memory.api import remaining, forgetting, entities, curating, between_talks, imports, exporting, account  # noqa: F401, I001

__all__ = ["account"]
