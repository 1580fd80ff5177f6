"""Long-term memory: events and facts (L3), thoughts, intentions and expectations (L4), entities and their names
(L5)."""
