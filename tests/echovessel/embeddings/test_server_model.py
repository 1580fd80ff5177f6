"""Vectors by a server: what is sent, what is taken, and what is refused."""

import base64
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from echovessel import knobs as all_knobs
from echovessel.embeddings import embedding, model_names, server_model
from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable
from echovessel.embeddings.server_model import PROBE
from tests.table import each_row
from tests.wire.embedding_server import EmbeddingServer, projection

Texts = list[str]


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    settings.EMBEDDING_BASE_URL, settings.EMBEDDING_MODEL = running.url, "bge-m3"
    settings.KNOBS = {"embeddings.query_seconds": 1.0, "embeddings.batch_seconds": 2.0, "embeddings.pause_seconds": 0}
    monkeypatch.setattr(server_model.time, "sleep", lambda seconds: None)
    embedding.use("")
    embedding._recent_vectors.clear()
    embedding._server_of.cache_clear()
    yield running
    running.close()
    embedding.use("")
    embedding._recent_vectors.clear()
    embedding._server_of.cache_clear()


def test_vectors_have_the_servers_size_unit_length_and_the_order_of_the_texts(server: EmbeddingServer) -> None:
    server.faults.append(lambda data: data[::-1])  # the protocol numbers them, so any order is right
    rows = embedding.embed(["a white cat", "an exam", "a white cat"])
    assert rows.shape == (3, 768)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[2] == pytest.approx(1)
    assert server.texts == ["a white cat", "an exam", PROBE]
    assert server.requests[0]["model"] == "bge-m3"
    assert embedding.name() == "server:bge-m3"
    assert embedding.dimension() == 768


def test_a_question_and_what_is_searched_get_their_prefixes(server: EmbeddingServer, settings: Any) -> None:
    settings.EMBEDDING_MODEL = "nomic-embed-text"
    embedding.embed(["a cat"])
    embedding.embed(["a cat"], as_query=True)
    assert [text for text in server.texts if text != PROBE] == ["search_document: a cat", "search_query: a cat"]
    settings.EMBEDDING_QUERY_PREFIX, settings.EMBEDDING_DOCUMENT_PREFIX = "ask: ", ""
    server.requests.clear()
    embedding.embed(["a dog"])
    embedding.embed(["a dog"], as_query=True)
    assert [text for text in server.texts if text != PROBE] == ["a dog", "ask: a dog"]
    assert embedding.name() == "server:nomic-embed-text?document=&query=ask%3A+"


def test_a_model_that_allows_it_is_shortened(server: EmbeddingServer, settings: Any) -> None:
    settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = "qwen3-embedding:0.6b", 128
    [row] = embedding.embed(["a cat"])
    whole = np.array(server.rows(["a cat"])[0][:128])
    np.testing.assert_allclose(row, whole / np.linalg.norm(whole), atol=1e-5)
    settings.EMBEDDING_MODEL = "bge-m3"
    with pytest.raises(EmbeddingUnavailable, match="must not be shortened"):
        embedding.embed(["a cat"])
    settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = "text-embedding-3-small", 1_024
    with pytest.raises(EmbeddingUnavailable, match="768 dimensions, too few for 1024"):
        embedding.embed(["a cat"])


def test_many_texts_go_in_batches_and_each_batch_is_probed(server: EmbeddingServer, settings: Any) -> None:
    settings.KNOBS |= {"embeddings.batch_texts": 4}
    texts = [f"text {number}" for number in range(10)]
    embedding.embed(texts)
    assert [body["input"] for body in server.requests] == [[*texts[at : at + 4], PROBE] for at in (0, 4, 8)]


def test_a_key_is_sent_to_the_host_it_was_given_for_alone(server: EmbeddingServer, settings: Any) -> None:
    settings.OPENAI_API_KEY, settings.LLM_API_KEY, settings.LLM_BASE_URL = "theirs", "other", "http://127.0.0.1:1/v1"
    embedding.embed(["one"])
    settings.LLM_BASE_URL = server.url
    embedding.embed(["two"])
    settings.EMBEDDING_API_KEY = "own"
    embedding.embed(["three"])
    assert [headers.get("authorization") for headers in server.headers] == [None, "Bearer other", "Bearer own"]


def _with(value: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The answer with this vector in the first place."""
    return lambda data: [data[0] | {"embedding": value}, *data[1:]]


FAULTS: dict[str, tuple[Any, str]] = {
    "NaN": (_with([float("nan")] * 768), "NaN"),
    "infinite": (_with([float("inf")] * 768), "NaN or infinite"),
    "zero": (_with([0.0] * 768), "no length"),
    "too few rows": (lambda data: data[:1], "1 vectors for 2 texts"),
    "too many rows": (lambda data: [*data, data[0] | {"index": 2}], "3 vectors for 2 texts"),
    "the same row twice": (lambda data: [data[0], data[0]], "2 vectors for 2 texts"),
    "no rows": (lambda data: [], "0 vectors for 2 texts"),
    "several sizes": (_with([1.0] * 10), "several sizes"),
    "nested": (_with([[1.0] * 768]), "something else"),
    "words": (_with(["a"] * 768), "something else"),
    "a word": (_with("no base64!"), "something else"),
    "nothing": (_with(None), "something else"),
    "tiny": (lambda data: [row | {"embedding": [1.0] * 32} for row in data], "32 dimensions; 64 to 4,096"),
    "huge": (lambda data: [row | {"embedding": [1.0] * 5_000} for row in data], "5000 dimensions; 64 to 4,096"),
    "HTML": (b"<html><body>Sign in to the network</body></html>", "a page instead of vectors"),
    "empty": (b"", "something else"),
    "a list": (b"[1, 2]", "something else"),
    "deep": (b"[" * 100_000, "something else"),
    "an unknown model": (404, "does not know the model bge-m3"),
    "a wrong key": (401, "refuses the key"),
    "a redirect": ((302, {"location": "http://169.254.169.254/"}, b""), "status 302"),
    "refused": (400, "refuses texts"),
}


@each_row("kind", [*FAULTS])
def test_what_is_no_vector_is_refused_with_a_reason(kind: str, server: EmbeddingServer) -> None:
    fault, reason = FAULTS[kind]
    server.always = fault
    with pytest.raises(EmbeddingUnavailable, match=reason) as refused:
        embedding.embed([f"my secret cat: {kind}"])
    assert "secret" not in str(refused.value)
    server.always = None
    assert embedding.embed([f"my secret cat: {kind}"]).shape == (1, 768)


def test_base64_is_read_too(server: EmbeddingServer) -> None:
    server.faults.append(
        lambda data: [
            row | {"embedding": base64.b64encode(np.array(row["embedding"], dtype="<f4").tobytes()).decode()}
            for row in data
        ]
    )
    [row] = embedding.embed(["a cat"])
    assert row @ embedding.embed(["a cat "])[0] > 0.9


@each_row("status", [429, 500, 502, 503])
def test_a_job_tries_again_where_a_server_is_overloaded(status: int, server: EmbeddingServer) -> None:
    server.requests.clear()
    server.faults.extend([status, (status, {"retry-after": "1"}, b"")])
    assert embedding.embed([f"a cat {status}"]).shape == (1, 768)
    assert len(server.requests) == 3
    server.always = status
    with pytest.raises(ServerUnavailable, match="overloaded"):
        embedding.embed(["a dog"])
    server.always = None


def test_a_question_is_asked_once_and_then_not_for_a_while(server: EmbeddingServer, settings: Any) -> None:
    settings.KNOBS |= {"embeddings.pause_seconds": 60, "embeddings.query_seconds": 0.3}
    server.always = 60.0
    started = time.monotonic()
    for _ in range(3):
        with pytest.raises(ServerUnavailable, match="no answer in time"):
            embedding.embed(["where is the cat?"], as_query=True)
    assert time.monotonic() - started < 3
    assert len(server.requests) == 1
    server.always = None
    embedding.embed(["a memory is made later"])  # a job asks whatever was, and what it finds out counts
    assert embedding.embed(["where is the cat?"], as_query=True).shape == (1, 768)


def test_where_nobody_listens_it_says_so(settings: Any, server: EmbeddingServer) -> None:
    settings.EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(ServerUnavailable, match="cannot be reached"):
        embedding.embed(["a cat"])


@each_row(
    ("url", "fault"),
    [
        ("", "is not set"),
        ("ftp://example.org/v1", "no address"),
        ("localhost:11434", "no address"),
        ("http://", "no address"),
        ("http://host:port/v1", "no address"),
        ("http://me:key@host/v1", "EMBEDDING_API_KEY"),
        ("http://host/v1?key=1", "EMBEDDING_API_KEY"),
    ],
)
def test_an_address_that_is_none_is_refused(url: str, fault: str, settings: Any) -> None:
    settings.EMBEDDING_BASE_URL = url
    assert fault in model_names.parse("server:bge-m3").fault()


def test_what_is_too_long_for_a_server_is_cut(server: EmbeddingServer) -> None:
    real = server.answer
    server.answer = lambda body: (  # type: ignore[method-assign]
        (400, {}, b"{}") if max(map(len, body["input"])) > 500 else real(body)
    )
    rows = embedding.embed(["cat " * 1_000, "a short one"])
    assert rows.shape == (2, 768)
    assert ("cat " * 1_000)[:500] in server.texts


def test_another_model_under_the_same_name_is_noticed(server: EmbeddingServer) -> None:
    embedding.embed(["a cat"])
    embedding.use("server:bge-m3", 768, embedding.last_probe("server:bge-m3"))
    embedding.embed(["a dog"])
    server.turned = projection(768, seed=2)
    for as_query in (False, True):
        with pytest.raises(EmbeddingUnavailable, match="another model under the name bge-m3"):
            embedding.embed(["a bird"], as_query=as_query)
    server.turned = projection(1_024)
    with pytest.raises(EmbeddingUnavailable, match="1024 dimensions for bge-m3, and the stored vectors have 768"):
        embedding.embed(["a fish"])
    server.turned = projection(768)
    assert embedding.embed(["a bird"]).shape == (1, 768)


def test_a_slow_batch_holds_up_no_question(server: EmbeddingServer) -> None:
    embedding.embed(["first"])
    server.faults.append(0.8)
    job = threading.Thread(target=lambda: embedding.embed(["a slow batch"]))
    job.start()
    while len(server.requests) < 2:
        time.sleep(0.005)
    started = time.monotonic()
    embedding.embed(["a question"], as_query=True)
    assert time.monotonic() - started < 0.7
    job.join()


def test_sizes_that_are_no_multiple_of_eight_are_filled_with_zeros(server: EmbeddingServer) -> None:
    server.turned = projection(770)
    rows = embedding.embed(["a cat", "a dog"])
    assert rows.shape == (2, 776)
    assert not rows[:, 770:].any()


def test_knobs_are_declared() -> None:
    assert "embeddings.query_seconds" in all_knobs.REGISTRY


@each_row(
    ("model", "query", "document"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("/srv/models/multilingual-e5-large", "query: ", "passage: "),
        ("bge-m3", "", ""),
        ("bge-m3:567m", "", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("Qwen/Qwen3-Embedding-0.6B", model_names._INSTRUCTION, ""),
        ("mxbai-embed-large", model_names._REPRESENT, ""),
        ("thenlper/gte-large", "", ""),
        ("jina-embeddings-v2-base-zh", "", ""),
        ("text-embedding-3-small", "", ""),
        ("somebody/something", "", ""),
    ],
)
def test_well_known_models_get_their_prefixes(model: str, query: str, document: str) -> None:
    family = model_names.family_of(model)
    assert (family.query, family.document) == (query, document)


def test_a_full_name_says_everything_whatever_the_settings_are(settings: Any) -> None:
    settings.EMBEDDING_BASE_URL, settings.EMBEDDING_DIMENSIONS = "http://127.0.0.1:9/v1", 256
    settings.EMBEDDING_QUERY_PREFIX = "ask & tell? "
    full = model_names.full_name("nomic-embed-text")
    assert model_names.full_name(full) == full
    settings.EMBEDDING_BASE_URL, settings.EMBEDDING_DIMENSIONS = "", 0
    settings.EMBEDDING_QUERY_PREFIX = None
    spec = model_names.parse(full)
    assert (spec.source, spec.model, spec.dimensions) == ("server", "nomic-embed-text", 256)
    assert (spec.query_prefix, spec.document_prefix) == ("ask & tell? ", "search_document: ")
    assert model_names.full_name("all-MiniLM-L6-v2") == model_names.BUNDLED
