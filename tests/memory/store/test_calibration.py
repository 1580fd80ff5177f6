"""Thresholds belong to the model: its cosines are measured, and read on the bundled model's scale."""

import json
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from echovessel.embeddings import cosine_scale, embedding
from echovessel.embeddings.cosine_scale import CosineScale, read_scale
from echovessel.language import common_words
from memory import evaluation
from memory.models import EmbeddingModel
from memory.recall import query, scoring
from memory.store import calibration, vectors
from persona.models import Persona
from tests import hash_embedder
from tests.conftest import REAL_ENCODE
from tests.table import each_row
from tests.wire.embedding_server import EmbeddingServer

NARROW = 0.7  # of every vector so much is the same


def narrow(texts: Sequence[str]) -> np.ndarray:
    """Vectors whose cosines lie between 0.7 and 1, as those of e5 do, in the order of the test embedder's."""
    rows = np.sqrt(1 - NARROW) * hash_embedder.encode(texts, embedding.PLAIN)
    rows[:, 0] += np.sqrt(NARROW)
    return rows


@pytest.fixture(autouse=True)
def _back_to_the_bundled_model() -> Iterator[None]:
    yield
    embedding.use("")


@pytest.mark.real_embeddings
def test_the_reference_is_the_bundled_models_own_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_encode", REAL_ENCODE)
    for name, path in evaluation.SETS.items():
        measured = calibration.measure_set(embedding.BUNDLED, path, common_words.bundled_direction())
        for kind, expected in cosine_scale.REFERENCE[name].items():
            assert measured[kind] == pytest.approx(expected, abs=0.01)
        assert measured["separation"] > 0.85


def _stored(unrelated: float, together: float, en: float = 0.9, zh: float = 0.9) -> str:
    kinds = {kind: [unrelated, together] for kind in cosine_scale.KINDS}
    return json.dumps({"en": kinds | {"separation": en}, "zh": kinds | {"separation": zh}})


def test_a_scale_reads_cosines_both_ways_and_in_order() -> None:
    scale = read_scale(_stored(0.75, 0.86))
    cosines = np.linspace(-1, 1, 401)
    for kind in cosine_scale.KINDS:
        comparable = scale.comparable(kind, cosines)
        assert (np.diff(comparable) > 0).all()
        np.testing.assert_allclose(scale.own(kind, comparable), cosines, atol=1e-9)
        assert scale.comparable(kind, 0.75) == pytest.approx(
            np.mean([cosine_scale.REFERENCE[name][kind][0] for name in ("en", "zh")])
        )
        distances = np.array([0.0, 0.4, 1.2, np.nan])
        back = scale.own_distance(kind, scale.comparable_distance(kind, distances))
        np.testing.assert_allclose(back, distances, atol=1e-6)
    assert scale.own("texts", 0.92) > 0.95


@each_row(
    ("stored", "unknown"),
    [
        ("", []),
        ("{}", []),
        (_stored(0.5, 0.5), []),
        (_stored(0.9, 0.2), []),
        (_stored(0.4, 1.0), []),
        (_stored(0.5, 0.5, zh=0.5), ["han"]),
    ],
)
def test_an_unusable_calibration_leaves_similarities_unchanged(stored: str, unknown: list[str]) -> None:
    scale = read_scale(stored)
    assert scale.comparable("query", 0.3) == 0.3
    assert scale.comparable_distance("texts", 1.1) == 1.1
    assert scale.unknown == frozenset(unknown)


def test_a_model_that_knows_no_chinese_is_measured_by_english_alone() -> None:
    kinds = {kind: [0.4, 0.6] for kind in cosine_scale.KINDS}
    wide = {kind: [0.1, 0.9] for kind in cosine_scale.KINDS}
    stored = json.dumps({"en": kinds | {"separation": 0.95}, "zh": wide | {"separation": 0.55}})
    scale = read_scale(stored)
    assert scale.points["query"] == ((0.4, 0.0793), (0.6, 0.2786))
    embedding.use("server:english-only", 384, b"", stored)
    assert query.knows("latin")
    assert query.knows("other")
    assert not query.knows("han")


def test_the_bundled_model_is_its_own_scale() -> None:
    assert calibration.measure(embedding.BUNDLED) == {}
    assert embedding.scale() == CosineScale()
    assert scoring.floor_distance() == 1.2


@pytest.mark.django_db(transaction=True)
def test_reembed_measures_the_model_and_thresholds_move_with_it(
    five: list[Any],
    server: EmbeddingServer,
    mira: Persona,
) -> None:
    server.vectors = narrow
    call_command("reembed", model="narrow", stdout=StringIO(), stderr=StringIO())
    measured = EmbeddingModel.objects.get().cosines
    assert measured["en"]["texts"][0] > NARROW
    assert embedding.scale().own("texts", 0.92) > 0.94
    assert scoring.floor_distance() < 0.8
    [row] = embedding.embed(["Ana wants to learn the violin."])
    near = vectors.nearest(mira.pk, row, 5)
    assert near[0][1] < 0.1
    [stranger] = embedding.embed(["Quarterly figures rose sharply."])
    assert all(distance > scoring.floor_distance() for _, distance in vectors.nearest(mira.pk, stranger, 5))
    call_command("reembed", model="all-MiniLM-L6-v2", stdout=StringIO(), stderr=StringIO())
    assert embedding.scale() == CosineScale()


@pytest.mark.django_db(transaction=True)
def test_an_installation_that_begins_with_a_model_measures_it_in_a_minute(
    server: EmbeddingServer,
    settings: Any,
    mira: Persona,
    remember: Any,
) -> None:
    settings.EMBEDDING_MODEL, server.vectors = "narrow", narrow
    remember(mira, "Ana keeps bees.")
    server.always = 503
    assert calibration.ensure_quietly(timezone.now()) == 0
    server.always = None
    assert calibration.ensure_quietly(timezone.now()) == 1
    assert calibration.ensure_quietly(timezone.now()) == 0
    assert EmbeddingModel.objects.get().cosines["zh"]["query"]


@pytest.mark.django_db(transaction=True)
def test_the_evaluation_says_the_size_and_the_thresholds(
    server: EmbeddingServer,
    settings: Any,
) -> None:
    settings.EMBEDDING_MODEL, server.vectors = "narrow", narrow
    out = StringIO()
    call_command("eval_recall", str(evaluation.SETS["en"]), stdout=out, stderr=StringIO())
    [line] = [line for line in out.getvalue().splitlines() if "thresholds" in line]
    assert line.startswith("1024 dimensions; thresholds as its cosines: floor 0.")
