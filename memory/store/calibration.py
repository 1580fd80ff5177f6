"""Calibrate the cosines of an embedding model on the two data sets of memory/evaluation: the result depends on the
model only, not on the installation's data. It embeds some 180 short texts."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language import common_words
from memory import evaluation
from memory.models import EmbeddingModel
from memory.store.active_model import follow

# The number of best memories that recall adds to its query, and their weight.
FEEDBACK_NODES = 3
FEEDBACK = 0.5


def measure(model: str) -> dict[str, Any]:
    """By data set and kind of cosine, the medians for unrelated and for related texts, and how well questions find
    their answers. Empty for the bundled model, which defines the scale. Raises EmbeddingUnavailable."""
    if model in (embedding.BUNDLED, embedding.PLAIN):
        return {}
    common = common_words.common_direction_of(model)
    return {name: measure_set(model, path, common) for name, path in evaluation.SETS.items()}


def ensure() -> int:
    """Calibrate the model in use if that was not done yet, such as in a new installation. Returns how many models were
    calibrated. Raises EmbeddingUnavailable."""
    row = EmbeddingModel.objects.filter(cosines={}).exclude(name__in=(embedding.BUNDLED, embedding.PLAIN)).first()
    if row is None:
        return 0
    follow()
    return EmbeddingModel.objects.filter(name=row.name).update(cosines=measure(row.name))


def ensure_quietly(now: datetime) -> int:
    """`ensure` for the scheduler: if the model is unavailable, it is tried again in a minute."""
    try:
        return ensure()
    except embedding.EmbeddingUnavailable:
        return 0


def measure_set(model: str, path: Path, common: np.ndarray) -> dict[str, Any]:
    memories = {
        record["id"]: record["description"] for record in _lines(path / "archive.jsonl") if record["type"] == "node"
    }
    queries = [
        (record["turns"][-1], [name for name in record["relevant"] if name in memories])
        for record in _lines(path / "queries.jsonl")
    ]
    queries = [(question, relevant) for question, relevant in queries if relevant]
    texts = embedding.embed(list(memories.values()), model)
    questions = embedding.embed([question for question, _ in queries], model, as_query=True, is_hurried=False)
    centred = questions - common_words.SHARE * common
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    nearest = np.argsort(-(centred @ texts.T), axis=1)[:, :FEEDBACK_NODES]
    sharpened = sharpen_query(centred, texts[nearest].sum(axis=1))
    places = {name: place for place, name in enumerate(memories)}
    answers = np.zeros((len(queries), len(memories)), dtype=bool)
    for row, (_, relevant) in enumerate(queries):
        answers[row, [places[name] for name in relevant]] = True
    of_query, of_centred, of_sharpened, of_texts = (rows @ texts.T for rows in (questions, centred, sharpened, texts))
    apart = ~np.eye(len(memories), dtype=bool)
    neighbours = np.where(apart, of_texts, -1.0).max(axis=1)
    # By question, the share of pairs in which the answer is nearer than another memory.
    nearer = [
        float((row[~mask][None, :] < row[mask][:, None]).mean()) for row, mask in zip(of_query, answers, strict=True)
    ]
    return {
        "query": _medians(of_query[~answers], of_query[answers]),
        "whole": _medians(of_centred[~answers], of_centred[answers]),
        "sharpened": _medians(of_sharpened[~answers], of_sharpened[answers]),
        "texts": _medians(of_texts[apart], neighbours),
        # The chance that an answer is nearer than another memory (the area under the curve).
        "separation": round(float(np.mean(nearer)), 4),
    }


def sharpen_query(queries: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Queries (…, d) plus the mean direction of the best memories (…, d), at unit length: memories near good answers
    are likelier to be answers (Rocchio 1971)."""
    sharpened = queries + FEEDBACK * centre / np.maximum(np.linalg.norm(centre, axis=-1, keepdims=True), 1e-9)
    return np.asarray(sharpened / np.linalg.norm(sharpened, axis=-1, keepdims=True))


def _medians(unrelated: np.ndarray, together: np.ndarray) -> list[float]:
    return [round(float(np.median(cosines)), 4) for cosines in (unrelated, together)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
