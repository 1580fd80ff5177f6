"""Erasure: what is done after a deletion was committed, so that no byte of it is left in the file, nor in memory."""
