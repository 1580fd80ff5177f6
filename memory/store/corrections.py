"""Lines that say what is not so any more, and are not shown: history keeps them, recall does not. Pure.

- the next line of the user puts it right: "My interview is on Thursday." – "No, on Friday."
- it is what a memory rested on that was superseded or hidden, and nothing else that may be recalled rests on it; or it
  is the answer to such a line, and repeats of it what was taken back
- it tells in other places, as a reply that repeats it, what a memory said before it was put right: the words that were
  taken back, with most of those that were not
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from echovessel.language import tokenizer
from echovessel.language.corrections import apply_correction

REPEATED = 0.6  # of the words that were not taken back


class ReplacedText(NamedTuple):
    """What a memory said, and what is said in its place."""

    before: str
    now: str


class Resting(NamedTuple):
    """A node that rests on a line; where it was superseded or corrected, what it said and what is said in its place."""

    message: int
    node: int
    status: str
    before: str | None
    now: str | None
    is_unsure: bool = False

    @property
    def change(self) -> ReplacedText | None:
        """What was put right, if anything was."""
        return None if self.before is None or self.now is None else ReplacedText(self.before, self.now)


@dataclass(frozen=True)
class _Change:
    """The words of what was replaced, and of what replaced it."""

    before: Set[str]
    now: Set[str]

    @classmethod
    def of(cls, one: ReplacedText, ignored: Set[str] = frozenset()) -> "_Change":
        return cls(_telling(one.before) - ignored, _telling(one.now) - ignored)

    @property
    def is_slight(self) -> bool:
        """Whether no more was taken back than stands."""
        return len(self.before - self.now) <= len(self.before & self.now)

    def is_told_in(self, told: Set[str]) -> bool:
        """Whether words that were taken back are told, and none that came in their place."""
        return bool(told & (self.before - self.now)) and not told & (self.now - self.before)

    def is_repeated_in(self, told: Set[str]) -> bool:
        """Whether they are, with most of those that were not taken back."""
        kept = self.before & self.now
        return bool(kept) and self.is_told_in(told) and len(told & kept) >= REPEATED * len(kept)


def outdated_message_ids(
    said: Mapping[int, str],
    following: Mapping[int, str],
    answering: Mapping[int, int],
    resting: Sequence[Resting],
    replaced: Sequence[ReplacedText],
    names: Collection[str] = (),
) -> set[int]:
    """Those of the lines `said` (by id) that are. `following` is what the user said next, `answering` the line of the
    user before a reply, `replaced` what was put right of the matter in question; `names` are of those who talk, and
    tell nothing."""
    ignored = frozenset(token for name in names for token in tokenizer.tokenize(name))
    changes = [_Change.of(one, ignored) for one in replaced]
    put_right = {key for key, line in following.items() if apply_correction(said[key], line) is not None}
    retold = {key for key, line in said.items() if changes and _repeats_any(line, changes)}
    return put_right | retold | _without_ground(resting, said) | _echoes(answering, resting, said)


def unsure_message_ids(
    contents: Mapping[int, str], answering: Mapping[int, int], resting: Sequence[Resting]
) -> set[int]:
    """Those of the messages `contents` (by id) that are as unsure as a memory in use that rests on them, and the
    replies to such a message (`answering`) that repeat most of what that memory says."""
    unsure: dict[int, list[frozenset[str]]] = {}
    for node in resting:
        if node.status == "active" and node.is_unsure:
            unsure.setdefault(node.message, []).append(_telling(node.now or ""))
    replies = {
        key
        for key, message in answering.items()
        if any(len(_telling(contents[key]) & words) >= REPEATED * len(words) > 0 for words in unsure.get(message, ()))
    }
    return (unsure.keys() & contents.keys()) | replies


def repeats(text: str, one: ReplacedText) -> bool:
    """Whether `text` tells what was put right.

    >>> repeats("So the party is on Sunday.", Replaced("The party is on Sunday.", "The party is on Friday."))
    True
    """
    return _repeats_any(text, [_Change.of(one)])


def _repeats_any(text: str, changes: Iterable[_Change]) -> bool:
    told = _telling(text)
    return any(change.is_repeated_in(told) for change in changes)


def _without_ground(resting: Iterable[Resting], said: Mapping[int, str]) -> set[int]:
    """Lines on which something outdated rests, and nothing that is sound."""
    sound: dict[tuple[int, int], bool] = {}
    for one in resting:
        if one.message in said and one.status in ("active", "superseded", "hidden"):
            key = one.message, one.node
            sound[key] = (
                sound.get(key, True)
                and one.status == "active"
                and not (one.change is not None and _Change.of(one.change).is_told_in(_telling(said[one.message])))
            )
    shaken = {message for (message, _), is_sound in sound.items() if not is_sound}
    return shaken - {message for (message, _), is_sound in sound.items() if is_sound}


def _echoes(answering: Mapping[int, int], resting: Iterable[Resting], said: Mapping[int, str]) -> set[int]:
    """Replies that repeat what was taken back of the line they answer, where the rest of it still stands."""
    changes: dict[int, list[_Change]] = {}
    for one in resting:
        if one.change and (change := _Change.of(one.change)).is_slight:
            changes.setdefault(one.message, []).append(change)
    return {
        key
        for key, line in answering.items()
        if line in changes and any(change.is_told_in(_telling(said[key])) for change in changes[line])
    }


def _telling(text: str) -> frozenset[str]:
    """The words of a text that say something."""
    return frozenset(token for token in tokenizer.tokenize(text) if not tokenizer.is_function_word(token))
