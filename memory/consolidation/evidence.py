"""The words an event came from, found in the message they are said to stand in. Pure.

A model copies quotes as it was shown them, which is not always as they are stored (`echovessel.llm.prompts`), and
with small changes of form: full-width for half-width, straight quotation marks for curly ones,
a line break for a space, another case. These do not matter to the search; what it returns is the exact text as it
stands in the message. Any other difference does matter: the quote is then not in the message. Nor is a piece of a word
("art" in "party"), or a single letter, unless it is all that was said.
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
    """Where `quote` stands in `content`, exactly or up to form, the first place if there are several; else None.

    >>> find('i said "no".', "Well, I said “no”.")
    Span(text='I said “no”.', start=6, end=18)
    """
    stripped_quote = quote.strip()
    for start in _places(stripped_quote, content):
        if _is_whole(content, start, start + len(stripped_quote)):
            return Span(stripped_quote, start, start + len(stripped_quote))
    # Up to form, as it is written or else without the quotation marks and dots that a model puts around it.
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
    """Where `wanted` stands in `text`, first to last; nowhere where it says too little to be evidence."""
    if len(sought) < SHORTEST and sought not in (text.strip(), "".join(filter(str.isalnum, text))):
        return
    at = text.find(sought) if sought else -1
    while at >= 0:
        yield at
        at = text.find(sought, at + 1)


def _is_whole(content: str, start: int, end: int) -> bool:
    """Whether `content[start:end]` begins and ends where words do, in scripts that put spaces between them."""
    return not (_cuts_a_word(content, start) or _cuts_a_word(content, end))


def _cuts_a_word(content: str, at: int) -> bool:
    return 0 < at < len(content) and bool(_SPACED.match(content[at - 1]) and _SPACED.match(content[at]))


def _forms(text: str) -> list[tuple[str, int]]:
    """The characters of `text` in one form each, with the index of the character each came from.

    White space is one space between words, and none beside a character of a script without spaces.
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
