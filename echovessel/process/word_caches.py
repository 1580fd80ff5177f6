"""Caches of people's words, or of values computed from them. Forgetting clears them all in this process.

Each cache registers itself on creation, so that none is missed: `cached_words` in place of `lru_cache` for functions of
words, `RecentValues` for values by digest, `LRUCache` for items of personas. Other processes notice by a stamp in the
database that their cached items of a persona are outdated.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
V = TypeVar("V")

_clearers: list[Callable[[], None]] = []
_of_personas: "list[LRUCache[Any]]" = []


def clear(persona_id: int | None) -> None:
    """Drop the items of this persona, or of all, and all cached words."""
    drop_persona(persona_id)
    for clear_words in _clearers:
        clear_words()
    re.purge()  # compiled patterns contain names


def drop_persona(persona_id: int | None) -> None:
    """Drop the cached items of this persona, or of all."""
    for cache in _of_personas:
        cache.drop(persona_id)


def cached_words(maxsize: int) -> Callable[[Function], Function]:
    """`lru_cache` for a function of words."""

    def decorate(function: Function) -> Function:
        cached = lru_cache(maxsize)(function)
        _clearers.append(cached.cache_clear)
        return cast(Function, cached)

    return decorate


class RecentValues(Generic[V]):
    """The values of the `limit` most recently used keys."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()
        _clearers.append(self.clear)

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def update(self, values: Mapping[Any, V]) -> None:
        with self._lock:
            self._values.update(values)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)

    def keys(self) -> list[Hashable]:
        with self._lock:
            return list(self._values)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


class CachedItem(Protocol):
    """An item that takes memory."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=CachedItem)


class LRUCache(Generic[T]):
    """Items of personas by key; the least recently used one is evicted first."""

    def __init__(self) -> None:
        self._items: OrderedDict[int, T] = OrderedDict()
        self._lock = threading.Lock()
        _of_personas.append(self)

    def take(self, key: int) -> T | None:
        with self._lock:
            item = self._items.get(key)
            if item is not None:
                self._items.move_to_end(key)
            return item

    def put(self, key: int, item: T, room: int) -> None:
        """Cache `item`, and evict the oldest others beyond `room` bytes in total."""
        with self._lock:
            self._items[key] = item
            self._items.move_to_end(key)
            while len(self._items) > 1 and sum(cached_item.nbytes for cached_item in self._items.values()) > room:
                self._items.popitem(last=False)

    def drop(self, key: int | None) -> None:
        """Drop the item of this key, or all."""
        with self._lock:
            if key is None:
                self._items.clear()
            else:
                self._items.pop(key, None)

    def keys(self) -> list[int]:
        with self._lock:
            return list(self._items)
