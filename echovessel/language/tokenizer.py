"""The one tokenizer: what is stored, what is searched and what is forgotten are all cut by it.

`tokenize` turns a text into tokens, `content_words` a question into the tokens worth searching for.

- Unicode NFKC and case folding first; characters that cannot be seen (soft hyphens, joiners, variation
  selectors) go.
- Scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese; also Bopomofo and Hangul, whose particles
  stick to the words) become single characters and overlapping pairs of adjacent ones. Measured on Chinese
  (MemDaily, recall at 10): trigrams 0.687, pairs 0.890, characters and pairs 0.970. A vowel sign or tone mark
  belongs to its character.
- Everything else is words. Latin letters lose their diacritics (people search for "jose" and mean José; tones
  of Vietnamese are the price), other scripts keep theirs (й is not и). Words of ASCII letters are stemmed as
  English, after contractions are undone: "Max's" is "max", "don't" is "dont".
- Digits are kept. Punctuation, underscores and emoji separate words and are dropped.

No token contains white space, quotes or any other ASCII punctuation; FTS5 keeps each as one (see
sqlite/text_index.py). Left out: dictionaries, compound splitting, simplified against traditional Chinese,
stemming of other languages.
"""

import threading
import unicodedata
from itertools import pairwise

import snowballstemmer

from echovessel.language import lazy_re as re
from echovessel.process.word_caches import cached_words

LONGEST = 64  # characters of one word; the rest is cut off (links, keys, pasted noise)

# Blocks of scripts written without spaces. In mixed blocks only letters count, not digits and punctuation.
_UNSPACED_WHOLE = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x20000, 0x3FFFD))
_UNSPACED_MIXED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x31FF),  # 々 〇, Hiragana, Katakana, Bopomofo, Hangul letters
    (0xA9E0, 0xA9FF),  # Burmese extensions
    (0xAA60, 0xAA7F),
    (0x1AFF0, 0x1B16F),  # Kana extensions
)
_LAST_MARK = 0x1FFFF  # above it there are only variation selectors, which are dropped


def _class(chars: list[int]) -> str:
    """The ranges of these code points for a regular expression's character class."""
    ranges: list[list[int]] = []
    for char in chars:
        if ranges and ranges[-1][1] == char - 1:
            ranges[-1][1] = char
        else:
            ranges.append([char, char])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


_LETTERS = [
    char
    for low, high in _UNSPACED_MIXED
    for char in range(low, high + 1)
    if unicodedata.category(chr(char)) in ("Lo", "Lm", "Nl")
]
_UNSPACED = _class(_LETTERS) + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in _UNSPACED_WHOLE)
_MARKS = _class([char for char in range(0x300, _LAST_MARK) if unicodedata.category(chr(char))[0] == "M"])

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u200c-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\uff07]")
_CONTRACTED = re.compile(r"(?<=[^\W\d_])'(?:s|re|ve|ll|d|m)(?![^\W_])")
_NOT_CONTRACTED = re.compile(r"(?<=n)'(?=t(?![^\W_]))")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# ASCII words, the most frequent, are matched first: that is four times faster than testing the classes.
_RUN = re.compile(
    f"((?:[{_UNSPACED}][{_MARKS}]*)+)|([a-z0-9]++(?![^\\x00-\\x7f])|(?:(?![{_UNSPACED}])[^\\W_][{_MARKS}]*)+)"
)
_CHARACTER = re.compile(f"[{_UNSPACED}][{_MARKS}]*")
_LATIN_DIACRITICS = re.compile("(?<=[a-z])[\u0300-\u036f]+")

_stemmer = snowballstemmer.stemmer("english")
_stemming = threading.Lock()  # the stemmer is not thread-safe: it stores its word


def tokenize(text: str) -> list[str]:
    """Return the tokens of `text` in reading order (of an unspaced run: characters, then pairs), with
    repeats.

    >>> tokenize("Max's cats LOVED the café")
    ['max', 'cat', 'love', 'the', 'cafe']
    >>> tokenize("我家小黑3岁了")
    ['我', '家', '小', '黑', '我家', '家小', '小黑', '3', '岁', '了', '岁了']
    """
    text = _fold(text)
    if text.isascii():
        return [_stem(word[:LONGEST]) for word in _ASCII_WORD.findall(text)]
    tokens: list[str] = []
    for unspaced, word in _RUN.findall(text):
        if word:
            tokens.append(_stem(word[:LONGEST]))
        else:
            characters = _CHARACTER.findall(unspaced)
            tokens += characters + [first + second for first, second in pairwise(characters)]
    return tokens


def content_words(text: str) -> list[str]:
    """Return the tokens of a question that show its subject: each once, in order, without function words.

    If nothing else is left ("who are you?"), all tokens are returned.

    >>> content_words("小黑在哪里呢？")
    ['小', '黑', '小黑', '黑在']
    """
    tokens = list(dict.fromkeys(tokenize(text)))
    return [token for token in tokens if not is_function_word(token)] or tokens


def _fold(text: str) -> str:
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", _APOSTROPHES.sub("'", text))).casefold()
        # Both steps can undo the other (ͅ folds to ι), and NFKC may reveal invisible characters.
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    if "'" in text:
        text = _NOT_CONTRACTED.sub("", _CONTRACTED.sub("", text))
    return text


@cached_words(maxsize=65_536)
def _stem(word: str) -> str:
    if not word.isascii():
        bare = _LATIN_DIACRITICS.sub("", unicodedata.normalize("NFD", word))
        word = unicodedata.normalize("NFC", bare)
    if not (word.isascii() and word.isalpha()):
        return word
    with _stemming:
        return _stemmer.stemWord(word)


_ENGLISH = """
a about am an and any are as at be been but by can cant could couldnt did didnt do does doesnt doing dont for
from had has have having he her hers him his how i if in into is isnt it its just me might my no nor not of on
or our ours she should shouldnt so some than that the their theirs them then there these they this those to
too up us very was wasnt we were werent what when where which who whom whose why will with wont would wouldnt
you your yours
"""
FUNCTION_WORDS = frozenset(tokenize(_ENGLISH))
# Function characters: alone, and in pairs of only such characters, they do not show the subject of a question.
_FUNCTION_CHARACTERS = frozenset(
    "的了吗嘛呢吧啊呀哦哪谁么什怎你我他她它您咱们是在还有没不也都就又很太这那里个和与跟及或把被给让对从到着过得地之其而但"
    "のはをにへとがもやかねよだでたてす"
    "은는이가을를의에도"
)
_FUNCTION_PAIRS = frozenset(("ます", "した", "して", "って", "から", "まで", "いる", "ある", "する", "けど"))


def is_function_word(token: str) -> bool:
    if token.isascii():
        return token in FUNCTION_WORDS
    return token in _FUNCTION_PAIRS or _FUNCTION_CHARACTERS.issuperset(token)
