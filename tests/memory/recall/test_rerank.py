"""A reranker puts the best in its order; one that fails changes nothing and is named in the x-ray."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from echovessel.embeddings import model_request, reranker
from memory.models import ConceptNode
from memory.recall import Recall, recall
from persona.models import Persona
from tests.wire.rerank_server import RerankServer

NOW = datetime(2026, 1, 24, 12, tzinfo=UTC)
BOATS = [f"Ana painted the boat {colour} in the harbour." for colour in ("red", "blue", "green", "white", "black")]


@pytest.fixture
def server(settings: Any) -> Iterator[RerankServer]:
    running = RerankServer()
    settings.RERANK_BASE_URL, settings.RERANK_MODEL = running.url, "bge-reranker-v2-m3"
    settings.KNOBS = {"embeddings.rerank_seconds": 0.5, "embeddings.pause_seconds": 0}
    reranker.resume()
    yield running
    running.close()
    reranker.resume()


@pytest.fixture
def boats(mira: Persona, remember: Callable[..., ConceptNode]) -> Persona:
    for text in BOATS:
        remember(mira, text)
    return mira


def asking(persona: Persona) -> Recall:
    return recall(persona, ["Which boat did I paint in the harbour?"], now=NOW, budget_tokens=500)


def said(found: Recall) -> list[str]:
    return [item.content for item in found.items]


def account(found: Recall) -> dict[str, Any] | None:
    return next((arm for arm in found.xray.as_json()["arms"] if arm["name"] == "rerank"), None)


@pytest.mark.parametrize("form", ["jina", "cohere"])
def test_the_reranker_says_what_comes_first(boats: Persona, server: RerankServer, settings: Any, form: str) -> None:
    settings.RERANK_API_KEY = "own"
    server.form = form
    for wanted in ("white", "green"):
        server.wanted = wanted
        found = asking(boats)
        assert wanted in said(found)[0]
        assert sorted(said(found)) == sorted(BOATS)
    arm = account(found)
    assert arm is not None
    assert (arm["found"], arm["skipped"]) == (5, "")
    assert server.requests[0]["query"] == "Which boat did I paint in the harbour?"
    assert server.requests[0]["model"] == "bge-reranker-v2-m3"
    assert server.headers[0]["authorization"] == "Bearer own"


def test_without_one_nothing_is_asked(boats: Persona, server: RerankServer, settings: Any) -> None:
    settings.RERANK_MODEL = ""
    assert account(asking(boats)) is None
    assert not server.requests


FAULTS: list[tuple[Any, str]] = [
    (500, "overloaded or broken"),
    (401, "refuses the key"),
    (404, "does not know the model"),
    (b"<html>It works!</html>", "something else"),
    (b"[1, 2]", "something else"),
    (b'{"results": null}', "something else"),
    (2.0, "in time"),
    (lambda rows: rows[1:], "4 of 5"),
    (lambda rows: [*rows[1:], rows[1]], "4 of 5"),
    (lambda rows: [*rows, *rows], "5 of 5"),
    (lambda rows: [row | {"index": row["index"] + 1} for row in rows], "5 of 5"),
    (lambda rows: [row | {"index": "0"} for row in rows], "something else"),
    (lambda rows: [row | {"index": True} for row in rows], "something else"),
    (lambda rows: [row | {"relevance_score": float("nan")} for row in rows], "something else"),
    (lambda rows: [row | {"relevance_score": float("inf")} for row in rows], "something else"),
    (lambda rows: [row | {"relevance_score": None} for row in rows], "something else"),
    (lambda rows: [{"index": row["index"]} for row in rows], "something else"),
]


def test_a_reranker_that_fails_leaves_the_ranking_as_it_was(
    boats: Persona, server: RerankServer, settings: Any
) -> None:
    usual, address = said(recall_without(boats, settings)), settings.RERANK_BASE_URL
    server.wanted = "black"
    for fault, word in FAULTS:
        server.fault = fault
        started = time.monotonic()
        found = asking(boats)
        assert time.monotonic() - started < 1.9
        assert said(found) == usual
        arm = account(found)
        assert arm is not None
        assert word in arm["skipped"], fault
    server.fault = None
    assert "black" in said(asking(boats))[0]
    # No server, and addresses that nothing may be sent to.
    for url, word in (
        ("http://127.0.0.1:9/v1", "cannot be reached"),
        ("http://169.254.169.254/v1", "is not asked"),
        ("http://8.8.8.8/v1", "is not asked"),
        ("file:///etc/passwd", "is not asked"),
    ):
        settings.RERANK_BASE_URL = url
        found = asking(boats)
        assert said(found) == usual
        arm = account(found)
        assert arm is not None
        assert word in arm["skipped"]
        assert address not in arm["skipped"]


def test_after_a_failure_nobody_waits_for_a_while(boats: Persona, server: RerankServer, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"embeddings.pause_seconds": 30}
    server.fault = 503
    asking(boats)
    arm = account(asking(boats))
    assert arm is not None
    assert arm["skipped"]
    assert len(server.requests) == 1


def recall_without(persona: Persona, settings: Any) -> Recall:
    settings.RERANK_MODEL, model = "", settings.RERANK_MODEL
    try:
        return asking(persona)
    finally:
        settings.RERANK_MODEL = model


def test_vectors_are_asked_for_at_addresses_that_may_be_called(settings: Any) -> None:
    for url in ("http://169.254.169.254/v1/embeddings", "http://metadata.example@127.0.0.1/v1", "ftp://127.0.0.1/v1"):
        assert model_request.address_fault(url, 0)
    assert not model_request.address_fault("http://127.0.0.1:11434/v1/embeddings", 0)
