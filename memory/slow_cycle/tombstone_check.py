"""Whether a model's text brings back a forgotten name.

A name in the prompt is known again and proves nothing: another Tom may have come. A name that is not in the prompt can
only come from forgotten content.
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
    """Whether the text contains a forgotten name that is not in the inputs."""
    if not Tombstone.objects.filter(persona=persona, kind=Tombstone.Kind.NAME).exists():
        return False
    input_text = "\n".join(inputs).casefold()
    anew = {name for name in perhaps_names(text) if name.casefold() not in input_text and is_name(name)}
    return bool(tombstones.refused_among(persona, [TombstoneSource("name", name) for name in sorted(anew)]))


def perhaps_names(text: str) -> Iterator[str]:
    """Everything in a text that could be a name: up to three consecutive words, or two to four characters.

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
