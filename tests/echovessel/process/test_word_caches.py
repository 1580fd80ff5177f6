"""Whatever registers as a cache of words is cleared, whoever made it."""

import numpy as np

from echovessel.process import word_caches
from echovessel.process.word_caches import LRUCache, RecentValues, cached_words


def test_clearing_leaves_no_word_and_nothing_of_that_persona() -> None:
    calls: list[str] = []

    @cached_words(maxsize=10)
    def shout(name: str) -> str:
        calls.append(name)
        return name.upper()

    scores: RecentValues[float] = RecentValues(10)
    matrices: LRUCache[np.ndarray] = LRUCache()
    assert [shout("ana"), shout("ana")] == ["ANA", "ANA"]
    scores.update({b"digest": 0.5})
    for persona in (1, 2):
        matrices.put(persona, np.zeros(3), 1_000)
    word_caches.clear(1)
    shout("ana")
    assert (calls, scores.get(b"digest"), matrices.keys()) == (["ana", "ana"], None, [2])
    word_caches.clear(None)
    assert matrices.keys() == []


def test_the_value_that_was_asked_for_longest_ago_gives_way() -> None:
    values: RecentValues[int] = RecentValues(2)
    values.update({"a": 1, "b": 2})
    values.get("a")
    values.update({"c": 3})
    assert values.keys() == ["a", "c"]
