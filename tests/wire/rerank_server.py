"""A reranker on a real socket, in the form of Jina (a document in each row) or of Cohere (places and scores alone).

It scores by the words that a text shares with `wanted`. What it does instead of answering well stands in `fault`: a
status, the content itself, seconds to wait, or a function of the rows. `requests` holds the bodies.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class RerankServer:
    def __init__(self, form: str = "jina", wanted: str = "") -> None:
        self.form, self.wanted, self.fault = form, wanted, None  # type: tuple[str, str, Any]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        if isinstance(self.fault, int):
            return self.fault, b"{}"
        if isinstance(self.fault, bytes):
            return 200, self.fault
        if isinstance(self.fault, float):
            self.closing.wait(self.fault)
        rows: list[dict[str, Any]] = [
            # Some give logits: below zero, and above one.
            {"index": place, "relevance_score": 9.5 if self.wanted and self.wanted in text else -4.0 - place}
            for place, text in enumerate(body["documents"])
        ]
        if self.form == "jina":
            rows = [row | {"document": {"text": body["documents"][row["index"]]}} for row in rows]
        rows.sort(key=lambda row: -row["relevance_score"])
        if callable(self.fault):
            rows = self.fault(rows)
        named = {"object": "list", "model": body["model"]} if self.form == "jina" else {"id": "1", "meta": {}}
        return 200, json.dumps(named | {"results": rows}).encode()

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
                server.requests.append(body)
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, content = server.answer(body) if self.path == "/v1/rerank" else (404, b"not found")
                try:
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    pass  # whoever asked waits no longer

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
