"""Stands in for any number of embedding models: each gives every text a direction of its own, always the same."""

import hashlib
from collections.abc import Sequence

import numpy as np

from echovessel.embeddings import embedding

OLD, NEW = "the old model", "the new model"


def vector(text: str, model: str) -> np.ndarray:
    """(384,) float32, unit length."""
    seed = hashlib.sha256(f"{model}\0{text}".encode()).digest()[:8]
    row = np.random.default_rng(int.from_bytes(seed)).standard_normal(embedding.DIMENSION).astype(np.float32)
    return row / np.linalg.norm(row)


def encode(texts: Sequence[str], model: str) -> np.ndarray:
    """Takes the place of `embedding._encode`."""
    return np.stack([vector(text, model) for text in texts])
