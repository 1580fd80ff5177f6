"""The visible part of a model's reply: without reasoning, and no longer than a limit. Pure."""

import re
import unicodedata
from dataclasses import dataclass, field

from echovessel.llm.reasoning import ReasoningFilter, Withdrawal
from echovessel.llm.request import CutOff, Thinking, Thought

Visible = str | Withdrawal | Thinking | CutOff

# The last characters before the limit are held back until it is known whether the reply ends in time: if it does not,
# it is cut after a sentence or a word, and nothing already shown has to be withdrawn.
MARGIN = 200
# A model that thinks longer than this does not come to an end (100,000 tokens and more).
MAX_REASONING_CHARACTERS = 400_000

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)*_]{0,3}(?=\s)|[。！？…][”’」』）]?|\n")
_JOINER = "\u200d"


@dataclass
class Limit:
    """Lets up to `characters` through, and cuts a longer text after a sentence, else after a word."""

    characters: int
    is_reached: bool = False
    _shown_length: int = 0
    _pending: str = ""

    def take(self, text: str) -> str:
        """The part of the text so far that can be shown now."""
        text_so_far = self._pending + text
        free = max(0, self.characters - MARGIN - self._shown_length)
        shown_text, self._pending = text_so_far[:free], text_so_far[free:]
        self._shown_length += len(shown_text)
        room = self.characters - self._shown_length
        if len(self._pending) > room:
            self.is_reached = True
            shown_text, self._pending = shown_text + shorten_reply(self._pending, room), ""
        return shown_text

    def close(self) -> str:
        """The rest of a reply that ended within the limit."""
        shown_text, self._pending = self._pending, ""
        return shown_text

    def reset(self) -> None:
        """Reset the count: the text so far was withdrawn."""
        self._shown_length, self._pending = 0, ""


def shorten_reply(text: str, length: int) -> str:
    """At most `length` characters of the longer `text`, cut after a sentence, a word, or at least a whole character.

    >>> shorten_reply("It rains. I stay in bed today.", 22)
    'It rains.'
    """
    ends = [end.end() for end in _SENTENCE_END.finditer(text, 0, length + 1) if end.end() <= length]
    if ends:
        return text[: ends[-1]].rstrip()
    shortened = text[:length]
    if not text[length].isspace() and any(character.isspace() for character in shortened.strip()):
        shortened = shortened[: max(at for at, character in enumerate(shortened) if character.isspace())]
    else:
        while shortened and (_continues(text[len(shortened)]) or shortened[-1] == _JOINER):
            shortened = shortened[:-1]
    return shortened.rstrip()


def _continues(character: str) -> bool:
    """Whether the character modifies the one before it: an accent, a variation selector, a skin tone."""
    is_modifier = "\U0001f3fb" <= character <= "\U0001f3ff"
    return character == _JOINER or is_modifier or unicodedata.category(character).startswith("M")


@dataclass
class VisibleReply:
    """Takes the pieces of one streamed reply and returns the visible items.

    `is_over`: a limit is reached, and no more pieces are needed. For the whole reply: `text` is the visible text,
    `has_reasoning` is whether there was reasoning, `began_in_prompt` whether it had no opening mark.
    """

    reasoning: ReasoningFilter
    limit: Limit
    text: str = ""
    has_reasoning: bool = False
    began_in_prompt: bool = False
    _received: int = 0
    _has_shown_thinking: bool = False
    _visible_items: list[Visible] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.limit.is_reached or self._received > MAX_REASONING_CHARACTERS

    def take(self, piece: str | Thought) -> list[Visible]:
        """The visible items that this piece adds."""
        if isinstance(piece, Thought):
            self._received += len(piece.text)
            self.has_reasoning = True
            self.reasoning.release()
        else:
            self._received += len(piece)
            self._show(self.reasoning.feed(piece))
        if (
            not self._has_shown_thinking
            and not self.text
            and (isinstance(piece, Thought) or self.reasoning.is_thinking)
        ):
            self._has_shown_thinking = True
            self._visible_items.append(Thinking())
        return self._take_visible()

    def close(self, *, is_cut: bool) -> list[Visible]:
        """The visible items that the end adds. `is_cut`: the model did not end by itself. If the text is still held
        back then, all of it was reasoning that began in the prompt."""
        is_cut = is_cut or self.is_over
        if is_cut and self.reasoning.is_waiting:
            self.has_reasoning = self.began_in_prompt = True
            return []
        if not self.limit.is_reached:
            self._show(self.reasoning.close())
        self.has_reasoning |= self.reasoning.has_reasoning
        self.began_in_prompt = self.reasoning.was_unopened
        if not self.limit.is_reached:
            self._add(self.limit.close())
        if (is_cut or self.limit.is_reached) and self.text.strip():
            self._visible_items.append(CutOff())
        return self._take_visible()

    def _show(self, items: list[str | Withdrawal]) -> None:
        for item in items:
            if isinstance(item, Withdrawal):
                self.text = ""
                self.limit.reset()
                self._visible_items.append(item)
            elif not self.limit.is_reached:
                self._add(self.limit.take(item))

    def _add(self, text: str) -> None:
        if text:
            self.text += text
            self._visible_items.append(text)

    def _take_visible(self) -> list[Visible]:
        items, self._visible_items = self._visible_items, []
        return items
