"""The plain forms of a line: without what hides words from a reader that is no person."""

import re
from collections.abc import Iterator

from echovessel.language.plain_text import plain_form as plainly

_DIGITS_FOR_LETTERS = re.compile(
    r"(?<=[a-z])[013457@$!|]{1,3}(?=[a-z])|(?<![a-z0-9])[5$](?=[a-z]{2})|(?<=[a-z]{3})[03](?![a-z0-9])"
)
_LETTER_FOR = str.maketrans("013457@$!|", "oieastasii")
_MASKED = (
    (re.compile(r"\bd[*#]e\b"), "die"),
    (re.compile(r"\bd[*#]{2}\b"), "die"),
    (re.compile(r"\bk[*#]l+(?![a-z*#])|\bki[*#]{2}|\bk[*#]{2}l\b"), "kill"),
    (re.compile(r"\bs(?=[^\s]{0,4}[cd])[u*#x@][i*#x][c*#x][i*#x][d*#x](?:e\b|al\b)"), "suicide"),
)
_SPELT_OUT = re.compile(r"(?<![a-z])(?:[a-z][ .\-_*/|,~+]{1,2}){3,60}[a-z](?![a-z])", re.ASCII)
_BETWEEN = re.compile(r"[ .\-_*/|,~+]+")
_APART = r"[^\na-z0-9\u3400-\u9fff，。！？；：、…,!?;:()（）《》「」“”\"]"
# It begins with what stands apart, and only then looks back: so that few places are tried.
_SPLIT_HAN = re.compile(rf"{_APART}(?<=[\u3400-\u9fff]{_APART}){_APART}{{0,2}}(?=[\u3400-\u9fff])")


def forms(text: str) -> Iterator[str]:
    """`text` as plain as it gets, and, where that makes a difference, with its disguises taken off.

    >>> list(forms("Ｉ ｗａｎｔ to d1e"))
    ['i want to d1e', 'i want to die']
    """
    plain = plainly(text)
    yield plain
    revealed = _unmasked(plain)
    if revealed != plain:
        yield revealed


def _unmasked(plain: str) -> str:
    """Letters for the digits and signs in their place; words that were spelt out, lines that were broken, in one."""
    text = _SPELT_OUT.sub(lambda found: _BETWEEN.sub("", found[0]), plain)
    text = _SPLIT_HAN.sub("", text).replace("\n", " ")
    for masked, word in _MASKED:
        text = masked.sub(word, text)
    return _DIGITS_FOR_LETTERS.sub(lambda found: found[0].translate(_LETTER_FOR), text)
