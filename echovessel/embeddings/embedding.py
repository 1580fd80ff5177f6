"""Sentence embeddings: texts to unit vectors, with one model, on one thread.

The model loads when it is first needed, or earlier in the background by `warm()`: the bundled one in 0.5 s with 90 MB
(`bundled_model.py`), any other one through sentence-transformers and torch in 6 to 11 s with 480 MB. One thread does
all the work: with two on a busy two-core machine torch was ten times slower (design/recall.md). What was embedded
lately is not embedded again: of the messages that a turn asks for all but one were asked for by the turn before.

A process that forks keeps nothing of the parent's: a torch that was used before a fork hangs in the child.
"""

import hashlib
import logging
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from django.conf import settings

from echovessel.embeddings import bundled_model, translation
from echovessel.embeddings.bundled_model import Encode

logger = logging.getLogger(__name__)

DIMENSION = bundled_model.DIMENSION
PLAIN = bundled_model.NAME
# The same model, given Chinese as a row of English words: it has read little but English.
BUNDLED = f"{PLAIN}+cc-cedict"
# Vectors of texts that were embedded lately, by their digest: 1.5 KB each.
REMEMBERED = 2_048
# Of many who wait the first ones are not held up for the last: more together takes hardly less time for each.
TOGETHER = 4


class EmbeddingUnavailable(Exception):
    """The model cannot be loaded; the message says what is missing and how to mend it."""


def name() -> str:
    """The name of the model in use, stored with every vector it makes: as it was told last, else as configured."""
    return _in_use or configured()


def use(model: str) -> None:
    """From now on use this model; an empty name means the configured one. Which it is says the database."""
    global _in_use
    _in_use = model


def configured() -> str:
    """The name of the model that an installation without any vector begins with."""
    return full_name(settings.EMBEDDING_MODEL or PLAIN)


def full_name(model: str) -> str:
    """The name under which a model is found wherever a process was started: of a folder its whole path. The bundled
    model goes by what it makes of Chinese as well; by its plain name it made other vectors once."""
    folder: Path = settings.BASE_DIR / model
    if model in (PLAIN, BUNDLED):
        return BUNDLED
    return str(folder.resolve()) if folder.is_dir() else model


def alike(model: str, text: str) -> bool:
    """Whether `model` makes the same vector of `text` as the one in use. Raises EmbeddingUnavailable."""
    return model == name() or ({model, name()} == {PLAIN, BUNDLED} and _in_english(text) == text)


def embed(texts: Sequence[str], model: str | None = None) -> np.ndarray:
    """Vectors of `texts`: (n, 384) float32, each of unit length, by `model` or else by the model in use. Raises
    EmbeddingUnavailable."""
    model = model or name()
    known = {text: vector for text in dict.fromkeys(texts) if (vector := _lately.recall(model, text)) is not None}
    if wanted := [text for text in dict.fromkeys(texts) if text not in known]:
        known |= zip(wanted, _wish_for(wanted, model).result(), strict=True)
    return np.stack([known[text] for text in texts]) if texts else np.zeros((0, DIMENSION), dtype=np.float32)


def soon(text: str) -> None:
    """Begin to embed `text`, which is wanted in a moment; does not wait, neither for that nor for a model to load."""
    if _is_loaded() and _lately.recall(name(), text) is None:
        _wish_for([text], name())


def warm(text: str = "Hello") -> "Future[Any]":
    """Start loading, in the background, what a text like this one needs; done at once where the model is loaded."""
    if _is_loaded():
        soon(text)
        done: Future[Any] = Future()
        done.set_result(None)
        return done
    return _executor().submit(_load_quietly, text)


def clear_cache() -> None:
    """Keep no vector of what was embedded lately: it may have been forgotten since."""
    _lately.clear()


def fault(model: str | None = None) -> str:
    """Why `model`, or else the one in use, cannot be used, as far as can be told without loading it; else empty."""
    if (model or name()) not in (PLAIN, BUNDLED):
        return ""
    return bundled_model.fault() or (translation.fault() if (model or name()) == BUNDLED else "")


@dataclass(frozen=True)
class _Request:
    """Texts that a thread waits for, and by which model."""

    model: str
    texts: Sequence[str]
    answer: "Future[np.ndarray]"


def _wish_for(texts: Sequence[str], model: str) -> "Future[np.ndarray]":
    wish = _Request(model, texts, Future())
    _wishes.append(wish)
    _executor().submit(_grant_some)
    return wish.answer


def _is_loaded() -> bool:
    return bool(_model.cache_info().currsize)


def _grant_some() -> None:
    """Embed what is waited for, the oldest first; nothing, where that was done together with what came before."""
    wishes = [_wishes.popleft() for _ in range(min(len(_wishes), TOGETHER))]
    for model in dict.fromkeys(wish.model for wish in wishes):
        _grant(model, [wish for wish in wishes if wish.model == model])


def _grant(model: str, wishes: Sequence[_Request]) -> None:
    try:
        known = _vectors(dict.fromkeys(text for wish in wishes for text in wish.texts), model)
    except Exception as error:  # noqa: BLE001  (whoever waits is told)
        for wish in wishes:
            wish.answer.set_exception(error)
    else:
        for wish in wishes:
            wish.answer.set_result(np.stack([known[text] for text in wish.texts]))


def _vectors(texts: Iterable[str], model: str) -> dict[str, np.ndarray]:
    known = {text: _lately.recall(model, text) for text in texts}
    if unknown := [text for text, vector in known.items() if vector is None]:
        made = _encode(unknown, model)
        _lately.keep(model, unknown, made)
        known |= zip(unknown, made, strict=True)
    return cast(dict[str, np.ndarray], known)


class _RecentVectors:
    """The vectors of the texts that were asked for last; of a text only its digest is kept."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, model: str, text: str) -> np.ndarray | None:
        key = _digest(model, text)
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def keep(self, model: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        with self._lock:
            for text, vector in zip(texts[-REMEMBERED:], vectors[-REMEMBERED:], strict=True):
                self._vectors[_digest(model, text)] = vector.copy()
            while len(self._vectors) > REMEMBERED:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()


def _digest(model: str, text: str) -> bytes:
    return hashlib.blake2b(f"{model}\0{text}".encode(errors="surrogatepass"), digest_size=16).digest()


_in_use = ""
_wishes: deque[_Request] = deque()
_lately = _RecentVectors()


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="embedding")


def _forget_parent() -> None:
    global _lately
    _executor.cache_clear()
    _model.cache_clear()
    _wishes.clear()
    _lately = _RecentVectors()


os.register_at_fork(after_in_child=_forget_parent)


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
        _vectors([text], name())
    except EmbeddingUnavailable as error:
        logger.error("%s", error)


@lru_cache(maxsize=1)
def _model(wanted: str) -> Encode:
    """The encoder of a model. The one that was used before is let go."""
    if wanted != PLAIN:
        return _load_sentence_transformer(full_name(wanted), wanted)
    try:
        return bundled_model.load_encoder()
    except bundled_model.BundledModelUnusable as error:
        raise EmbeddingUnavailable(str(error)) from error
    except ImportError as error:
        # There is no onnxruntime for every system; torch makes the same vectors, slower.
        logger.warning("onnxruntime cannot be loaded (%s): torch embeds instead", error)
        return _load_sentence_transformer(str(bundled_model.FOLDER), wanted)


def _load_sentence_transformer(folder: str, wanted: str) -> Encode:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch  # noqa: PLC0415  (6 s and 480 MB: only where another model than the bundled one is used)
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415

    disable_progress_bar()
    torch.set_num_threads(1)
    try:
        model = SentenceTransformer(folder, device="cpu")
    except (OSError, ValueError) as error:
        raise EmbeddingUnavailable(f"the embedding model {wanted} cannot be loaded: {error}") from error
    if (dimension := model.get_embedding_dimension()) != DIMENSION:
        raise EmbeddingUnavailable(f"{wanted} makes {dimension} dimensions; the index holds {DIMENSION}")

    def encode(texts: Sequence[str]) -> np.ndarray:
        vectors: np.ndarray = model.encode(
            list(texts), batch_size=32, convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors

    return encode
