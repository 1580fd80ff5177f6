"""What a message asks of the persona."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class RequestKind(StrEnum):
    """The kinds of requests."""

    FORGET = "forget"  # something named: "forget that I smoke"
    FORGET_THIS = "forget_this"  # the message before: "don't remember that"
    REMEMBER = "remember"
    CORRECTION = "correction"
    WISH = "wish"  # how the persona should behave from now on
    NAME = "name"  # how the owner wants to be called
    ANSWER = "answer"  # to an open question of the persona


@dataclass(frozen=True)
class Condition:
    """When a wish holds, in the owner's own words; "" if it always holds."""

    kind: Literal["always", "topic", "feeling", "person"] = "always"
    text: str = ""


ALWAYS = Condition()


@dataclass(frozen=True)
class Request:
    """One request: `message[start:end]`.

    `subject` is, in the owner's own words, what is to be forgotten, remembered or done, or the name. It begins at
    `subject_start` of the message, unless that is -1. Without a subject the message before is meant.
    """

    kind: RequestKind
    start: int
    end: int
    subject: str
    old: str = ""  # of a correction: the wrong and the right words; "" if not given
    new: str = ""
    condition: Condition = ALWAYS
    sure: bool = True  # False: the persona may at most ask
    subject_start: int = -1
    is_boundary: bool = False  # a wish to leave something alone

    @property
    def points_back(self) -> bool:
        """Whether the request is about the message before, not about words of this one."""
        return not self.subject
