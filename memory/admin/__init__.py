"""The desk's pages of what remains; importing them registers them."""

from memory.admin import entities, nodes, people, receipts, slow_cycle, talks

__all__ = ["entities", "nodes", "people", "receipts", "slow_cycle", "talks"]
