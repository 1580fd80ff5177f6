"""The part of a sentence that still holds when another part is over. Pure.

A model that repeats what still holds may reverse it by an omission: from "not allergic to penicillin but to nuts" it
may keep "allergic to penicillin", and from "no prawns, crab or nuts" just "nuts". So a denial keeps all that it denies,
or is dropped together with everything that follows.
"""

import re
from collections.abc import Iterator

from echovessel.language import tokenizer
from echovessel.language.health import bears_on_health, health_terms
from memory.store.deduplication import telling_words

# Words that deny, or whose meaning contains a denial.
_DENIAL = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|nor|without|cannot|allerg\w+|intoleran\w+|avoid\w*|refus\w+|forb\w+|hates?|"
    r"dislikes?|stop\w*|quits?|gave up|given up)\b|n['\u2019]t\b|[不没别无未避忌拒禁戒]|过敏|讨厌",
    re.I,
)
# Separators of parts that each state something, not those within a list that one verb governs.
_BETWEEN_PARTS = re.compile(
    r"[;；。]|，(?=[^，；。]{4})|,? \bbut\b|, (?=(?:so|which|who|s?he|they|it|and \w+(?:s|ed|can|must|may|will))\b)|"
    r"\b(?:because|while|though|although)\b|但|而|因为",
    re.I,
)


def is_remainder(still: str, whole: str, *, keeps_health: bool) -> bool:
    """Whether `still` is `whole` without a part: its own words in their order, which deny what they denied. With
    `keeps_health` no part is left out that concerns or may concern health, except a reason that repeats it.

    >>> is_remainder("Ana is allergic to prawns.", "Ana is allergic to prawns but eats crab.", keeps_health=True)
    True
    >>> is_remainder("Ana is not allergic to prawns.", "Ana is allergic to prawns but eats crab.", keeps_health=False)
    False
    """
    rest = iter(_words(whole))
    words_left = telling_words(still)
    if not words_left or words_left >= telling_words(whole) or not all(word in rest for word in _words(still)):
        return False
    denials, keeps, has_ended, kept_terms = 0, bears_on_health(still), False, health_terms(still)
    for part in _BETWEEN_PARTS.split(whole):
        words, denial = telling_words(part), _DENIAL.search(part)
        if has_ended and words & words_left:
            return False
        # The denied words follow the denial; in 「对虾过敏」 they precede it.
        denied = (telling_words(part[denial.end() :]) or words) if denial else set()
        is_kept = (denied if denial else words) <= words_left
        if not is_kept and ((denied & words_left) or (keeps_health and (denial or health_terms(part) - kept_terms))):
            return False
        denials += len(_DENIAL.findall(part)) if is_kept else 0
        keeps |= is_kept and denial is not None
        has_ended |= not is_kept and denial is not None
    return denials == len(_DENIAL.findall(still)) and (keeps or not keeps_health)


def _words(text: str) -> Iterator[str]:
    """The words of a text in order; for scripts without spaces the characters, not their pairs."""
    return (token for token in tokenizer.tokenize(text) if len(tokenizer.tokenize(token)) == 1)
