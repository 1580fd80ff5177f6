"""Embedding by a server that speaks OpenAI's `/v1/embeddings`: Ollama, vLLM, llama.cpp, LM Studio, OpenAI.

    texts -> batches -> one request each, with retries -> checked rows -> shortened, unit length

Every batch to be stored includes one text whose vector is known (PROBE): if the server has another model under the same
name, this is noticed before its vectors are mixed with stored ones. After a failure no queries are sent for a while
(`embeddings.pause_seconds`): recall works by words, and no turn waits for a server that is down.
"""

import base64
import binascii
import itertools
import json
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.conf import settings

from echovessel.embeddings import knobs, model_request
from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable, TextsRefused
from echovessel.embeddings.model_names import MAX_DIMENSION, MIN_DIMENSION, ModelSpec

logger = logging.getLogger(__name__)

PROBE = "The lamp in the window has been burning since Tuesday."
# The same model in another precision gives a cosine of 0.98 or more, another one of the same size about 0.
MIN_PROBE_COSINE = 0.9
MAX_ANSWER_BYTES = 256 * 2**20
# A text that the server refuses as too long is halved, down to this many characters.
MIN_CHARACTERS = 200
MAX_PAUSE_SECONDS = 10.0


@dataclass
class ServerModel:
    """One model of the server in the settings. `dimension` and `probe` are those of the stored vectors, once known."""

    spec: ModelSpec
    dimension: int = 0
    probe: np.ndarray | None = None
    _is_verified: bool = False
    _paused_until: float = 0.0
    _fault: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def embed(self, texts: Sequence[str], *, is_stored: bool, is_hurried: bool) -> np.ndarray:
        """Vectors of `texts`: (n, d) float32 of unit length. `is_stored`: they may be stored, so PROBE is embedded with
        them. `is_hurried`: somebody waits, so there is one attempt within `embeddings.query_seconds`. Raises
        EmbeddingUnavailable, and ServerUnavailable if a retry may help."""
        if problem := self.spec.fault():
            raise EmbeddingUnavailable(problem)
        if is_hurried and time.monotonic() < self._paused_until:
            raise ServerUnavailable(self._fault)
        try:
            deadline = time.monotonic() + knobs.query_seconds() if is_hurried else None
            parts = []
            for first in range(0, len(texts), knobs.batch_texts()):
                batch = list(texts[first : first + knobs.batch_texts()])
                is_probed = is_stored or not self._is_verified
                rows = self._check_rows(self._request_vectors([*batch, PROBE] if is_probed else batch, deadline))
                if is_probed:
                    self._compare_probe(rows[-1])
                parts.append(rows[: len(batch)])
        except EmbeddingUnavailable as error:
            self._paused_until = time.monotonic() + knobs.pause_seconds()
            self._fault, self._is_verified = str(error), False
            raise
        self._paused_until = 0.0
        return np.concatenate(parts)

    def _request_vectors(self, texts: list[str], deadline: float | None) -> np.ndarray:
        """The server's vectors; a text that is too long for it is cut."""
        try:
            return self._request_with_retries(texts, deadline)
        except TextsRefused:
            if len(texts) > 1:
                return np.concatenate([self._request_vectors([text], deadline) for text in texts])
            if len(texts[0]) <= MIN_CHARACTERS:
                raise
            return self._request_vectors([texts[0][: len(texts[0]) // 2]], deadline)

    def _request_with_retries(self, texts: list[str], deadline: float | None) -> np.ndarray:
        """The server's vectors unchanged, (n, d), with retries. Raises ServerUnavailable, TextsRefused and
        EmbeddingUnavailable."""
        model, url = self.spec.model, f"{settings.EMBEDDING_BASE_URL.rstrip('/')}/embeddings"
        body = {"model": model, "input": texts, "encoding_format": "float"}
        for attempt in itertools.count(1):
            until = deadline or time.monotonic() + knobs.batch_seconds()
            try:
                content = model_request.post(url, body, settings.EMBEDDING_API_KEY, until, model, MAX_ANSWER_BYTES)
                return _rows(content, len(texts), model)
            except ServerUnavailable as error:
                if deadline or attempt >= knobs.attempts():
                    raise
                time.sleep(min(MAX_PAUSE_SECONDS, error.retry_after or 0.5 * 2**attempt))
        raise AssertionError("unreachable")

    def _check_rows(self, rows: np.ndarray) -> np.ndarray:
        """The rows in the form in which they are stored. Raises EmbeddingUnavailable if they are unusable."""
        model, dimensions = self.spec.model, self.spec.dimensions
        if not np.isfinite(rows).all():
            raise EmbeddingUnavailable(f"the server of {model} gives numbers that are none (NaN or infinite).")
        if dimensions > rows.shape[1]:
            raise EmbeddingUnavailable(f"{model} gives {rows.shape[1]} dimensions, too few for {dimensions}.")
        rows = as_unit_rows(rows[:, :dimensions] if dimensions else rows, model)
        if self.dimension and rows.shape[1] != self.dimension:
            raise EmbeddingUnavailable(
                f"the server gives {rows.shape[1]} dimensions for {model}, and the stored vectors have "
                f"{self.dimension}: it is another model now."
            )
        return rows

    def _compare_probe(self, row: np.ndarray) -> None:
        with self._lock:
            if self.probe is not None and float(self.probe @ row) < MIN_PROBE_COSINE:
                raise EmbeddingUnavailable(
                    f"the server has another model under the name {self.spec.model} than the one that made the stored "
                    f"vectors. Give it that model back, or make all vectors anew under another name with reembed."
                )
            self.probe = row if self.probe is None else self.probe
            self._is_verified = True


def as_unit_rows(rows: np.ndarray, model: str) -> np.ndarray:
    """The rows at unit length, padded with zeros to a multiple of 8, the sizes that can be searched. Raises
    EmbeddingUnavailable for zero vectors and unsupported sizes."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 1e-6).all()):
        raise EmbeddingUnavailable(f"{model} gives vectors of no length.")
    if not MIN_DIMENSION <= rows.shape[1] <= MAX_DIMENSION:
        raise EmbeddingUnavailable(
            f"{model} gives {rows.shape[1]} dimensions; {MIN_DIMENSION} to {MAX_DIMENSION:,} are supported."
        )
    padding = ((0, 0), (0, -rows.shape[1] % 8))
    return np.ascontiguousarray(np.pad(rows / lengths, padding) if padding[1][1] else rows / lengths, dtype=np.float32)


def _rows(content: bytes, count: int, model: str) -> np.ndarray:
    """The vectors of an answer in the order of the texts. Raises EmbeddingUnavailable."""
    try:
        answer: Any = json.loads(content)
        rows = sorted(answer["data"], key=lambda row: int(row.get("index", 0)))
        vectors = [_vector(row["embedding"]) for row in rows]
        indices = [row["index"] for row in rows if "index" in row]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        what = "a page" if content.lstrip()[:1] == b"<" else "something else"
        raise EmbeddingUnavailable(f"the server of {model} answers with {what} instead of vectors.") from error
    if len(vectors) != count or (indices and indices != list(range(count))):
        raise EmbeddingUnavailable(f"the server of {model} gives {len(vectors)} vectors for {count} texts.")
    if len({vector.shape for vector in vectors}) > 1 or vectors[0].ndim != 1 or not vectors[0].size:
        raise EmbeddingUnavailable(f"the server of {model} gives vectors of several sizes.")
    return np.stack(vectors)


def _vector(value: Any) -> np.ndarray:
    """One vector: numbers, or float32 in base64, which some servers send although not asked for."""
    if isinstance(value, str):
        try:
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float64)
        except binascii.Error as error:
            raise ValueError("no base64") from error
    return np.asarray([float(number) for number in value], dtype=np.float64)
