"""The vectors of every layer of the bundled sentence model for a text: of its tokens, or the mean over them.

The lower layers separate a cry for help from an idiom better than the sentence vector for which the model was trained
(of cries by another writer, at 5 % false alarms: 52 % by the sentence vector, 75 % by all layers), so the forward pass
is done here in numpy. That needs no torch: no six seconds of loading, and the process may fork afterwards. The weights
are memory-mapped from the model's file, which all processes share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from tokenizers import Tokenizer

from echovessel.embeddings import bundled_model

LAYERS, HEADS, WIDTH = 6, 12, 384
DIMENSION = (LAYERS + 1) * WIDTH
# Tokens of a text that are read, and tokens that are passed together: longer rows exceed the cache.
MAX_TOKENS = 64
ROW_TOKENS = 192


@dataclass(frozen=True)
class Nearness:
    """Scores texts by their nearness to `centres`, texts of a training set, in a projection of the last layers."""

    mean: np.ndarray
    projection: np.ndarray
    centres: np.ndarray
    centre_weights: np.ndarray  # one, or several columns
    gamma: float
    bias: np.ndarray | float = 0.0

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        points = (vectors[:, -len(self.mean) :] - self.mean) @ self.projection
        squares = (points * points).sum(1)[:, None] + self._centre_squares - 2 * points @ self.centres.T
        nearness: np.ndarray = np.exp(-self.gamma * squares) @ self.centre_weights + self.bias
        return nearness

    @cached_property
    def _centre_squares(self) -> np.ndarray:
        squares: np.ndarray = (self.centres * self.centres).sum(1)
        return squares


def encode(texts: Sequence[str]) -> np.ndarray:
    """(n, DIMENSION) float32: for every layer a vector of unit length."""
    vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for numbers, states, starts in _rows(texts):
        vectors[numbers] = np.concatenate([_means(layer, starts) for layer in states], axis=1)
    return vectors


def states_of_tokens(texts: Sequence[str], layers: Sequence[int]) -> list[np.ndarray]:
    """For every text the vectors of its tokens by the `chosen` layers: (tokens, layers * WIDTH) float32."""
    states_by_place: dict[int, np.ndarray] = {}
    for numbers, states, starts in _rows(texts):
        stacked = np.concatenate([states[layer] for layer in layers], axis=1)
        states_by_place |= {
            number: stacked[start:end] for number, (start, end) in zip(numbers, pairwise(starts), strict=True)
        }
    return [states_by_place[number] for number in range(len(texts))]


def _rows(texts: Sequence[str]) -> Iterator[tuple[list[int], list[np.ndarray], np.ndarray]]:
    """Yield the texts that are passed together: their indexes, the states of their tokens by layer, and the index at
    which the tokens of each text begin."""
    tokens = [encoding.ids for encoding in _tokenizer().encode_batch(list(texts))]
    row: list[int] = []
    for number, ids in enumerate(tokens):
        if row and sum(len(tokens[place]) for place in row) + len(ids) > ROW_TOKENS:
            yield row, *_pass([tokens[place] for place in row])
            row = []
        row.append(number)
    if row:
        yield row, *_pass([tokens[place] for place in row])


def _pass(token_rows: Sequence[Sequence[int]]) -> tuple[list[np.ndarray], np.ndarray]:
    """Pass several token sequences in one row; attention stays within each sequence. Returns states and starts."""
    weights = _weights()
    starts = np.cumsum([0, *map(len, token_rows)])
    ids = np.concatenate([np.asarray(row) for row in token_rows])
    places = np.concatenate([np.arange(len(row)) for row in token_rows])
    states = (
        weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][places]
    )
    states = _normal(states + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    passed = [states]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            _linear(states, f"{name}.attention.self.{part}").reshape(-1, HEADS, WIDTH // HEADS).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        attended = []
        for start, end in pairwise(starts):
            scores = query[:, start:end] @ key[:, start:end].transpose(0, 2, 1) * np.float32((WIDTH // HEADS) ** -0.5)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            attended.append((scores @ value[:, start:end]).transpose(1, 0, 2).reshape(-1, WIDTH))
        attended_states = np.concatenate(attended)
        states = _normal(
            states + _linear(attended_states, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = _linear(states, f"{name}.intermediate.dense")
        inner /= 1 + np.exp(-1.702 * inner)  # GELU, approximated by a sigmoid, in training as here
        states = _normal(states + _linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        passed.append(states)
    return passed, starts


def _linear(states: np.ndarray, name: str) -> np.ndarray:
    product: np.ndarray = states @ _weights()[f"{name}.weight"].T
    product += _weights()[f"{name}.bias"]
    return product


def _normal(states: np.ndarray, name: str) -> np.ndarray:
    states = states - states.mean(-1, keepdims=True)
    states /= np.sqrt((states * states).mean(-1, keepdims=True) + 1e-12)
    states *= _weights()[f"{name}.weight"]
    states += _weights()[f"{name}.bias"]
    return states


def _means(states: np.ndarray, starts: np.ndarray) -> np.ndarray:
    sums: np.ndarray = np.add.reduceat(states, starts[:-1], axis=0)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


@lru_cache(maxsize=1)
def _weights() -> dict[str, np.ndarray]:
    return bundled_model.map_tensors()


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    return bundled_model.load_tokenizer(MAX_TOKENS)
