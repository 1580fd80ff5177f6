"""An embedding model for tests: every word has a direction of its own, and a text is the sum of its words.

Texts that share words are alike, those that share none are not; nothing is known of meaning. It needs no torch, no
model file and a few microseconds a text. Vectors go by the names of the real models, so that everything around them is
as in an installation. Tests that judge meaning itself are marked `real_embeddings`.

>>> cat, kitten, exam = encode(["my white cat", "a white cat sleeps", "the exam is on Monday"], "all-MiniLM-L6-v2")
>>> bool(cat @ kitten > 0.5 > abs(cat @ exam))
True
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language import tokenizer

# What sets apart two texts of the same words, and carries a text of none.
WHOLE_TEXT = 0.1
FUNCTION_WORD = 0.1


def install() -> None:
    """Take the place of the real models in this process."""
    embedding._encode = encode


def encode(texts: Sequence[str], model: str) -> np.ndarray:
    """(n, 384) float32, each of unit length. The bundled model goes by two names, any other one has its own words."""
    salt = "" if model in (embedding.PLAIN, embedding.BUNDLED) else model
    return np.stack([_vector(text, salt) for text in texts])


def _vector(text: str, salt: str) -> np.ndarray:
    row = WHOLE_TEXT * _direction(text, salt)
    for word in tokenizer.tokenize(text):
        row = row + (FUNCTION_WORD if tokenizer.is_function_word(word) else 1.0) * _direction(word, salt)
    return row / np.linalg.norm(row)


@lru_cache(maxsize=50_000)
def _direction(word: str, salt: str) -> np.ndarray:
    seed = hashlib.blake2b(f"{salt}\0{word}".encode(errors="surrogatepass"), digest_size=8).digest()
    row = np.random.default_rng(int.from_bytes(seed)).standard_normal(embedding.DIMENSION).astype(np.float32)
    return row / np.linalg.norm(row)
