"""What a message asks of the persona."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class RequestKind(StrEnum):
    """What is asked for."""

    FORGET = "forget"  # something that is named: "forget that I smoke"
    FORGET_THIS = "forget_this"  # what was just said: "don't remember that"
    REMEMBER = "remember"
    CORRECTION = "correction"
    WISH = "wish"  # how the persona shall behave from now on
    NAME = "name"  # how the owner wants to be called
    ANSWER = "answer"  # to the open question of the persona


@dataclass(frozen=True)
class Condition:
    """When a wish holds, in the owner's own words; "" where it always does."""

    kind: Literal["always", "topic", "feeling", "person"] = "always"
    text: str = ""


ALWAYS = Condition()


@dataclass(frozen=True)
class Request:
    """One request: `message[start:end]`.

    `subject` is in the owner's own words what shall be forgotten, remembered or done, or the name. It stands in the
    message at `subject_start`, where that is not -1. Without a subject the message before is meant.
    """

    kind: RequestKind
    start: int
    end: int
    subject: str
    old: str = ""  # a correction: what was said, and what is right; "" where not told
    new: str = ""
    condition: Condition = ALWAYS
    sure: bool = True  # False: rules alone may at most ask
    subject_start: int = -1
    is_boundary: bool = False  # a wish that something be left alone

    @property
    def points_back(self) -> bool:
        """Whether the message before is meant, and not words of this one."""
        return not self.subject
