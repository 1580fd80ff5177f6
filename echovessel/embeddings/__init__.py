"""Sentence embeddings: texts to unit vectors, on this machine."""
