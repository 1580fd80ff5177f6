"""Find quotes in the messages they come from. Pure.

A model copies a quote from its prompt, whose form may differ from the stored text (`echovessel.llm.prompts`), and it
changes the form itself: half-width for full-width signs, straight for curly quotation marks, a space for a line break,
another case. The search ignores these differences and returns the exact text of the message. With any other difference
the quote counts as not found. Part of a word ("art" in "party") and a single letter are not found either, unless it is
the whole message.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from echovessel.language import lazy_re as re
from echovessel.llm.prompts import AS_WRITTEN

_SAME_SIGNS = str.maketrans(
    AS_WRITTEN
    | {
        **dict.fromkeys("“”„‟«»『』「」＂", '"'),
        **dict.fromkeys("‘’‚‛`´＇", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
_AROUND = " \"'"
SHORTEST = 2
_SPACED = re.compile("(?=\\w)[0-9A-Za-z\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]")  # Latin, Greek, Cyrillic
_UNSPACED = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd]")


@dataclass(frozen=True)
class Span:
    """A place in a message: `text == content[start:end]`."""

    text: str
    start: int
    end: int


def find(quote: str, content: str) -> Span | None:
    """The first place of `quote` in `content`, exactly or up to form; else None.

    >>> find('i said "no".', "Well, I said “no”.")
    Span(text='I said “no”.', start=6, end=18)
    """
    stripped_quote = quote.strip()
    for start in _places(stripped_quote, content):
        if _is_whole(content, start, start + len(stripped_quote)):
            return Span(stripped_quote, start, start + len(stripped_quote))
    # Up to form: as written, then without the quotation marks and dots that a model puts around a quote.
    forms = _forms(content)
    plain = "".join(form for form, _ in forms)
    stripped_quote = "".join(form for form, _ in _forms(stripped_quote)).strip()
    for tried in (stripped_quote, stripped_quote.strip(_AROUND).removesuffix("...").rstrip(_AROUND)):
        for at in _places(tried, plain):
            start, end = forms[at][1], forms[at + len(tried) - 1][1] + 1
            if _is_whole(content, start, end):
                return Span(content[start:end], start, end)
    return None


def _places(sought: str, text: str) -> Iterator[int]:
    """All positions of `sought` in `text`, in order; none if `sought` is too short to be evidence."""
    if len(sought) < SHORTEST and sought not in (text.strip(), "".join(filter(str.isalnum, text))):
        return
    at = text.find(sought) if sought else -1
    while at >= 0:
        yield at
        at = text.find(sought, at + 1)


def _is_whole(content: str, start: int, end: int) -> bool:
    """Whether `content[start:end]` begins and ends at word boundaries, in scripts that put spaces between words."""
    return not (_cuts_a_word(content, start) or _cuts_a_word(content, end))


def _cuts_a_word(content: str, at: int) -> bool:
    return 0 < at < len(content) and bool(_SPACED.match(content[at - 1]) and _SPACED.match(content[at]))


def _forms(text: str) -> list[tuple[str, int]]:
    """The characters of `text` in normal form, each with the index of the character it came from.

    White space becomes one space between words, and is dropped beside characters of scripts without spaces.
    """
    forms: list[tuple[str, int]] = []
    for index, character in enumerate(text):
        for form in unicodedata.normalize("NFKC", character.translate(_SAME_SIGNS)).casefold():
            plain = form.translate(_SAME_SIGNS)
            if unicodedata.category(plain[0]) == "Cf":
                continue
            if plain.isspace():
                if forms and forms[-1][0] != " " and not _UNSPACED.match(forms[-1][0]):
                    forms.append((" ", index))
                continue
            if forms and forms[-1][0] == " " and _UNSPACED.match(plain):
                forms.pop()
            forms.append((plain, index))
    return forms
