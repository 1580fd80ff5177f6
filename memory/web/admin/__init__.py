"""The desk's pages of what remains; importing them registers them."""

from memory.web.admin import entities, nodes, people, receipts, sessions, slow_cycle, threads

__all__ = ["entities", "nodes", "people", "receipts", "sessions", "slow_cycle", "threads"]
