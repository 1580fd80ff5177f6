"""The TLS context for model servers, built once: the SDKs read all CA certificates again for every client, which blocks
the event loop for 20 ms (2 cores, 2026-11)."""

import ssl
from functools import cache

import httpx2


@cache
def ssl_context() -> ssl.SSLContext:
    """httpx2's default context, with SSL_CERT_FILE and SSL_CERT_DIR applied. It may be used in any thread and event
    loop."""
    return httpx2.create_ssl_context()
