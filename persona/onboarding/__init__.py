"""How a persona begins: the forms, the core blocks that people write, and drafts that await a decision."""
