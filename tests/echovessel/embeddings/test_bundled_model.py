"""The bundled model on onnxruntime makes the vectors that sentence-transformers makes."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chat import care
from echovessel.embeddings import bundled_model, embedding, layers, local_model, onnx_format
from echovessel.embeddings.model_names import ModelSpec
from echovessel.language.requests import read_requests

LINES = ["I am so tired.", "What was the name of the cat that Mira found?", "Wir sehen uns am Freitag in Köln."]
LONG = " ".join(LINES) * 40


@pytest.fixture(scope="module")
def encode() -> bundled_model.Encode:
    return bundled_model.load_encoder()


@pytest.fixture(scope="module")
def library() -> Any:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (6 s: only where it is asked for)

    return SentenceTransformer(str(bundled_model.FOLDER), device="cpu")


@pytest.mark.campaign  # `test_known_vectors_are_made` reads vectors that the library once made
@pytest.mark.real_embeddings
def test_vectors_are_those_of_the_library(encode: bundled_model.Encode, library: Any) -> None:
    texts = [*LINES, LONG, "", "😀", "x", "记得那件事吗？我们去了海边。"]
    expected = library.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    vectors = encode(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (vectors * expected).sum(1).min() > 0.997
    exact = bundled_model.build_encoder(bundled_model.build_layers(is_quantized=False))(texts)
    np.testing.assert_allclose(exact, expected, atol=1e-5)


@pytest.mark.campaign
@pytest.mark.real_embeddings
def test_known_vectors_are_the_librarys(library: Any) -> None:
    lines = bundled_model.KNOWN_LINES.read_text(encoding="utf-8").splitlines()
    expected = library.encode(lines, normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(np.load(bundled_model.KNOWN_VECTORS), expected, atol=1e-5)


def test_known_vectors_are_made(encode: bundled_model.Encode) -> None:
    lines, expected = bundled_model.KNOWN_LINES.read_text("utf-8").splitlines(), np.load(bundled_model.KNOWN_VECTORS)
    assert (encode(lines) * expected).sum(1).min() > 0.997
    exact = bundled_model.build_encoder(bundled_model.build_layers(is_quantized=False))(lines)
    np.testing.assert_allclose(exact, expected, atol=1e-5)


def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(encode: bundled_model.Encode) -> None:
    together = encode([LONG, *LINES, ""])
    for row, text in zip(together, [LONG, *LINES, ""], strict=True):
        assert np.array_equal(row, encode([text])[0])


def test_many_texts_embedded_by_two_threads_have_the_vectors_of_each_in_its_place(encode: bundled_model.Encode) -> None:
    texts = [f"Ana told of boat {number}{' again' * (number % 3)}." for number in range(bundled_model.MANY + 3)]
    together = encode(texts)
    np.testing.assert_array_equal(together, np.concatenate([encode([text]) for text in texts]))


def test_what_exceeds_the_models_length_is_cut(encode: bundled_model.Encode) -> None:
    words = ["bee"] * (bundled_model.MAX_TOKENS - 2)
    assert np.array_equal(*encode([" ".join(words), " ".join([*words, "cat"])]))
    assert not np.array_equal(*encode([" ".join(words), " ".join([*words[1:], "cat"])]))


def test_half_a_character_has_a_vector(encode: bundled_model.Encode) -> None:
    assert np.array_equal(*encode(["\ud83d tired", "? tired"]))


def test_where_8_bit_kernels_compute_amiss_float_weights_take_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usual = bundled_model.quantize
    monkeypatch.setattr(bundled_model, "quantize", lambda weight: (usual(weight)[0] // 2, usual(weight)[1]))
    vectors = bundled_model.load_encoder()(LINES)
    assert "differs from its known vectors" in caplog.text
    in_floats = bundled_model.build_encoder(bundled_model.build_layers(is_quantized=False))(LINES)
    assert (vectors * in_floats).sum(1).min() > 0.9999


def test_a_machine_that_computes_everything_amiss_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(is_quantized: bool, **_: bool) -> bundled_model.Run:
        return lambda ids: [np.ones((*ids.shape, bundled_model.DIMENSION), dtype=np.float32)]

    monkeypatch.setattr(bundled_model, "build_layers", broken)
    for load in (bundled_model.load_encoder, bundled_model.load_layers):
        with pytest.raises(bundled_model.BundledModelUnusable, match="wrong vectors"):
            load()


@pytest.mark.campaign  # whoever loads them compares the last one with known vectors
@pytest.mark.real_embeddings
def test_the_layers_for_the_classifiers_are_those_of_the_library_but_for_an_approximation(library: Any) -> None:
    transformer, tokenizer = library[0].auto_model, library.tokenizer
    for text in [*LINES, "x", "", LONG]:
        tokens = tokenizer(text, truncation=True, max_length=layers.MAX_TOKENS, return_tensors="pt")
        expected = [states[0].detach().numpy() for states in transformer(**tokens, output_hidden_states=True)[2]]
        [states] = layers.states_of_tokens([text], range(bundled_model.LAYERS + 1))
        for number, layer in enumerate(expected):
            by_token = states[:, number * layers.WIDTH : (number + 1) * layers.WIDTH]
            lengths = np.linalg.norm(by_token, axis=1) * np.linalg.norm(layer, axis=1)
            assert ((by_token * layer).sum(1) / lengths).min() > 0.98
        mean_of_last = expected[-1].mean(0) / np.linalg.norm(expected[-1].mean(0))
        assert layers.encode([text])[0, -layers.WIDTH :] @ mean_of_last > 0.99


def test_without_onnxruntime_the_library_embeds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = []

    def load_library(spec: ModelSpec) -> bundled_model.Encode:
        loaded.append(spec.model)
        return lambda texts: np.eye(len(texts), bundled_model.DIMENSION, dtype=np.float32)

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(local_model, "load_encoder", load_library)
    embedding._model.__wrapped__(embedding.PLAIN)
    assert loaded == [str(bundled_model.FOLDER)]
    assert "torch embeds instead" in caplog.text


def test_neither_torch_nor_the_library_is_loaded_for_the_bundled_model() -> None:
    asked = "embedding._model(embedding.PLAIN)(['Hello'])"
    heavy = "{'torch', 'sentence_transformers', 'transformers', 'scipy', 'sklearn'} & {*sys.modules}"
    code = (
        f"import sys; from django.conf import settings; settings.configure(EMBEDDING_MODEL=''); "
        f"from echovessel.embeddings import embedding; {asked}; print(sorted({heavy}))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("weights", "codes"), [([0.0] * 32, {128}), ([1.0] * 32, {255}), ([-2.0, 2.0] * 16, {1, 255})])
def test_weights_lie_around_the_middle(weights: Sequence[float], codes: set[int]) -> None:
    quantized, scales = bundled_model.quantize(np.array([weights], dtype=np.float32))
    assert set(quantized.flatten().tolist()) == codes
    restored = (quantized.astype(np.float32) - 128) * scales[..., None]
    np.testing.assert_allclose(restored.flatten(), weights, atol=1e-6)


def test_a_graph_that_was_written_here_computes() -> None:
    import onnxruntime  # noqa: PLC0415

    graph = onnx_format.model(
        [onnx_format.node("Add", ["x", "one"], ["y"])],
        [onnx_format.tensor("one", np.ones(2, dtype=np.float32))],
        [onnx_format.float_value("x", ["n", 2])],
        [onnx_format.float_value("y", ["n", 2])],
    )
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    [y] = session.run(None, {"x": np.array([[1, -300]], dtype=np.float32)})
    assert y.tolist() == [[2, -299]]


def test_without_onnxruntime_the_classifiers_go_by_n_grams(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    layers._load.cache_clear()
    assert care.speak_of_crisis(["I want to die", "The ferry was late again and I could not go on board."])[0]
    assert "cries has no sentence model" in caplog.text
    read_requests("keep off the subject of my dad's old boat pls")
    assert "heard without the sentence model" in caplog.text


def test_adapters_change_the_states_of_their_layers_alone() -> None:
    outer, inner = (np.linspace(-1, 1, size, dtype=np.float32) for size in (384, 1536))
    adapters = bundled_model.Adapters({"encoder.layer.3.output.dense": (0.1 * outer[:, None], inner[None])})
    [plain] = layers.states_of_tokens(["She has a cat."], (3, 4))
    [adapted] = layers.states_of_tokens(["She has a cat."], (3, 4), adapters)
    np.testing.assert_allclose(adapted[:, : layers.WIDTH], plain[:, : layers.WIDTH], atol=1e-6)
    assert np.abs(adapted - plain)[:, layers.WIDTH :].max() > 0.1
