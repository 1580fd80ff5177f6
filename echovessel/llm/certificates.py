"""Whom we trust on the wire, read once: the SDKs read the certificates of all authorities again for every client,
which holds up the event loop for 20 ms (2 cores, 2026-11)."""

import ssl
from functools import cache

import httpx2


@cache
def ssl_context() -> ssl.SSLContext:
    """httpx2's own choice, and what SSL_CERT_FILE and SSL_CERT_DIR say; good for any thread and event loop."""
    return httpx2.create_ssl_context()
