"""Outdated messages: history keeps them, recall does not show them. Pure.

A message is outdated if
- the user's next message corrects it: "My interview is on Thursday." – "No, on Friday."
- a memory that was superseded or hidden rests on it, and no recallable one does; or it replies to such a message and
  repeats the replaced words
- it repeats, as a reply may, the words of a memory before its correction: the replaced ones, with most of the others
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from echovessel.language import tokenizer
from echovessel.language.corrections import apply_correction

REPEATED = 0.6  # of the words that were not replaced


class ReplacedText(NamedTuple):
    """The text of a memory before its correction, and after it."""

    before: str
    now: str


class Resting(NamedTuple):
    """A node that rests on a message; if it was superseded or corrected, its text before and now."""

    message: int
    node: int
    status: str
    before: str | None
    now: str | None
    is_unsure: bool = False

    @property
    def change(self) -> ReplacedText | None:
        """The correction, if there was one."""
        return None if self.before is None or self.now is None else ReplacedText(self.before, self.now)


@dataclass(frozen=True)
class _Change:
    """The words of a memory before its correction, and after it."""

    before: Set[str]
    after: Set[str]

    @classmethod
    def of(cls, replaced: ReplacedText, ignored: Set[str] = frozenset()) -> "_Change":
        return cls(_content_words(replaced.before) - ignored, _content_words(replaced.now) - ignored)

    @property
    def is_slight(self) -> bool:
        """Whether no more words were replaced than kept."""
        return len(self.before - self.after) <= len(self.before & self.after)

    def is_contradicted_by(self, words: Set[str]) -> bool:
        """Whether `words` contain replaced words, and none of the new ones."""
        return bool(words & (self.before - self.after)) and not words & (self.after - self.before)

    def is_repeated_by(self, words: Set[str]) -> bool:
        """Whether `words` also contain most of the words that were kept."""
        shared = self.before & self.after
        return bool(shared) and self.is_contradicted_by(words) and len(words & shared) >= REPEATED * len(shared)


def outdated_message_ids(
    messages: Mapping[int, str],
    following: Mapping[int, str],
    answering: Mapping[int, int],
    resting: Sequence[Resting],
    replaced: Sequence[ReplacedText],
    names: Collection[str] = (),
) -> set[int]:
    """The outdated ones of `messages` (texts by id). `following` is the user's next message, `answering` the user's
    message before a reply, `replaced` the corrections about the same subject; `names` of owner and persona are
    ignored."""
    words = cache(lambda key: _content_words(messages[key]))  # most messages need no comparison
    ignored = frozenset(token for name in names for token in tokenizer.tokenize(name))
    changes = [_Change.of(text, ignored) for text in replaced]
    corrected = {key for key, text in following.items() if apply_correction(messages[key], text) is not None}
    repeating = {key for key in messages if any(change.is_repeated_by(words(key)) for change in changes)}
    # Whether each node that rests on a message is sound: active, and no correction replaced words of this message.
    sound: dict[tuple[int, int], bool] = {}
    slight: dict[int, list[_Change]] = {}
    for node in resting:
        change = _Change.of(node.change) if node.change else None
        if node.message in messages and node.status in ("active", "superseded", "hidden"):
            refuted = change is not None and change.is_contradicted_by(words(node.message))
            key = node.message, node.node
            sound[key] = sound.get(key, True) and node.status == "active" and not refuted
        if change and change.is_slight:
            slight.setdefault(node.message, []).append(change)
    ungrounded = {message for message, _ in sound} - {message for (message, _), is_sound in sound.items() if is_sound}
    # Replies that repeat the replaced words of the message they answer, while the rest of it still holds.
    echoing = {
        reply
        for reply, message in answering.items()
        if any(change.is_contradicted_by(words(reply)) for change in slight.get(message, ()))
    }
    return corrected | repeating | ungrounded | echoing


def unsure_message_ids(
    contents: Mapping[int, str], answering: Mapping[int, int], resting: Sequence[Resting]
) -> set[int]:
    """The messages of `contents` (by id) that an unsure memory in use rests on, and the replies to them (`answering`)
    that repeat most of that memory."""
    unsure: dict[int, list[frozenset[str]]] = {}
    for node in resting:
        if node.status == "active" and node.is_unsure:
            unsure.setdefault(node.message, []).append(_content_words(node.now or ""))
    replies = {
        key
        for key, message in answering.items()
        if any(
            len(_content_words(contents[key]) & words) >= REPEATED * len(words) > 0 for words in unsure.get(message, ())
        )
    }
    return (unsure.keys() & contents.keys()) | replies


def repeats(text: str, replaced: ReplacedText) -> bool:
    """Whether `text` repeats what was corrected.

    >>> repeats("So the party is on Sunday.", ReplacedText("The party is on Sunday.", "The party is on Friday."))
    True
    """
    return _Change.of(replaced).is_repeated_by(_content_words(text))


def _content_words(text: str) -> frozenset[str]:
    return frozenset(token for token in tokenizer.tokenize(text) if not tokenizer.is_function_word(token))
