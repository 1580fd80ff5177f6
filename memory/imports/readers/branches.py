"""Conversations that fork where somebody said something anew: which messages led to the last one. Pure.

Of each message it is known which one it answers; ids that are no message's stand above the first.
"""

from collections.abc import Mapping


def way_to(last: str, parents: Mapping[str, str]) -> list[str]:
    """The messages from the first to `last`, each the parent of the next; a circle is gone through once.

    >>> way_to("c", {"a": "", "b": "a", "c": "a"})
    ['a', 'c']
    """
    way: dict[str, None] = {}
    while last in parents and last not in way:
        way[last] = None
        last = parents[last]
    return list(reversed(way))


def beside(way: list[str], parents: Mapping[str, str]) -> set[str]:
    """The messages on branches that leave the way, each with what follows it. What nothing connects with the way is
    none of them: a part of a conversation that lost its beginning is still said.

    >>> beside(["a", "c"], {"a": "", "b": "a", "c": "a", "lost": "gone"})
    {'b'}
    """
    forks = {parents[key] for key in way}
    left = {key for key in parents if key not in way and parents[key] in forks}
    grown = True
    while grown:
        following = {key for key in parents if parents[key] in left} - left
        left |= following
        grown = bool(following)
    return left
