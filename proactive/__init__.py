"""When to speak first."""
