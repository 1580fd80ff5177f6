"""Sessions: how they close, and sessions off the record."""
