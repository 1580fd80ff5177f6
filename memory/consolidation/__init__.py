"""Consolidation: memories are made of a session once it rests (design/consolidation.md)."""
