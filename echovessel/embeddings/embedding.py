"""Sentence embeddings: texts to unit vectors, by the model in use.

The model is loaded when it is first needed, or earlier in the background by `warm()`: the bundled one in 0.5 s with 90
MB (`bundled_model.py`), any other local one through sentence-transformers and torch in 6 to 11 s with 480 MB
(`local_model.py`). One thread does all of this: with two on a busy two-core machine torch was ten times slower
(design/recall.md). Requests to a server (`server_model.py`) wait in a few threads of their own. Recent vectors are
cached: of the messages that a turn embeds, the turn before embedded all but one.

A forked process keeps nothing of the parent's: a torch that was used before a fork hangs in the child.
"""

import hashlib
import logging
import os
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, cast

import numpy as np
from django.conf import settings

from echovessel.embeddings import bundled_model, local_model, model_names, translation
from echovessel.embeddings.bundled_model import Encode
from echovessel.embeddings.cosine_scale import IDENTITY, CosineScale, read_scale
from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable
from echovessel.embeddings.model_names import BUNDLED, PLAIN, ModelSpec, full_name
from echovessel.embeddings.server_model import ServerModel
from echovessel.process.word_caches import RecentValues

__all__ = ["BUNDLED", "PLAIN", "EmbeddingUnavailable", "ServerUnavailable", "full_name"]

logger = logging.getLogger(__name__)

# The dimension of the bundled model's vectors.
DIMENSION = bundled_model.DIMENSION
# The number of cached vectors, by the digest of their text: 1.5 KB each, more for a larger model.
MAX_CACHED = 2_048
# Requests that are embedded together. With more, the first would wait for the last, and each would be hardly faster.
MAX_BATCH = 4
# Parallel requests to a server.
SERVER_THREADS = 4


@dataclass(frozen=True)
class ModelInUse:
    """The model of the stored vectors, as the database records it: the size of the vectors, a server's vector of PROBE,
    and the measured scale of its cosines in JSON."""

    name: str = ""
    dimension: int = 0
    probe: bytes = b""
    cosines: str = ""


def name() -> str:
    """The name of the model in use, stored with every vector it makes: the last one passed to `use`, else the
    configured one."""
    return _in_use.name or configured()


def use(model: str, dimension: int = 0, probe: bytes = b"", cosines: str = "") -> None:
    """Use this model from now on; an empty name means the configured one. Callers read the model from the database."""
    global _in_use
    _in_use = ModelInUse(model, dimension, probe, cosines)


def configured() -> str:
    """The name of the model with which an installation without vectors begins."""
    return full_name(settings.EMBEDDING_MODEL or PLAIN)


def dimension() -> int:
    """The dimension of the vectors of the model in use: of the stored ones, else of the model, which may have to be
    loaded for it. Raises EmbeddingUnavailable."""
    if not _in_use.dimension and name() not in (PLAIN, BUNDLED):
        return int(embed(["Hello"]).shape[1])
    return _in_use.dimension or DIMENSION


def is_served(model: str) -> bool:
    """Whether a server makes the vectors of `model`."""
    return model_names.parse(model).source == "server"


def document_prefix() -> str:
    """The text that the model in use expects before a text that is searched."""
    return model_names.parse(name()).document_prefix


def scale() -> CosineScale:
    """The scale that converts cosines of the model in use to the bundled model's."""
    return IDENTITY if name() in (PLAIN, BUNDLED) else read_scale(_in_use.cosines)


def alike(model: str, text: str) -> bool:
    """Whether `model` and the model in use make the same vector of `text`. Raises EmbeddingUnavailable."""
    return model == name() or ({model, name()} == {PLAIN, BUNDLED} and _in_english(text) == text)


def embed(
    texts: Sequence[str], model: str | None = None, *, as_query: bool = False, is_hurried: bool | None = None
) -> np.ndarray:
    """Vectors of `texts`: (n, dimension) float32, each of unit length, by `model` or else by the model in use.
    `as_query`: the texts are search queries, which some models mark with a prefix of their own. `is_hurried`: somebody
    waits, as with queries, so a server has little time. Raises EmbeddingUnavailable."""
    model = model or name()
    prompts = _with_prefix(texts, model, as_query)
    cached_vectors = {
        text: vector for text in dict.fromkeys(prompts) if (vector := _recent_vectors.recall(model, text)) is not None
    }
    if uncached_texts := [text for text in dict.fromkeys(prompts) if text not in cached_vectors]:
        cached_vectors |= zip(
            uncached_texts, _submit(uncached_texts, model, as_query, is_hurried).result(), strict=True
        )
    return (
        np.stack([cached_vectors[text] for text in prompts])
        if prompts
        else np.zeros((0, _in_use.dimension or DIMENSION))
    )


def soon(text: str) -> None:
    """Start to embed `text`, which a turn needs in a moment. Waits neither for the vector nor for a model to load."""
    [prompt] = _with_prefix([text], name(), True)
    if _is_loaded() and _recent_vectors.recall(name(), prompt) is None:
        _submit([prompt], name(), as_query=True)


def warm(text: str = "Hello") -> "Future[Any]":
    """Start to load in the background what a text like this one needs; done immediately if the model is loaded."""
    if _is_loaded():
        soon(text)
        warmth: Future[Any] = Future()
        warmth.set_result(None)
        return warmth
    return _executor_for(name()).submit(_load_quietly, text)


def last_probe(model: str) -> bytes:
    """The last PROBE vector from the server of `model`, to be stored with the first vectors; empty if there is none."""
    probe = _server(model).probe if is_served(model) else None
    return b"" if probe is None else probe.astype("<f4").tobytes()


def fault(model: str | None = None) -> str:
    """Why `model`, or else the model in use, cannot be used, as far as visible without loading it; "" if it can."""
    if (model or name()) not in (PLAIN, BUNDLED):
        return model_names.parse(model or name()).fault()
    return bundled_model.fault() or (translation.fault() if (model or name()) == BUNDLED else "")


@dataclass(frozen=True)
class _Request:
    """Texts that a thread waits for, the model for them, and the future for the answer."""

    model: str
    texts: Sequence[str]
    answer: "Future[np.ndarray]"


def _with_prefix(texts: Sequence[str], model: str, as_query: bool) -> Sequence[str]:
    spec = model_names.parse(model)
    prefix = spec.query_prefix if as_query else spec.document_prefix
    return [prefix + text for text in texts] if prefix else texts


def _submit(texts: Sequence[str], model: str, as_query: bool, is_hurried: bool | None = None) -> "Future[np.ndarray]":
    if is_served(model):
        hurried = as_query if is_hurried is None else is_hurried

        def ask_server() -> np.ndarray:
            rows = _server(model).embed(texts, is_stored=not as_query, is_hurried=hurried)
            _recent_vectors.keep(model, texts, rows)
            return rows

        return _executor_for(model).submit(ask_server)
    request = _Request(model, texts, Future())
    _waiting_requests.append(request)
    _executor_for(model).submit(_embed_waiting)
    return request.answer


def _is_loaded() -> bool:
    """Whether texts can be embedded without loading anything. (A server's model is loaded elsewhere.)"""
    return bool(_model.cache_info().currsize) or is_served(name())


def _embed_waiting() -> None:
    """Embed the oldest waiting requests; does nothing if an earlier call took this request along."""
    requests = [_waiting_requests.popleft() for _ in range(min(len(_waiting_requests), MAX_BATCH))]
    for model in dict.fromkeys(request.model for request in requests):
        requests_of_model = [request for request in requests if request.model == model]
        try:
            vectors = _vectors(dict.fromkeys(text for request in requests_of_model for text in request.texts), model)
        except Exception as error:  # noqa: BLE001  (passed to the callers)
            for request in requests_of_model:
                request.answer.set_exception(error)
        else:
            for request in requests_of_model:
                request.answer.set_result(np.stack([vectors[text] for text in request.texts]))


def _vectors(texts: Iterable[str], model: str) -> dict[str, np.ndarray]:
    vectors = {text: _recent_vectors.recall(model, text) for text in texts}
    if new_texts := [text for text, vector in vectors.items() if vector is None]:
        new_vectors = _encode(new_texts, model)
        if model == _in_use.name and new_vectors.shape[1] != (_in_use.dimension or new_vectors.shape[1]):
            raise EmbeddingUnavailable(
                f"{model} gives {new_vectors.shape[1]} dimensions, and the stored vectors have {_in_use.dimension}: it "
                "is another model now."
            )
        _recent_vectors.keep(model, new_texts, new_vectors)
        vectors |= zip(new_texts, new_vectors, strict=True)
    return cast(dict[str, np.ndarray], vectors)


class _RecentVectors(RecentValues[np.ndarray]):
    """Cache of the vectors of the most recent texts. The key is a digest of the text."""

    def __init__(self) -> None:
        super().__init__(MAX_CACHED)

    def recall(self, model: str, text: str) -> np.ndarray | None:
        return self.get(_digest(model, text))

    def keep(self, model: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        newest = zip(texts[-MAX_CACHED:], vectors[-MAX_CACHED:], strict=True)
        self.update({_digest(model, text): vector.copy() for text, vector in newest})


def _digest(model: str, text: str) -> bytes:
    return hashlib.blake2b(f"{model}\0{text}".encode(errors="surrogatepass"), digest_size=16).digest()


_in_use = ModelInUse()
_waiting_requests: deque[_Request] = deque()
_recent_vectors = _RecentVectors()


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="embedding")


@cache
def _server_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(SERVER_THREADS, thread_name_prefix="embedding-server")


def _executor_for(model: str) -> ThreadPoolExecutor:
    return _server_executor() if is_served(model) else _executor()


def _server(model: str) -> ServerModel:
    return _server_of(model, replace(_in_use, cosines="") if model == _in_use.name else ModelInUse())


@lru_cache(maxsize=4)
def _server_of(model: str, in_use: ModelInUse) -> ServerModel:
    probe = np.frombuffer(in_use.probe, dtype="<f4") if in_use.probe else None
    return ServerModel(model_names.parse(model), in_use.dimension, probe)


def _reset_after_fork() -> None:
    global _recent_vectors
    for cached in (_executor, _server_executor, _server_of, _model):
        cached.cache_clear()
    _waiting_requests.clear()
    _recent_vectors = _RecentVectors()


os.register_at_fork(after_in_child=_reset_after_fork)


def _encode(texts: list[str], model: str) -> np.ndarray:
    if model == BUNDLED:
        texts = [_in_english(text) for text in texts]
    vectors = _model(PLAIN if model == BUNDLED else model)(texts)
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _in_english(text: str) -> str:
    try:
        return translation.in_english(text)
    except translation.DictionaryUnavailable as error:
        raise EmbeddingUnavailable(str(error)) from error


def _load_quietly(text: str) -> None:
    try:
        embed([text], as_query=True) if is_served(name()) else _vectors([text], name())
    except EmbeddingUnavailable as error:
        logger.error("%s", error)


@lru_cache(maxsize=1)
def _model(model_name: str) -> Encode:
    """The encoder of a local model. The previous one is released."""
    if model_name != PLAIN:
        return local_model.load_encoder(model_names.parse(model_name))
    try:
        return bundled_model.load_encoder()
    except ImportError as error:
        # onnxruntime does not exist for every system; torch makes the same vectors, slower.
        logger.warning("onnxruntime cannot be loaded (%s): torch embeds instead", error)
        return local_model.load_encoder(ModelSpec("local", str(bundled_model.FOLDER)))
