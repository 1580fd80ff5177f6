"""The lowest layer of memory: writing nodes, vectors and tombstones, and the database's invariants."""
