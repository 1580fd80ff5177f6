"""What remains: events (L3), thoughts, intentions and expectations (L4), entities and their names (L5)."""
