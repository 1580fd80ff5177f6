"""Downloads that are generated while they are sent; nothing of them is stored in memory or on disk.

With an ordinary iterator, Django's ASGI handler would build the whole answer before it sends the first byte.
"""

from collections.abc import AsyncIterator, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from echovessel.process.threads import in_thread

AT_ONCE_BYTES = 64 * 1024


def download(request: HttpRequest, pieces: Iterator[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    """A response that streams the pieces as they come, saved under `name` (ASCII, no quotation marks)."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
    gathered = _join_pieces(pieces)
    content = _iterate_in_thread(gathered) if isinstance(request, ASGIRequest) else gathered
    return StreamingHttpResponse(content, content_type=media_type, headers=headers)


def _join_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join the pieces to larger ones."""
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        if len(gathered) >= AT_ONCE_BYTES:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


async def _iterate_in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Generate each piece on a thread, once the one before is sent."""
    while piece := await in_thread(next, pieces, b""):
        yield piece
