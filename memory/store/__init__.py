"""The lowest layer of memory: writing nodes, vectors, tombstones, and what must hold in the database."""
