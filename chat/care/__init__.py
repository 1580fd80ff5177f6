"""Whether a message of the owner speaks of a crisis: suicide, self-harm, danger, not being able to go on.

Two ears, both on this machine, for English and Chinese (both scripts); no network and no connected model is asked.

    rules       phrases that people say, in light disguise too (`phrases.*.toml`, `disguises`): 0.05 ms
    classifier  what lines of several writers have in common (`classifier`, trained from `lines/` by `train`): 0.3 ms,
                and 5 to 10 ms where the n-grams alone are not sure

Either raises help; only fiction, sport, study and jokes around a phrase, of which the classifier is sure, take it back.
What was said just before may raise a doubtful message, and never lowers one. Made to miss little: help that was not
needed is folded away, a cry that was missed is heard by nobody. Other languages it does not understand.

Never call it in a transaction, and in a loop call `speak_of_crisis`: together messages take less time.
"""

from collections.abc import Callable, Sequence

from chat.care import classifier
from chat.care.rules import speaks_by_rule

__all__ = ["speak_of_crisis", "speaks_by_rule", "speaks_of_crisis"]


def speaks_of_crisis(text: str, messages_before: Callable[[], Sequence[str]] = tuple) -> bool:
    """Whether `text` speaks of not wanting, or not being able, to go on.

    `messages_before` returns what the owner said just before, oldest first; it is called for a doubtful text only.

    >>> [speaks_of_crisis(text) for text in ("I want to die", "我 不 想 活 了", "dying to see you", "电脑崩溃了")]
    [True, True, False, False]
    """
    (score,) = classifier.scores([text])
    if score > 0 or score <= -classifier.DOUBT:
        return score > 0
    before = list(messages_before())
    together = [*before, *(f"{earlier}\n{text}" for earlier in before[-1:])]
    *earlier, joined = classifier.scores(together) if before else [-1.0]
    return joined > 0 or any(score > -classifier.DOUBT for score in earlier)


def speak_of_crisis(texts: Sequence[str]) -> list[bool]:
    """Of each text by itself whether it speaks of a crisis."""
    return [score > 0 for score in classifier.scores(texts)]
