"""API of what remains (L3–L5): read it, correct it, hide it, forget it."""

# In this order: of two addresses that fit, the one that was named first is meant.
from memory.api import remaining, forgetting, entities, curating  # noqa: F401, I001
from memory.api.routing import router

__all__ = ["router"]
