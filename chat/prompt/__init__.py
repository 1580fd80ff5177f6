"""The prompt of a turn: its sections, their token budget, and how they are assembled."""
