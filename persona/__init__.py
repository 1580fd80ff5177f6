"""Who speaks: the authored identity (L1) and the mood (L6)."""
