"""An optional reranker: a server that reads a question with each of a few texts, and scores how well they answer it.

It is called at `/rerank` below RERANK_BASE_URL in the form of Jina and Cohere: vLLM, Infinity, llama.cpp, and both
services. Off unless an address and a model are set. A call waits at most `embeddings.rerank_seconds`; after a failure
no call is made for `embeddings.pause_seconds`.
"""

import json
import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

from echovessel.embeddings import knobs, model_request
from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable

MAX_ANSWER_BYTES = 4 * 2**20
MAX_QUERY_CHARACTERS = 2_000
THREADS = 2


@dataclass
class _Pause:
    """The pause after a failure: its end, and the reason."""

    until: float = 0.0
    fault: str = ""


_pause = _Pause()


def is_configured() -> bool:
    """Whether the operator has set up a reranker."""
    return bool(settings.RERANK_BASE_URL and settings.RERANK_MODEL)


def rerank(question: str, texts: Sequence[str]) -> list[float]:
    """Score how well each of `texts` answers `question`: higher is better, on a scale of the model's own. Raises
    EmbeddingUnavailable."""
    if time.monotonic() < _pause.until:
        raise ServerUnavailable(_pause.fault)
    deadline = time.monotonic() + knobs.rerank_seconds()
    try:
        # In a thread: a request's timeouts apply to each piece, and a server may send pieces for ever.
        ranking = _executor().submit(_ask, question[:MAX_QUERY_CHARACTERS], list(texts), deadline)
        return ranking.result(timeout=max(0.05, deadline - time.monotonic()))
    except FutureTimeoutError:
        error: EmbeddingUnavailable = ServerUnavailable("the reranker gave no answer in time.")
    except EmbeddingUnavailable as failure:
        error = failure
    _pause.until, _pause.fault = time.monotonic() + knobs.pause_seconds(), str(error)
    raise error


def resume() -> None:
    """End the pause after a failure."""
    _pause.until = 0.0


def _ask(question: str, texts: list[str], deadline: float) -> list[float]:
    """The score of each text, in order. Raises EmbeddingUnavailable unless each has exactly one number."""
    url = f"{settings.RERANK_BASE_URL.rstrip('/')}/rerank"
    body = {"model": settings.RERANK_MODEL, "query": question, "documents": texts, "top_n": len(texts)}
    content = model_request.post(url, body, settings.RERANK_API_KEY, deadline, settings.RERANK_MODEL, MAX_ANSWER_BYTES)
    scores: dict[int, float] = {}
    try:
        answer: Any = json.loads(content)
        for row in answer["results"]:
            place, score = row["index"], float(row["relevance_score"])
            if type(place) is not int or not math.isfinite(score):
                raise ValueError("no place or no number")
            scores[place] = score
        rows = len(answer["results"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise EmbeddingUnavailable("the reranker answers with something else than a score for each text.") from error
    if rows != len(texts) or scores.keys() != set(range(len(texts))):
        raise EmbeddingUnavailable(f"the reranker scores {len(scores)} of {len(texts)} texts.")
    return [scores[place] for place in range(len(texts))]


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="reranker")


os.register_at_fork(after_in_child=_executor.cache_clear)
