"""Whether what a model says brings back a name that was forgotten.

A name that stands in what it was given is known again, and says nothing: another Tom may have come. One that does not
stand there can only come from what was forgotten.
"""

from collections.abc import Iterable, Iterator

from echovessel.language.person_names import SPACED_WORD, UNSPACED_RUN, is_name
from memory.models import Tombstone
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource
from persona.models import Persona

MAX_WORDS = 3
SIGNS = range(2, 5)


def brings_back(persona: Persona, text: str, inputs: Iterable[str]) -> bool:
    """Whether a forgotten name stands in what is said and nowhere in what was given."""
    if not Tombstone.objects.filter(persona=persona, kind=Tombstone.Kind.NAME).exists():
        return False
    input_text = "\n".join(inputs).casefold()
    anew = {name for name in perhaps_names(text) if name.casefold() not in input_text and is_name(name)}
    return bool(tombstones.refused_among(persona, [TombstoneSource("name", name) for name in sorted(anew)]))


def perhaps_names(text: str) -> Iterator[str]:
    """Everything in a text that a name could be: up to three words in a row, or two to four signs.

    >>> sorted(perhaps_names("Tom Lee 李明明"))
    ['Lee', 'Tom', 'Tom Lee', '明明', '李明', '李明明']
    """
    words = SPACED_WORD.findall(text)
    for first in range(len(words)):
        for last in range(first, min(first + MAX_WORDS, len(words))):
            yield " ".join(words[first : last + 1])
    for run in UNSPACED_RUN.findall(text):
        for length in SIGNS:
            yield from (run[at : at + length] for at in range(len(run) - length + 1))
