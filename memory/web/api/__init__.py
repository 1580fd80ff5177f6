"""API of memory (L3–L5): read, add, correct, hide and forget memories; and the results of the slow cycle."""

# The order matters: if a URL matches two routes, the one registered first is used.
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
