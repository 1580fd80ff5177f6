"""The hashes of Portable AI Memory 1.0: of a memory's content (section 6), and of a whole store (section 15)."""

import hashlib
import re
import unicodedata
from typing import Any

from memory.imports.readers.canonical import canonical
from memory.imports.readers.lines import word


def content_hash(text: str) -> str:
    """The hash that identifies the same memory in exports of several systems.

    >>> content_hash("  Likes  TEA ") == content_hash("likes tea")
    True
    """
    return _of_words(re.sub(r" {2,}", " ", _folded(text)))


def fits(text: str, claimed: str) -> bool:
    """Whether `claimed` is the hash of `text`: by the specification, which joins several spaces into one, or by its
    authors' program, which joins any whitespace."""
    return claimed in (content_hash(text), _of_words(re.sub(r"\s+", " ", _folded(text))))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip().lower())


def _of_words(text: str) -> str:
    return sha256(hashlib.sha256(text.encode("utf-8", "replace")))


def sha256(hashed: Any) -> str:
    return f"sha256:{hashed.hexdigest()}"


class Checksum:
    """The checksum of memories that come one at a time, in any order. They are kept until the end to be sorted; more
    than `most_bytes` are not checked."""

    def __init__(self, most_bytes: int) -> None:
        self.left = most_bytes
        self.held: list[tuple[str, bytes]] | None = []

    def take(self, memory: Any) -> None:
        if self.held is None:
            return
        try:
            memory_json = canonical(memory)
        except (ValueError, TypeError, RecursionError):
            self.held = None
            return
        self.left -= len(memory_json)
        self.held.append((word(memory.get("id")) if isinstance(memory, dict) else "", memory_json))
        if self.left < 0:
            self.held = None

    def fits(self, claimed: Any) -> bool:
        """Whether the checksum matches `claimed`; a store too large to check, or without a checksum, is accepted."""
        if self.held is None or not isinstance(claimed, str):
            return True
        in_order = (memory_json for _id, memory_json in sorted(self.held, key=lambda pair: pair[0]))
        return claimed == sha256(hashlib.sha256(b"[" + b",".join(in_order) + b"]"))
