"""The recorded pass makes the vectors that the library makes, whatever is put together in a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from echovessel.embeddings import embedding, traced_encoder

pytestmark = pytest.mark.real_embeddings
LINES = ["I am so tired.", "", "What was the name of the cat that Mira found?", "记得那件事吗？我们去了海边。"]
LONG = " ".join(LINES) * 20


def library() -> Any:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (6 s: only where it is asked for)

    return SentenceTransformer(str(embedding.BUNDLED_FOLDER), device="cpu")


@pytest.fixture(scope="module")
def encode() -> traced_encoder.Encode:
    return traced_encoder.trace_encoder(library())


@pytest.fixture(scope="module")
def model() -> Any:
    return library()


@pytest.mark.parametrize("texts", [LINES[:1], LINES, LINES * 20, [LONG], [LINES[0], LONG, LINES[2], LONG]])
def test_vectors_are_those_of_the_library(texts: Sequence[str], encode: traced_encoder.Encode, model: Any) -> None:
    expected = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    made = encode(texts)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, atol=1e-6)


def test_a_row_holds_what_fits_and_a_longer_text_alone() -> None:
    texts = [[number] * length for number, length in enumerate((200, 56, 1, 255, 300, 2))]
    rows = list(traced_encoder._rows(texts))
    assert [[len(text) for text in row] for row in rows] == [[200, 56], [1, 255], [300], [2]]
    assert [text for row in rows for text in row] == texts
