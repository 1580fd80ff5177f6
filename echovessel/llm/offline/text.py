"""Reading plain words: language, sentences, clauses, and whether any of some words occur."""

import hashlib
import re
from collections.abc import Iterable, Sequence

CJK = re.compile(r"[\u3400-\u9fff]")
URL = r"(?:https?://|www\.)\S+"
TITLES = "Mr", "Mrs", "Ms", "Dr", "Prof", "St"
NO_TITLE = "".join(rf"(?<!\b{title})" for title in TITLES)
SENTENCE = re.compile(
    rf"(?:{URL}|\S)(?:{URL}|.)*?(?:[。！？!?…]+[”」』\"']?|{NO_TITLE}\.+(?=\s|$)[\"']?|\n|$)", re.DOTALL
)
CLAUSE = re.compile(r"[^,，;；。！？!?…\n]+")


def words(text: str) -> frozenset[str]:
    """The words of `text` as a set."""
    return frozenset(text.split())


def is_chinese(text: str, default: bool = False) -> bool:
    """Whether most letters of `text` are Chinese: three Latin letters weigh as much as one character."""
    han, latin = len(CJK.findall(text)), len(re.findall(r"[A-Za-z]", text))
    return han * 3 >= latin if han or latin else default


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of `text` lie, ends included: `text[start:end]` are the very words.

    >>> [("I am here. 小黑来了。")[a:b] for a, b in sentences("I am here. 小黑来了。")]
    ['I am here.', '小黑来了。']
    """
    spans = ((match.start(), match.start() + len(match[0].rstrip())) for match in SENTENCE.finditer(text))
    return [(start, end) for start, end in spans if end > start]


def clauses(sentence: str) -> list[tuple[int, int]]:
    """Where the parts of `sentence` between its commas lie, without the signs and spaces around them."""
    found = []
    for match in CLAUSE.finditer(sentence):
        bare = match[0].strip()
        if bare:
            start = match.start() + match[0].index(bare)
            found.append((start, start + len(bare)))
    return found


def holds(text: str, wanted: Iterable[str]) -> list[str]:
    """Those of `wanted` that occur in `text`: Latin ones as whole words, Chinese ones anywhere.

    >>> holds("I studied", ["died", "studied"])
    ['studied']
    """
    lower = text.casefold()
    return [word for word in wanted if _occurs(word, lower)]


def _occurs(word: str, lower: str) -> bool:
    # Most words are not there at all, and hundreds are looked for in each reply.
    if word not in lower:
        return False
    return bool(CJK.search(word) or re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", lower))


def pick(options: Sequence[str], seed: str, avoid: str = "") -> str:
    """One of `options`, always the same for the same seed; not one whose beginning is in `avoid`, if
    possible."""
    at = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") % len(options)
    turned = [*options[at:], *options[:at]]
    return next((option for option in turned if option.split("{")[0][:12] not in avoid), turned[0])


def as_sentence(text: str) -> str:
    """`text` with a capital and a full stop.

    >>> as_sentence("you have a cat"), as_sentence("你有只猫")
    ('You have a cat.', '你有只猫。')
    """
    ended = text if re.search(r"[。.!！?？…”\"]$", text) else text + ("。" if CJK.search(text) else ".")
    return ended[:1].upper() + ended[1:]


def clipped(text: str, limit: int) -> str:
    """`text` within `limit` characters, with an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
