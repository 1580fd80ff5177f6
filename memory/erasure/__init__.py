"""Erasure: after a deletion was committed, remove its bytes from the file and from memory."""
