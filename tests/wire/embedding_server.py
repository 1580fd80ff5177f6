"""A server of embeddings on a real socket, with OpenAI's protocol: Ollama's, vLLM's, llama.cpp's, LM Studio's.

Its vectors are those of the test embedder, turned into as many dimensions as asked for by a fixed random projection
that keeps every angle. What it does instead of answering well a test queues in `faults`; `requests` holds the bodies.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from echovessel.embeddings import embedding
from tests import hash_embedder

Vectors = Callable[[Sequence[str]], np.ndarray]


def projection(dimension: int, seed: int = 1) -> np.ndarray:
    """(384, dimension) with orthonormal rows, so that cosines stay as they are; fewer dimensions keep them roughly."""
    random = np.random.default_rng(seed).standard_normal((max(dimension, embedding.DIMENSION), embedding.DIMENSION))
    columns, _ = np.linalg.qr(random)
    return columns[:dimension].T


class EmbeddingServer:
    def __init__(self, dimension: int = 768, vectors: Vectors | None = None, seed: int = 1) -> None:
        self.turned = projection(dimension, seed)
        self.vectors = vectors or (lambda texts: hash_embedder.encode(texts, embedding.PLAIN))
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.faults: deque[Any] = deque()
        self.always: Any = None
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        """All that was embedded, in order."""
        return [text for body in self.requests for text in body["input"]]

    def rows(self, texts: Sequence[str]) -> list[list[float]]:
        turned: list[list[float]] = (
            3 * self.vectors(texts) @ self.turned
        ).tolist()  # servers need not give unit length
        return turned

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and content. A fault is a status, the content itself, seconds to wait before an answer, or a
        function of the rows."""
        fault = self.faults.popleft() if self.faults else self.always
        if isinstance(fault, int):
            return fault, {}, b'{"error": {"message": "scripted"}}'
        if isinstance(fault, tuple):
            return fault
        if isinstance(fault, bytes):
            return 200, {"content-type": "text/html"}, fault
        if isinstance(fault, float):
            self.closing.wait(fault)
        rows: Any = self.rows(body["input"])
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        if callable(fault):
            data = fault(data)
        return 200, {}, json.dumps({"object": "list", "model": body["model"], "data": data}).encode()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.path != "/v1/embeddings":
                    status, headers, content = 404, dict[str, str](), b"not found"
                else:
                    server.requests.append(body)
                    server.headers.append({name.lower(): value for name, value in self.headers.items()})
                    status, headers, content = server.answer(body)
                try:
                    self.send_response(status)
                    for name, value in ({"content-type": "application/json"} | headers).items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    pass  # whoever asked waits no longer

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def wait_until(is_so: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
