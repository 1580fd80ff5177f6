"""From words to memory: what is made of a session once it rests (design/consolidation.md)."""
