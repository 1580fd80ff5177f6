"""Plain text: a text without everything that a reader does not see or does not mind. Pure.

    plain_form       for patterns: ignores case, width, invisible characters, diacritics, look-alike letters and the
                     script of Chinese; punctuation, words and lines stay in place
    comparable_form  for comparison: also ignores punctuation, and spaces beside scripts that are written without
    normalize_text   for stored digests; it folds less than the others
    storable         for storage: as written, without characters that databases reject

Tombstones compare by the second, and the crisis detector searches the first: no disguise that one of them sees through
hides anything from the other.

Simplified and traditional Chinese characters are equal here, without a dictionary of words. Several traditional ones
share one simplified one (乾, 幹 and 干), and some are written in both scripts with different meanings (后, 里). So this
is no conversion for readers: it is the form in which two spellings of the same words are equal, and in which our
Chinese word lists are written. `simplified.txt` holds 3,500 characters, taken from the word pairs of CC-CEDICT
(2026-11); pairs that occur in less than a tenth of the words of a character are left out.
"""

import unicodedata
from itertools import filterfalse
from pathlib import Path
from typing import Any

from echovessel.language import lazy_re as re

_SIMPLIFIED_FILE = Path(__file__).with_name("simplified.txt")
_SIMPLIFIED = {
    ord(variant): group[0]
    for group in _SIMPLIFIED_FILE.read_text(encoding="utf-8").splitlines()
    if not group.startswith("#")
    for variant in group[1:]
}


def simplify(text: str) -> str:
    """`text` with every such character replaced one for one, so that positions do not change.

    >>> simplify("請記住我說的")
    '请记住我说的'
    """
    return text.translate(_SIMPLIFIED)


def straighten(text: str) -> str:
    """`text` with simplified characters and straight apostrophes, as our patterns are written; positions do not change.

    >>> straighten("I’m 記住")
    "I'm 记住"
    """
    return simplify(text.replace("\u2019", "'"))


# Many write Chinese on a phone with a space for every comma: 「五月说的那个事 你给我删干净」.
_HAN_SPACE = re.compile(r"(?<=[\u3400-\u9fff])[ \u3000](?=[ \u3000]*[\u3400-\u9fff])")
_CHINESE_PAUSE = re.compile("[，。；！？、,;!?]")


def punctuate(text: str) -> str:
    """Chinese without punctuation, with a comma for each space between characters; positions do not change.

    >>> punctuate("我婆婆 贺桂英 七十八"), punctuate("找 张三，谢谢"), punctuate("one two")
    ('我婆婆，贺桂英，七十八', '找 张三，谢谢', 'one two')
    """
    if (" " not in text and "\u3000" not in text) or _CHINESE_PAUSE.search(text):
        return text
    return _HAN_SPACE.sub("，", text)


# As typed on a phone: "im", "u", "hes".
ABBREVIATIONS = dict(
    pair.split(":")
    for pair in re.findall(
        r"\S+",
        """
    u:you ur:your r:are pls:please plz:please dont:don't thx:thanks w:with rmbr:remember abt:about msgs:messages
    msg:message n:and nxt:next dnt:don't im:i'm ive:i've cant:can't wont:won't doesnt:doesn't didnt:didn't isnt:isn't
    wasnt:wasn't thats:that's its:it's hes:he's shes:she's ya:you bc:because cuz:because tmrw:tomorrow smth:something
    every1:everyone id:i'd ill:i'll tho:though
""",
    )
)


# "Ill" and "id" are words too: they are written out only before what "I will" and "I would" are said of.
_ILL_OR_ID = re.compile(
    r"\bi(ll|d)(?= (?:be|go|do|get|have|quit|tell|see|take|try|call|make|give|let|keep|never|always|just|probably|ask|"
    r"come|stay|start|stop|leave|need|want|find|work|talk|text|write|send|bring|pick|pay|miss|wait|visit|move|meet|buy|"
    r"not|finish|rather|love|like|hate|prefer|say|think)\b)"
)
_WRITTEN_OUT = {short: long for short, long in ABBREVIATIONS.items() if short not in ("ill", "id")}


def write_out(text: str) -> str:
    """English as typed on a phone, with its words written out.

    >>> write_out("im allergic n theyre not"), write_out("i havent moved")
    ("I'm allergic and they're not", "I haven't moved")
    >>> write_out("shes ill so ill quit"), write_out("id like my id card")
    ("she's ill so I'll quit", "I'd like my id card")
    """
    written = re.sub(r"\b[a-z1]+\b(?!')", lambda word: _WRITTEN_OUT.get(word[0], word[0]), text)
    written = _ILL_OR_ID.sub(r"I'\1", written)
    written = re.sub(r"\b((?:ha|could|would|should|are|were)(?:ve|s|d)?n)(t)\b", r"\1'\2", written)
    written = re.sub(r"\b(there|who|what|you|they|we)(s|re|ve)\b(?<!were)(?<!whore)", r"\1'\2", written)
    return re.sub(r"\bi\b", "I", written)


def any_word(alternatives: str) -> re.Pattern[str]:
    """A pattern for any of the alternatives of a pattern, in any case; those in Latin letters only as whole words.

    >>> [bool(any_word("job|工作").search(text)) for text in ("My job", "The jobless", "找工作了")]
    [True, False, True]
    """
    parts = re.split(r"\|(?![^(]*\))", alternatives)
    return re.compile("|".join(rf"\b{part}\b" if part.isascii() else part for part in parts), re.I)


# Letters of other scripts that look like Latin ones.
_ALIKE = str.maketrans("аеорсухіѕјԁкмтнвɑɡοαερκντυιӏ", "aeopcyxisjdkmthbagoaepkntuii")
_FOREIGN = re.compile(r"[\u0251\u0261\u0370-\u052f]")
_UNSEEN = re.compile(r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
                     r"\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")  # fmt: skip
# Only these lose their diacritics: й, が and 한 are letters of their own.
_MARKED = re.compile(r"[\u00c0-\u024f\u0300-\u036f\u0489\u1e00-\u1eff\u20d0-\u20ff]+")
_QUOTES = re.compile("['\u2019\u2018`\u00b4\u02bc\uff07]")
# The compatibility form turns Chinese punctuation into ASCII; the Chinese phrases are written with Chinese punctuation.
_SIGN_ZH = re.compile(r"[,!?;:](?<=[\u3400-\u9fff].)")
_WIDE = dict(zip(",!?;:", "，！？；：", strict=True))
_SPACES = re.compile(r"[^\S\n]+")
_LINE_END = re.compile(r" ?\n[ \n]*")
_LONG = re.compile(r"([a-z])\1{2,}")

# Thai, Lao, Burmese, Khmer; Han, kana, Bopomofo. Not Hangul: Korean puts spaces between words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_SIGNS = re.compile(r"[^\w\s]|_")
_ASCII_SIGNS = {code: None if chr(code) in "'`" else " " for code in range(128) if not chr(code).isalnum()}
_NEEDLESS_SPACE = re.compile(rf"(?<=[{_UNSPACED}])\s+|\s+(?=[{_UNSPACED}])")


def plain_form(text: str) -> str:
    """Compatibility forms and case folded, invisible characters and diacritics removed, simplified characters, single
    spaces, line ends kept; without apostrophes, because half of the world leaves them out."""
    if text.isascii():
        plain = text.lower()
    else:
        plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold())
        plain = _MARKED.sub(
            lambda marked: "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFKD", marked[0]))), plain
        )
        if _FOREIGN.search(plain):
            plain = plain.translate(_ALIKE)
        plain = _SIGN_ZH.sub(lambda sign: _WIDE[sign[0]], simplify(plain))
    plain = _QUOTES.sub("", plain)
    plain = _LINE_END.sub("\n", _SPACES.sub(" ", plain))
    return _LONG.sub(r"\1", plain).strip()


def comparable_form(text: str) -> str:
    """The form in which two spellings of the same words are equal; a text of only punctuation keeps it.

    >>> comparable_form("小黑 昨天走丟了！") == comparable_form("小\u200b黑昨天，走丢了")
    True
    >>> comparable_form("Milo's  DEAD…"), comparable_form("?!")
    ('milos dead', '?!')
    """
    if text.isascii():  # same result, 20 times as fast
        words = " ".join(text.lower().translate(_ASCII_SIGNS).split())
        return _LONG.sub(r"\1", words) or " ".join(plain_form(text).split())
    plain = plain_form(text)
    # Punctuation becomes a space; but a vowel sign (Thai, Hindi) is a part of its letter.
    words = _SIGNS.sub(lambda sign: sign[0] if unicodedata.category(sign[0])[0] == "M" else " ", plain)
    words = " ".join(words.split())
    return _NEEDLESS_SPACE.sub("", words) or " ".join(plain.split())


# --- text that can be stored, by one rule for socket, API, /v1, forms, imports, archives and models ---
# NUL is dropped: no language uses it, databases and full-text search cut a text there, and people who typed around it
# lose nothing. Half a surrogate pair becomes U+FFFD, because UTF-8 has no bytes for it.
NUL = "\0"


def storable(text: str) -> str:
    """The text without NUL, and with U+FFFD for each half of a surrogate pair.

    >>> storable("a\\0b \\ud83c"), storable("\\ud83c\\udf19")
    ('ab �', '🌙')
    """
    return text.replace(NUL, "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_nul(value: Any) -> Any:
    """A JSON value without NUL in any of its texts, including field names."""
    if isinstance(value, str):
        return value.replace(NUL, "")
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(name): without_nul(item) for name, item in value.items()}
    return value


def normalize_text(text: str) -> str:
    """The text in lower case and normal width, without punctuation; a text of only punctuation keeps it."""
    plain = fold_text(text)
    return " ".join(_PUNCTUATION.sub(" ", plain).split()) or " ".join(plain.split())


def fold_text(text: str) -> str:
    """The text with case and width folded; punctuation and spaces stay."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


_PUNCTUATION = re.compile(r"[^\w\s]|_")
