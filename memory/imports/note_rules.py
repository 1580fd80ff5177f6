"""Sorting notes: what the parts of a card, a lorebook or another system's memory may become. Pure; instructions in
notes are never followed.

    description, personality, scenario of a card, lore that always holds   drafts for the persona block
    example messages, instructions                                         drafts for the style block
    another system's identity of the user                                  drafts for the user block
    an entry of a lorebook                                                 an entity
    texts that are too long for that or nameless, and other memories       memories, unverified
    first greeting of a card                                               the greeting of a new companion

The card author's notes and all other fields are ignored: they are for other programs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _

from memory.imports.chunks import parts
from memory.imports.readers.types import Card, Lore, Remembered
from memory.models import ConceptNode
from memory.store.deduplication import DateRange
from persona.models.core_block import MAX_CHARACTERS, Label
from persona.models.persona import MAX_GREETING

Note = Card | Lore | Remembered

# A longer draft is too much to judge at once; of a longer memory the embedder reads only a part.
LONGEST_PASSAGE = 1_000
LONGEST_MEMORY = 800
LONGEST_DESCRIPTION = 400
UNSAID_CONFIDENCE = 0.7  # for memories without a confidence: another system was sure enough to keep them
OUR_PLATFORM = "echovessel"
_OUTDATED_STATUSES = ("superseded", "deprecated", "retracted", "archived")
_LABELS: Mapping[str, Label] = {
    "identity": Label.USER,
    "user_profile": Label.USER,
    "instruction": Label.STYLE,
    "user_instructions": Label.STYLE,
    "companion": Label.PERSONA,
}
_MACRO = re.compile(r"\{\{\s*(char|user)\s*\}\}|<(char|bot|user)>", re.IGNORECASE)
# Programs put this between example dialogues. Their cards also contain macros: `{{random:red,blue}}`, `{{// note}}`.
_START = re.compile(r"^[ \t]*<START>[ \t]*$", re.IGNORECASE | re.MULTILINE)
# Nothing is tried twice (`++`): an unclosed macro may be as long as the card.
_OTHER_MACRO = re.compile(r"\{\{\s*+(?P<name>[^{}:\s]++)\s*+:{0,2}+(?P<value>[^{}]*+)\}\}")
_OF_CHAR = {"charifnotgroup", "group", "groupnotmuted", "name", "bot"}
_CHOICES = {"random", "pick"}
_MAX_NESTING = 4
_PATTERN = re.compile(r"[/\\^$*+?()\[\]{}|]")


@dataclass(frozen=True)
class Names:
    """The names that replace "{{char}}" and "{{user}}" in a card."""

    persona: str
    user: str

    def filled(self, text: str) -> str:
        """`text` with the names filled in.

        >>> Names("Mira", "Ana").filled("{{char}} waits for <USER>.")
        'Mira waits for Ana.'
        """
        return _MACRO.sub(lambda match: self.user if "user" in match[0].casefold() else self.persona, text)

    def resolved(self, text: str) -> str:
        """The text of a card with every macro resolved: names are filled in, of several choices the first is taken, and
        macros that only a program can resolve are removed.

        >>> Names("Mira", "Ana").resolved("<START>\\n{{char}} likes {{random:red,blue}}.{{// a note}}{{original}}")
        'Mira likes red.'
        """
        text = _START.sub("", self.filled(text))
        for _depth in range(_MAX_NESTING):  # the innermost ones first
            text, count = _OTHER_MACRO.subn(self._resolve, text)
            if not count:
                break
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _resolve(self, match: re.Match[str]) -> str:
        name, value = match["name"].casefold(), match["value"].strip()
        if name in _OF_CHAR:
            return self.persona
        if name in _CHOICES:
            return re.split(r"::|,", value.lstrip(":"))[0].strip()
        if name == "reverse":
            return value[::-1]
        return "\n" if name == "newline" else ""


@dataclass(frozen=True)
class Passage:
    """A text for a core block, with its original words and their place in the file."""

    label: Label
    text: str
    quote: str
    where: str


@dataclass(frozen=True)
class Memory:
    """A memory of another system. `day` is when it was stored there, `event_time` when it happened."""

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
    """A named person or thing from a lorebook; `memories` hold its text for when it is too long for a description."""

    external_id: str
    names: Sequence[str]
    text: str
    memories: Sequence[Memory]


@dataclass
class SortedNotes:
    """The results of sorting notes, and the numbers of ignored notes by reason."""

    passages: list[Passage] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    people: list[DescribedPerson] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    greeting: str = ""

    def all_memories(self) -> list[Memory]:
        return [*self.memories, *(memory for person in self.people for memory in person.memories)]


def sort_notes(notes: Sequence[Note], names: Names) -> SortedNotes:
    """Sort the notes, in their order."""
    outcome = SortedNotes()
    for note in notes:
        if isinstance(note, Card):
            texts = (
                (Label.PERSONA, note.description, _("card, description")),
                (Label.PERSONA, note.personality, _("card, personality")),
                (Label.PERSONA, note.scenario, _("card, scenario")),
                (Label.STYLE, note.example_messages, _("card, example messages")),
                (Label.STYLE, note.post_history, _("card, instructions")),
            )
            for label, text, where in texts:
                outcome.passages += _passages(label, text, where, names.resolved)
            greetings = (names.resolved(text) for text in note.greetings)
            outcome.greeting = outcome.greeting or next(filter(None, greetings), "")[:MAX_GREETING]
            for lore in note.lore:
                _sort_lore(lore, names, outcome)
        elif isinstance(note, Lore):
            _sort_lore(note, names, outcome)
        elif note.other_data.get("status") in _OUTDATED_STATUSES:
            outcome.left_out["outdated"] += 1
        elif block := _LABELS.get(note.type):
            outcome.passages += _passages(block, note.text, note.location, names.filled)
        else:
            fields = _fields_of_our_export(note.other_data) | {"day": note.day}
            fields |= {} if note.confidence is None else {"confidence": note.confidence}
            outcome.memories += _memories(names.filled(note.text.strip()), f"remembered:{note.source_id}", **fields)
    return outcome


def _fields_of_our_export(other_fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that our own export adds to the specification, as far as they are valid."""
    metadata, temporal = other_fields.get("metadata"), _table(other_fields.get("temporal"))
    if not isinstance(metadata, Mapping) or _table(other_fields.get("provenance")).get("platform") != OUR_PLATFORM:
        return {}
    impact, subject = metadata.get("emotional_impact"), metadata.get("subject")
    event_time = None
    with suppress(KeyError, TypeError, ValueError):
        start, end = (datetime.fromisoformat(temporal[name]).date() for name in ("valid_from", "valid_until"))
        event_time = (start, end) if start <= end else None
    return {
        "kind": ConceptNode.Kind.THOUGHT if metadata.get("kind") == "thought" else ConceptNode.Kind.EVENT,
        "subject": subject if subject in ConceptNode.Subject.values else ConceptNode.Subject.USER,
        "emotional_impact": impact if isinstance(impact, int) and not isinstance(impact, bool) else 0,
        "emotion_tags": _words(metadata.get("emotion_tags")),
        "relational_tags": _words(metadata.get("relational_tags")),
        "event_time": event_time,
    }


def _sort_lore(lore: Lore, names: Names, outcome: SortedNotes) -> None:
    if not lore.enabled or not lore.content.strip():
        outcome.left_out["disabled" if lore.content.strip() else "empty"] += 1
    elif lore.other_data.get("constant") is True:
        outcome.passages += _passages(Label.PERSONA, lore.content, lore.location, names.resolved)
    else:
        text = names.resolved(lore.content)
        known_as = [key for key in (lore.name, *lore.keys) if key.strip() and not _PATTERN.search(key)]
        memories = list(_memories(text, f"lore:{lore.source_id}", subject=ConceptNode.Subject.PERSONA))
        outcome.people.append(DescribedPerson(f"lore:{lore.source_id}", known_as, text, memories))


def _passages(label: Label, text: str, where: str, fill: Callable[[str], str]) -> Iterator[Passage]:
    """A text in parts, each as a draft with its original words, and with the names filled in."""
    for part in parts(text.strip(), LONGEST_PASSAGE):
        filled = fill(part).strip()
        if filled:
            yield Passage(label, filled if len(filled) <= MAX_CHARACTERS else part.strip(), part.strip(), where)


def _memories(text: str, external_id: str, **fields: Any) -> Iterator[Memory]:
    for number, part in enumerate(filter(str.strip, parts(text, LONGEST_MEMORY)), 1):
        yield Memory(f"{external_id}#{number}" if number > 1 else external_id, part.strip(), **fields)


def _words(value: Any) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
