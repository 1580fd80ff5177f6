"""The desk's pages of what remains; importing them registers them."""

from memory.admin import entities, nodes, talks

__all__ = ["entities", "nodes", "talks"]
