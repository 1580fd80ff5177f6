"""Whether a message of the owner speaks of a crisis: suicide, self-harm, danger, not being able to go on.

Two detectors, both on this machine, for English and Chinese (both scripts); no network and no connected model is asked.

    rules       phrases that people say, in light disguise too (`phrases.*.toml`): 0.05 ms
    classifier  trained on messages of several writers (`classifier`, `lines/`, `train`): 0.3 ms,
                and 2 to 5 ms where the n-grams alone are not sure

Either raises help; only fiction, sport, study and jokes around a phrase, of which the classifier is sure, take it back.
The messages before may raise a doubtful message and never lower one. The detectors are set to miss little: help that
was not needed is folded away, a missed cry is heard by nobody. Other languages are not understood.

Never call it in a transaction, and in a loop call `speak_of_crisis`: together messages take less time.
"""

from chat.care.classifier import speak_of_crisis, speaks_of_crisis, warm
from chat.care.rules import speaks_by_rule

__all__ = ["speak_of_crisis", "speaks_by_rule", "speaks_of_crisis", "warm"]
