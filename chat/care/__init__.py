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

import threading
from collections.abc import Callable, Sequence
from functools import cache

from chat.care import classifier
from chat.care.rules import speaks_by_rule

__all__ = ["speak_of_crisis", "speaks_by_rule", "speaks_of_crisis", "warm"]


def speaks_of_crisis(text: str, messages_before: Callable[[], Sequence[str]] = tuple) -> bool:
    """Whether `text` speaks of not wanting, or not being able, to go on.

    `messages_before` returns what the owner said just before, oldest first; it is not called for a sure cry.

    >>> [speaks_of_crisis(text) for text in ("I want to die", "我 不 想 活 了", "dying to see you", "电脑崩溃了")]
    [True, True, False, False]
    """
    (score,) = classifier.scores([text])
    if score > 0 or not (before := list(messages_before())):
        return score > 0
    earlier = classifier.scores(before)
    if score > -classifier.DOUBT:
        (joined,) = classifier.scores([f"{before[-1]}\n{text}"])
        return joined > 0 or max(earlier) > -classifier.DOUBT
    if max(earlier) <= -classifier.DOUBT:
        return False
    # What is plain by itself may not be so after this: the n-grams alone do not decide. After a cry, of which the
    # joined text speaks in any case, the message itself has to be doubtful.
    alone, joined = classifier.scores([text, f"{before[-1]}\n{text}"], is_read_through=True)
    may_belong = max(earlier) <= 0 and alone > -classifier.UNLIKE_A_CRY
    return alone > -classifier.DOUBT or (may_belong and joined > -classifier.DOUBT_TOGETHER)


def speak_of_crisis(texts: Sequence[str]) -> list[bool]:
    """Of each text by itself whether it speaks of a crisis."""
    return [score > 0 for score in classifier.scores(texts)]


@cache
def warm() -> None:
    """Load in the background, once, what the first message would otherwise wait for a second or two."""
    threading.Thread(target=speak_of_crisis, args=(["I cannot go on", "你好，今天好累"],), daemon=True).start()
