"""Conversations that fork where a message was edited or regenerated: finds the messages that led to the last one. Pure.

Each message names its parent; the first message has a parent that is no message.
"""

from collections.abc import Mapping


def path_to(last: str, parents: Mapping[str, str]) -> list[str]:
    """The messages from the first to `last`, each the parent of the next; a cycle is followed once.

    >>> path_to("c", {"a": "", "b": "a", "c": "a"})
    ['a', 'c']
    """
    path: dict[str, None] = {}
    while last in parents and last not in path:
        path[last] = None
        last = parents[last]
    return list(reversed(path))


def messages_off_path(path: list[str], parents: Mapping[str, str]) -> set[str]:
    """The messages on branches that leave the path, with their descendants. Messages without a connection to it are
    not among them: a part of a conversation that lost its beginning still counts.

    >>> messages_off_path(["a", "c"], {"a": "", "b": "a", "c": "a", "lost": "gone"})
    {'b'}
    """
    forks = {parents[key] for key in path}
    keys = {key for key in parents if key not in path and parents[key] in forks}
    has_grown = True
    while has_grown:
        descendants = {key for key in parents if parents[key] in keys} - keys
        keys |= descendants
        has_grown = bool(descendants)
    return keys
