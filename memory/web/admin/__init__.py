"""Admin pages of memory; importing them registers them."""

from memory.web.admin import entities, nodes, people, receipts, sessions, slow_cycle, threads

__all__ = ["entities", "nodes", "people", "receipts", "sessions", "slow_cycle", "threads"]
