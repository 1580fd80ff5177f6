"""Sorting notes: what a card, a lorebook or a memory of another system may become. Pure, and nothing in it is obeyed.

    description, personality, scenario of a card, lore that always holds   drafts of the block of the persona
    example messages, instructions                                         drafts of the block of style
    what another system held for the user's identity                       drafts of the block of the user
    an entry of a lorebook                                                 somebody or something with a name
    what is too long for that, or nameless, and any other memory           memories, unverified

Greetings, the notes of a card's author and all the rest of it become nothing: they are for other programs.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _

from memory.imports.chunks import parts
from memory.imports.readers.types import Card, Lore, Remembered
from memory.models import ConceptNode
from memory.store.deduplication import DateRange
from persona.models.core_block import MAX_CHARACTERS, Label

Note = Card | Lore | Remembered

# A draft that is longer is no sentence that a person weighs; a memory that is longer is half unread by the embedder.
LONGEST_PASSAGE = 1_000
LONGEST_MEMORY = 800
LONGEST_DESCRIPTION = 400
UNSAID_CONFIDENCE = 0.7  # another system was sure enough to keep it
OURS = "echovessel"
_GONE = ("superseded", "deprecated", "retracted", "archived")
_LABELS: Mapping[str, Label] = {
    "identity": Label.USER,
    "user_profile": Label.USER,
    "instruction": Label.STYLE,
    "user_instructions": Label.STYLE,
    "companion": Label.PERSONA,
}
_MACRO = re.compile(r"\{\{\s*(char|user)\s*\}\}|<(char|bot|user)>", re.IGNORECASE)
_PATTERN = re.compile(r"[/\\^$*+?()\[\]{}|]")


@dataclass(frozen=True)
class Names:
    """What stands for "{{char}}" and "{{user}}" in a card."""

    persona: str
    user: str

    def filled(self, text: str) -> str:
        """`text` with the names in it.

        >>> Names("Mira", "Ana").filled("{{char}} waits for <USER>.")
        'Mira waits for Ana.'
        """
        return _MACRO.sub(lambda found: self.user if "user" in found[0].casefold() else self.persona, text)


@dataclass(frozen=True)
class Passage:
    """What may stand in a core block, with the words and the place that it comes from."""

    label: Label
    text: str
    quote: str
    where: str


@dataclass(frozen=True)
class Memory:
    """What another system remembered. `day` is when it did, `event_time` when it happened."""

    external_id: str
    text: str
    subject: str = ConceptNode.Subject.USER
    kind: str = ConceptNode.Kind.EVENT
    confidence: float = UNSAID_CONFIDENCE
    emotional_impact: int = 0
    emotion_tags: Sequence[str] = ()
    relational_tags: Sequence[str] = ()
    day: date | None = None
    event_time: DateRange | None = None


@dataclass(frozen=True)
class DescribedPerson:
    """Somebody or something with a name, as a lorebook tells of it; `memories` are its words where they are too long
    for a description."""

    external_id: str
    names: Sequence[str]
    text: str
    memories: Sequence[Memory]


@dataclass
class SortedNotes:
    """What notes may become, and how many become nothing, by why."""

    passages: list[Passage] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    somebodies: list[DescribedPerson] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def all_memories(self) -> list[Memory]:
        return [*self.memories, *(memory for one in self.somebodies for memory in one.memories)]


def sort_notes(notes: Sequence[Note], names: Names) -> SortedNotes:
    """What the notes may become, in their order."""
    found = SortedNotes()
    for note in notes:
        if isinstance(note, Card):
            _take_card(note, names, found)
        elif isinstance(note, Lore):
            _take_lore(note, names, found)
        else:
            # --- memories
            # -------------------------------------------------------------------------------------------------------
            if note.rest.get("status") in _GONE:
                found.left_out["outdated"] += 1
            elif label := _LABELS.get(note.type):
                found.passages += _passages(label, note.text, note.where, names)
            else:
                # What an export of ours says of a memory beyond the words of the specification, as far as it can be
                # read.
                said = note.rest.get("metadata")
                if not isinstance(said, Mapping) or _table(note.rest.get("provenance")).get("platform") != OURS:
                    own = {}
                else:
                    impact = said.get("emotional_impact")
                    own = {
                        "kind": ConceptNode.Kind.THOUGHT if said.get("kind") == "thought" else ConceptNode.Kind.EVENT,
                        "subject": said["subject"]
                        if said.get("subject") in ConceptNode.Subject.values
                        else ConceptNode.Subject.USER,
                        "emotional_impact": impact if isinstance(impact, int) and not isinstance(impact, bool) else 0,
                        "emotion_tags": _words(said.get("emotion_tags")),
                        "relational_tags": _words(said.get("relational_tags")),
                        "event_time": _days(_table(note.rest.get("temporal"))),
                    }
                told = own | {"day": note.day}
                if note.confidence is not None:
                    told["confidence"] = note.confidence
                found.memories += _memories(names.filled(note.text.strip()), f"remembered:{note.source_id}", **told)
    return found


# --- cards and lorebooks --------------------------------------------------------------------------------------------
def _take_card(card: Card, names: Names, found: SortedNotes) -> None:
    texts = (
        (Label.PERSONA, card.description, _("card, description")),
        (Label.PERSONA, card.personality, _("card, personality")),
        (Label.PERSONA, card.scenario, _("card, scenario")),
        (Label.STYLE, card.example_messages, _("card, example messages")),
        (Label.STYLE, card.post_history, _("card, instructions")),
    )
    for label, text, where in texts:
        found.passages += _passages(label, text, where, names)
    for lore in card.lore:
        _take_lore(lore, names, found)


def _take_lore(lore: Lore, names: Names, found: SortedNotes) -> None:
    if not lore.enabled or not lore.content.strip():
        found.left_out["disabled" if lore.content.strip() else "empty"] += 1
    elif lore.rest.get("constant") is True:
        found.passages += _passages(Label.PERSONA, lore.content, lore.where, names)
    else:
        text = names.filled(lore.content.strip())
        known_as = [key for key in (lore.name, *lore.keys) if key.strip() and not _PATTERN.search(key)]
        memories = list(_memories(text, f"lore:{lore.source_id}", subject=ConceptNode.Subject.PERSONA))
        found.somebodies.append(DescribedPerson(f"lore:{lore.source_id}", known_as, text, memories))


def _passages(label: Label, text: str, where: str, names: Names) -> Iterator[Passage]:
    """A text in parts, each as a draft: its words as they stand, and with the names in them."""
    for part in parts(text.strip(), LONGEST_PASSAGE):
        filled = names.filled(part).strip()
        if filled:
            yield Passage(label, filled if len(filled) <= MAX_CHARACTERS else part.strip(), part.strip(), where)


def _memories(text: str, external_id: str, **told: Any) -> Iterator[Memory]:
    for number, part in enumerate(filter(str.strip, parts(text, LONGEST_MEMORY)), 1):
        yield Memory(f"{external_id}#{number}" if number > 1 else external_id, part.strip(), **told)


def _days(temporal: Mapping[str, Any]) -> DateRange | None:
    try:
        start, end = (datetime.fromisoformat(temporal[name]).date() for name in ("valid_from", "valid_until"))
    except (KeyError, TypeError, ValueError):
        return None
    return (start, end) if start <= end else None


def _words(value: Any) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
