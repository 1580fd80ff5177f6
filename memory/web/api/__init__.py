"""API of what remains (L3–L5): read it, add to it, correct it, hide it, forget it; and what was made between talks."""

# In this order: of two addresses that fit, the one that was named first is meant.
from memory.web.api import (  # noqa: F401
    account,
    curation,
    entities,
    exports,
    forgetting,
    imports,
    memories,
    slow_cycle,
    threads,
)

__all__ = ["account"]
