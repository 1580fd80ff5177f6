"""The owner's memory pages: see, correct, hide, forget. Each is for its owner alone, and no browser stores it."""
