"""The prompt of a turn: its sections, their budget, and how they are put together."""
