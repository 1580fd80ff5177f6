"""The plain forms of a line: without what hides words from a reader that is no person."""

import re
import unicodedata
from collections.abc import Iterator

from echovessel.simplified import simplified

# Letters of other scripts that look like Latin ones.
_ALIKE = str.maketrans("аеорсухіѕјԁкмтнвɑɡοαερκντυιӏ", "aeopcyxisjdkmthbagoaepkntuii")
_FOREIGN = re.compile(r"[\u0251\u0261\u0370-\u052f]")
_UNSEEN = re.compile(r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
                     r"\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")  # fmt: skip
_MARKED = re.compile(r"[\u00c0-\u024f\u0300-\u036f\u0489\u1e00-\u1eff\u20d0-\u20ff]")
_QUOTES = re.compile("['\u2019\u2018`\u00b4\u02bc\uff07]")
# The compatibility form has ASCII signs in Chinese, too; the Chinese phrases know the Chinese ones.
_SIGN_ZH = re.compile(r"[,!?;:](?<=[\u3400-\u9fff].)")
_WIDE = dict(zip(",!?;:", "，！？；：", strict=True))
_SPACES = re.compile(r"[^\S\n]+")
_LINE_END = re.compile(r" ?\n[ \n]*")
_LONG = re.compile(r"([a-z])\1{2,}")
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


def plainly(text: str) -> str:
    """Compatibility forms and case folded, unseen characters and marks gone, simplified characters, single spaces, an
    end of a line only where there is one; no apostrophes, for half of the world leaves them out."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold())
    if _MARKED.search(plain):
        plain = "".join(one for one in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(one))
    if _FOREIGN.search(plain):
        plain = plain.translate(_ALIKE)
    plain = simplified(_QUOTES.sub("", plain))
    plain = _SIGN_ZH.sub(lambda found: _WIDE[found[0]], plain)
    plain = _LINE_END.sub("\n", _SPACES.sub(" ", plain))
    return _LONG.sub(r"\1", plain).strip()


def _unmasked(plain: str) -> str:
    """Letters for the digits and signs in their place; words that were spelt out, lines that were broken, in one."""
    text = _SPELT_OUT.sub(lambda found: _BETWEEN.sub("", found[0]), plain)
    text = _SPLIT_HAN.sub("", text).replace("\n", " ")
    for masked, word in _MASKED:
        text = masked.sub(word, text)
    return _DIGITS_FOR_LETTERS.sub(lambda found: found[0].translate(_LETTER_FOR), text)
