"""Help beside a crisis message: whom to call where the owner lives.

The text that comes with EchoVessel (`templates/care`) names the numbers of the country of the owner's time zone, as far
as they are known. `help.<language>.txt` in the data folder takes its place: a few lines of plain text, as shown.
"""

import logging
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 2_000  # somebody in need reads a few lines
_FOLDER = settings.BASE_DIR / "templates" / "care"
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


def help_for_message(persona_language: str, text: str = "", zone: str = "") -> tuple[str, ...]:
    """The texts to show: first in the language of the message, whatever the persona speaks; then in that of the
    operator's locale and of the persona, where they differ. Where the zone tells the country, these only if they are
    the operator's own: numbers of another country help nobody."""
    languages = [settings.LANGUAGE_CODE.split("-")[0].lower(), persona_language]
    if (written_in := language_of(text)) is not None:
        if not any((language == "zh") == (written_in == "zh") for language in languages):
            languages.append(written_in)
        languages.sort(key=lambda language: (language == "zh") != (written_in == "zh"))
    zones = (
        (country, zone_entry) for country, entry in _numbers()["countries"].items() for zone_entry in entry["zones"]
    )
    country = next(
        (
            country
            for country, zone_entry in zones
            if zone == zone_entry or (zone_entry[-1] == "/" and zone.startswith(zone_entry))
        ),
        "",
    )
    is_in_persona_language = written_in is None or (persona_language == "zh") == (written_in == "zh")
    writers_language = persona_language if is_in_persona_language else languages[0]
    texts: dict[str, None] = {}
    for language in sorted(
        dict.fromkeys(languages), key=lambda language: bool(country) and language != writers_language
    ):
        # The operator's text; without a usable one, ours.
        path = Path(settings.DATA_DIR) / f"help.{language}.txt"
        try:
            words = _read(path) if path.exists() else ""
        except Unusable as error:
            logger.error("%s is not shown: %s", path.name, error)
            words = ""
        if words or not country or language == writers_language:
            texts[words or _built_in(language, country)] = None
    return tuple(texts)


def language_of(text: str) -> str | None:
    """ "zh" for a line in Chinese, its Pinyin included; "en" for one in Latin letters, in whatever language; None where
    there is nothing to tell by. Of a mixture it is what most of its words are.

    >>> language_of("我不想活了"), language_of("wo bu xiang huo le"), language_of("I want to die"), language_of("🔪")
    ('zh', 'zh', 'en', None)
    """
    words = _WORDS.findall(text.casefold())
    chinese = len(_HAN.findall(text))
    if not words and not chinese:
        return None
    syllables = sum(len(_SYLLABLE.findall(word)) for word in words if _PINYIN.fullmatch(word))
    if _NO_PINYIN.intersection(words):
        syllables = 0
    is_pinyin = syllables >= LEAST_SYLLABLES and sum(map(bool, map(_PINYIN.fullmatch, words))) >= 0.8 * len(words)
    return "zh" if is_pinyin or chinese / CHARACTERS_A_WORD >= len(words) else "en"


def faults() -> Iterator[tuple[str, str]]:
    """The operator's files that cannot be shown, each with the reason."""
    for path in sorted(Path(settings.DATA_DIR).glob("help.*.txt")):
        try:
            _read(path)
        except Unusable as error:
            yield path.name, str(error)


def _read(path: Path) -> str:
    """The text of an operator's file. Raises Unusable."""
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
def _built_in(language: str, country: str) -> str:
    """Our text in that language, or in English, with the numbers of the country, or of those where most people live."""
    language = language if (_FOLDER / f"help.{language}.txt").exists() else "en"
    numbers = _numbers()
    entry = numbers["countries"].get(country, numbers["everywhere"])
    line_text: str = entry.get("line", numbers["unlisted"]["line"])[language]
    if country and "line" in entry:
        line_text = numbers["abroad"]["line"][language].format(line=line_text)
    words = (_FOLDER / f"help.{language}.txt").read_text(encoding="utf-8").strip()
    return words.format(emergency=entry["emergency"][language], line=line_text)


@cache
def _numbers() -> dict[str, Any]:
    return tomllib.loads((_FOLDER / "numbers.toml").read_text(encoding="utf-8"))
