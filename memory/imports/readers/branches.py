"""Conversations that fork where a message was edited or regenerated: finds the messages that led to the last one. Pure.

Each message names its parent; the first message has a parent that is no message.
"""

from collections.abc import Mapping


def way_to(last: str, parents: Mapping[str, str]) -> list[str]:
    """The messages from the first to `last`, each the parent of the next; a cycle is followed once.

    >>> way_to("c", {"a": "", "b": "a", "c": "a"})
    ['a', 'c']
    """
    way: dict[str, None] = {}
    while last in parents and last not in way:
        way[last] = None
        last = parents[last]
    return list(reversed(way))


def beside(way: list[str], parents: Mapping[str, str]) -> set[str]:
    """The messages on branches that leave the way, with their descendants. Messages without a connection to the way are
    not among them: a part of a conversation that lost its beginning still counts.

    >>> beside(["a", "c"], {"a": "", "b": "a", "c": "a", "lost": "gone"})
    {'b'}
    """
    forks = {parents[key] for key in way}
    keys = {key for key in parents if key not in way and parents[key] in forks}
    grown = True
    while grown:
        following = {key for key in parents if parents[key] in keys} - keys
        keys |= following
        grown = bool(following)
    return keys
