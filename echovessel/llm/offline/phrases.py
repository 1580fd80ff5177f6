"""What memory mode listens for, and what it says by occasion: `phrases.en.toml` and `phrases.zh.toml`."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from echovessel.language import lazy_re as re
from echovessel.language.sentences import sentences

Phrases = Mapping[str, Sequence[str]]
# What shows in a message what it is.
SIGNS = re.patterns_in(Path(__file__).with_name("signs_of_messages.toml"))
_BLANK = re.compile(r"\\\{\w+\\\}")


@cache
def phrases_of(language: str) -> Phrases:
    return tomllib.loads((Path(__file__).parent / f"phrases.{language}.toml").read_text(encoding="utf-8"))


@cache
def stock_phrases() -> re.Pattern[str]:
    """A pattern for any sentence of the phrases that quotes no memory."""
    every = {phrase for language in ("en", "zh") for row in phrases_of(language).values() for phrase in row}
    parts = {phrase[start:end] for phrase in every if "{told}" not in phrase for start, end in sentences(phrase)}
    return re.compile("|".join(_BLANK.sub(".{0,60}", re.escape(part)) for part in parts), re.IGNORECASE)


def says_no_more_than_stock(text: str) -> bool:
    """Whether a message consists only of phrases of memory mode: the next message does not answer it.

    >>> says_no_more_than_stock("I see. Would you like to say more?"), says_no_more_than_stock("What's his name?")
    (True, False)
    """
    return all(stock_phrases().fullmatch(text[start:end]) for start, end in sentences(text))
