"""Character.AI's chats as its site stores them and tools save them: turns, newest first or last, each with the answers
that were offered, of which only the chosen one is read.

    {turns: [{turn_key, create_time, author: {name, is_human?}, candidates: [{raw_content, …}], primary_candidate_id}]}

Tools put that into an array, or under "chats" or "messages" in an object, one for each conversation.
"""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import reason_of, values
from memory.imports.readers.lines import SessionReader, array, moment, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, Options, ReaderItem, Role, Skipped, digest

# The places of lists of turns.
_HELD = ("", "item.", "chats.item.", "histories.item.", "chat.")
_TURNS = tuple(f"{path}turns" for path in _HELD)


class CharacterAI:
    name = "character_ai"
    label = gettext_lazy("Character.AI chats (turns)")

    def resembles(self, sample: Sample) -> float:
        marks = {"candidates.item.raw_content", "author"}
        is_export = any({f"{turns}.item.{mark}" for mark in marks} <= sample.paths for turns in _TURNS)
        return 0.95 if is_export else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        reader = _Turns(options.limits)
        for number, (_place, turns) in enumerate(values(source, _TURNS), start=1):
            location = _("conversation %d") % number
            if not isinstance(turns, list):
                yield Skipped(location, reason_of(turns))
                continue
            # The site lists the newest turn first.
            times = [word(table(turn).get("create_time")) for turn in turns]
            turns = turns[::-1] if times and times[0] > times[-1] else turns
            key = table(table(turns[0]).get("turn_key")) if turns else {}
            people = [table(table(turn).get("author")) for turn in turns]
            character = next((word(person.get("name")) for person in people if not person.get("is_human")), "")
            chat_id = word(key.get("chat_id"))
            begun = reader.places.begin_with(chat_id, digest(source.name, character), turns, _words)
            source_id = chat_id or digest("character_ai", number, character)
            yield from reader.read_session(character, source_id, location, begun)


class _Turns(SessionReader):
    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        author = table(message.get("author"))
        speaker, human = word(author.get("name")), bool(author.get("is_human"))
        at, source_id = moment(message.get("create_time")), word(table(message.get("turn_key")).get("turn_id"))
        role: Role = "user" if human else "persona"
        speaker = speaker or ("user" if human else "character")
        yield self.line(speaker, _words(message), at, location, source_id, role)
        yield from (Skipped(location, "not_chosen") for _other in _offered(message)[1:])


def _offered(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return [table(candidate) for candidate in array(turn.get("candidates"))]


def _words(turn: Any) -> str:
    """The text of a turn: the chosen one of its candidates."""
    turn = table(turn)
    offered = _offered(turn)
    candidates = [
        candidate for candidate in offered if candidate.get("candidate_id") == turn.get("primary_candidate_id")
    ] or offered
    return word(candidates[0].get("raw_content")) if candidates else ""


FORMATS = (CharacterAI(),)
