"""What stands beside a line that speaks of a crisis: words of the operator, of the country where people are.

`help.<language>.txt` in the data folder takes the place of the text that comes with EchoVessel (`templates/care`). It
is plain text of a few lines, as it is to be shown: whom to call, and that somebody listens.
"""

import logging
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 2_000  # somebody in need reads a few lines
CHARACTERS_A_WORD = 1.5  # of Chinese
LEAST_SYLLABLES = 4  # of Pinyin: "he can" would be two
_WORDS, _HAN = re.compile(r"[a-z\u00df-\u024f]+"), re.compile("[\u3400-\u9fff]")
_SYLLABLE = re.compile(
    "(?:[zcs]h|[bpmfdtnlgkhjqxrzcsyw])?(?:iang|iong|uang|ang|eng|ing|ong|iao|ian|uai|uan|ai|ei|ui|ao|ou|iu|ie|ue|ve|er|an|"
    "en|in|un|vn|ia|ua|uo|a|o|e|i|u|v)(?![aeiouv])"
)
_NO_PINYIN = frozenset(
    ["i", "im", "am", "is", "it", "of", "to", "the", "my", "in", "on", "and", "not", "no", "be", "at", "we", "do", "so",
     "this", "that", "was", "for", "cant", "dont"]
)  # fmt: skip
_PINYIN = re.compile(f"(?:{_SYLLABLE.pattern})+")


class Unusable(Exception):
    """An operator's file that cannot be shown; the message says why."""


def help_for_message(persona_language: str, line: str = "") -> tuple[str, ...]:
    """The texts to show: that in the language of the line first, whatever the persona speaks; then that of the
    operator's locale and that of the persona's language, where they are others."""
    languages = [settings.LANGUAGE_CODE.split("-")[0].lower(), persona_language]
    if (written_in := language_of(line)) is not None:
        if not any((language == "zh") == (written_in == "zh") for language in languages):
            languages.append(written_in)
        languages.sort(key=lambda language: (language == "zh") != (written_in == "zh"))
    texts: dict[str, None] = {}
    for language in dict.fromkeys(languages):
        # The operator's words; where there are none that can be shown, ours.
        path = Path(settings.DATA_DIR) / f"help.{language}.txt"
        try:
            texts[_read(path) if path.exists() else _built_in(language)] = None
        except Unusable as error:
            logger.error("%s is not shown: %s", path.name, error)
            texts[_built_in(language)] = None
    return tuple(texts)


def language_of(line: str) -> str | None:
    """ "zh" for a line in Chinese, its Pinyin included; "en" for one in Latin letters, in whatever language; None where
    there is nothing to tell by. Of a mixture it is what most of its words are.

    >>> language_of("我不想活了"), language_of("wo bu xiang huo le"), language_of("I want to die"), language_of("🔪")
    ('zh', 'zh', 'en', None)
    """
    words = _WORDS.findall(line.casefold())
    chinese = len(_HAN.findall(line))
    if not words and not chinese:
        return None
    syllables = sum(len(_SYLLABLE.findall(word)) for word in words if _PINYIN.fullmatch(word))
    if _NO_PINYIN.intersection(words):
        syllables = 0
    is_pinyin = syllables >= LEAST_SYLLABLES and sum(map(bool, map(_PINYIN.fullmatch, words))) >= 0.8 * len(words)
    return "zh" if is_pinyin or chinese / CHARACTERS_A_WORD >= len(words) else "en"


def faults() -> Iterator[tuple[str, str]]:
    """The operator's files that cannot be shown, each with why."""
    for path in sorted(Path(settings.DATA_DIR).glob("help.*.txt")):
        try:
            _read(path)
        except Unusable as error:
            yield path.name, str(error)


def _read(path: Path) -> str:
    """The words of an operator's file. Raises Unusable."""
    try:
        words = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"it cannot be read ({type(error).__name__})") from error
    if not words:
        raise Unusable("it is empty")
    if len(words) > MAX_CHARACTERS:
        raise Unusable(f"it has {len(words):,} characters, and {MAX_CHARACTERS:,} are the most")
    return words


@cache
def _built_in(language: str) -> str:
    """Our words in a language, or in English."""
    folder = settings.BASE_DIR / "templates" / "care"
    path = folder / f"help.{language}.txt"
    return (path if path.exists() else folder / "help.en.txt").read_text(encoding="utf-8").strip()
