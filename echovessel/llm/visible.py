"""From what a model sends to what people see of it: without its reasoning, and no longer than a limit. Pure."""

import re
import unicodedata
from dataclasses import dataclass, field

from echovessel.llm.reasoning import ReasoningFilter, Withdrawn
from echovessel.llm.request import CutOff, Thinking, Thought

Visible = str | Withdrawn | Thinking | CutOff

# The last characters before the limit wait until it is known whether the reply ends in time: where it does not, it ends
# with a sentence or a word, and nothing that was shown is taken back.
MARGIN = 200
# A model that thinks longer than this does not come to an end (100,000 tokens and more).
MAX_REASONING_CHARACTERS = 400_000

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)*_]{0,3}(?=\s)|[。！？…][”’」』）]?|\n")
_JOINER = "\u200d"


@dataclass
class Limit:
    """Lets `characters` through; what is beyond them is cut off behind a sentence, else behind a word."""

    characters: int
    is_reached: bool = False
    _passed: int = 0
    _held: str = ""

    def take(self, text: str) -> str:
        """What of the text so far can be shown by now."""
        held = self._held + text
        free = max(0, self.characters - MARGIN - self._passed)
        shown, self._held = held[:free], held[free:]
        self._passed += len(shown)
        room = self.characters - self._passed
        if len(self._held) > room:
            self.is_reached = True
            shown, self._held = shown + shorten_reply(self._held, room), ""
        return shown

    def close(self) -> str:
        """The rest of a reply that ended in time."""
        shown, self._held = self._held, ""
        return shown

    def begin_again(self) -> None:
        """Nothing that was let through counts."""
        self._passed, self._held = 0, ""


def shorten_reply(text: str, length: int) -> str:
    """At most so many characters of the longer `text`: up to a sentence, a word, or at least a whole character.

    >>> cut_off("It rains. I stay in bed today.", 22)
    'It rains.'
    """
    ends = [end.end() for end in _SENTENCE_END.finditer(text, 0, length + 1) if end.end() <= length]
    if ends:
        return text[: ends[-1]].rstrip()
    kept = text[:length]
    if not text[length].isspace() and any(character.isspace() for character in kept.strip()):
        kept = kept[: max(at for at, character in enumerate(kept) if character.isspace())]
    else:
        while kept and (_continues(text[len(kept)]) or kept[-1] == _JOINER):
            kept = kept[:-1]
    return kept.rstrip()


def _continues(character: str) -> bool:
    """Whether it belongs to the character before it: an accent, a variation, a colour of skin."""
    is_modifier = "\U0001f3fb" <= character <= "\U0001f3ff"
    return character == _JOINER or is_modifier or unicodedata.category(character).startswith("M")


@dataclass
class VisibleReply:
    """Takes the pieces of one streamed reply and gives what is to be shown.

    `is_over`: the limit is reached, and no more has to be asked for. Of the whole reply: `text` is what is shown,
    `reasoned` tells whether there was reasoning, `began_in_prompt` whether without an opening mark.
    """

    reasoning: ReasoningFilter
    limit: Limit
    text: str = ""
    reasoned: bool = False
    began_in_prompt: bool = False
    _received: int = 0
    _told: bool = False
    _shown: list[Visible] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.limit.is_reached or self._received > MAX_REASONING_CHARACTERS

    def take(self, piece: str | Thought) -> list[Visible]:
        """What this piece adds."""
        if isinstance(piece, Thought):
            self._received += len(piece.text)
            self.reasoned = True
            self.reasoning.release()
        else:
            self._received += len(piece)
            self._show(self.reasoning.feed(piece))
        if not self._told and not self.text and (isinstance(piece, Thought) or self.reasoning.is_thinking):
            self._told = True
            self._shown.append(Thinking())
        return self._taken()

    def close(self, *, is_cut: bool) -> list[Visible]:
        """What the end adds. `is_cut`: the model did not end by itself. Where it was waited for the end of reasoning
        that began in the prompt, all of it was reasoning then."""
        is_cut = is_cut or self.is_over
        if is_cut and self.reasoning.is_waiting:
            self.reasoned = self.began_in_prompt = True
            return []
        if not self.limit.is_reached:
            self._show(self.reasoning.close())
        self.reasoned |= self.reasoning.found
        self.began_in_prompt = self.reasoning.was_unopened
        if not self.limit.is_reached:
            self._add(self.limit.close())
        if (is_cut or self.limit.is_reached) and self.text.strip():
            self._shown.append(CutOff())
        return self._taken()

    def _show(self, items: list[str | Withdrawn]) -> None:
        for item in items:
            if isinstance(item, Withdrawn):
                self.text = ""
                self.limit.begin_again()
                self._shown.append(item)
            elif not self.limit.is_reached:
                self._add(self.limit.take(item))

    def _add(self, text: str) -> None:
        if text:
            self.text += text
            self._shown.append(text)

    def _taken(self) -> list[Visible]:
        shown, self._shown = self._shown, []
        return shown
