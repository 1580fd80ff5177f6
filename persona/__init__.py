"""The authored identity of a persona (L1) and its mood (L6)."""
