"""Pages are compressed, streams and downloads are not."""

import gzip

from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from echovessel.web import compression
from tests.table import each_row

LONG = "A quiet day. " * 100


def test_a_page_is_compressed_with_random_bytes_in_it(client: Client, db: None) -> None:
    answers = [client.get("/help/forget/", headers={"Accept-Encoding": "gzip"}) for _ in range(12)]
    plain = client.get("/help/forget/")
    assert plain.headers.get("Content-Encoding") is None
    assert all(answer.headers["Content-Encoding"] == "gzip" for answer in answers)
    assert b"<h1>" in gzip.decompress(answers[0].content)
    assert len(answers[0].content) < len(plain.content) / 2
    assert len({len(answer.content) for answer in answers}) > 1  # random padding hides the size of the page


@each_row(
    ("response", "is_compressed"),
    [
        (lambda: HttpResponse(LONG), True),
        (lambda: HttpResponse(LONG, content_type="application/json"), True),
        (lambda: HttpResponse("short"), False),
        (lambda: HttpResponse(LONG, content_type="application/zip"), False),
        (lambda: StreamingHttpResponse([LONG], content_type="text/html"), False),
        (lambda: StreamingHttpResponse([LONG], content_type="text/event-stream"), False),
    ],
)
def test_only_whole_answers_of_text_are_compressed(response: object, is_compressed: bool) -> None:
    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip, br"})
    answer = compression.middleware(lambda _: response())(request)  # type: ignore[operator]
    assert ("Content-Encoding" in answer.headers) == is_compressed
