"""Downloads that are generated while they are sent."""

import asyncio
from collections.abc import Iterator

import pytest
from django.test import AsyncRequestFactory, RequestFactory

from echovessel.web.downloads import AT_ONCE_BYTES, download

PIECE = b"x" * 1000
# Threads check connections that an earlier test may have left open.
pytestmark = pytest.mark.django_db(transaction=True)


def pieces(numbers: list[int]) -> Iterator[bytes]:
    for number in range(300):
        numbers.append(number)
        yield PIECE


def test_no_more_is_made_than_is_sent() -> None:
    numbers: list[int] = []

    async def first_of(answer: Iterator[bytes]) -> bytes:
        return await anext(aiter(answer))  # type: ignore[call-overload, no-any-return]

    answer = download(AsyncRequestFactory().get("/"), pieces(numbers), "text/plain", "x.txt")
    content = asyncio.run(first_of(answer))
    assert len(content) == len(numbers) * len(PIECE)
    assert AT_ONCE_BYTES <= len(content) < 2 * AT_ONCE_BYTES


def test_the_whole_arrives_by_either_door() -> None:
    async def whole(answer: Iterator[bytes]) -> bytes:
        return b"".join([piece async for piece in answer])  # type: ignore[attr-defined]

    by_threads = asyncio.run(whole(download(AsyncRequestFactory().get("/"), pieces([]), "text/plain", "x.txt")))
    at_once = download(RequestFactory().get("/"), pieces([]), "text/plain", "x.txt")
    assert by_threads == b"".join(at_once) == PIECE * 300
    assert at_once["Content-Disposition"] == 'attachment; filename="x.txt"'


def test_an_empty_file_is_one() -> None:
    assert b"".join(download(RequestFactory().get("/"), iter(()), "text/plain", "x.txt")) == b""
