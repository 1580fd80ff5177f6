"""What stands beside a line that speaks of a crisis: words of the operator, of the country where people are.

`help.<language>.txt` in the data folder takes the place of the text that comes with EchoVessel (`templates/care`). It
is plain text of a few lines, as it is to be shown: whom to call, and that somebody listens.
"""

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 2_000  # somebody in need reads a few lines


class Unusable(Exception):
    """An operator's file that cannot be shown; the message says why."""


def beside_a_line(persona_language: str) -> tuple[str, ...]:
    """The texts to show: that of the operator's locale, and that of the persona's language where it is another."""
    languages = dict.fromkeys((settings.LANGUAGE_CODE.split("-")[0].lower(), persona_language))
    return tuple(dict.fromkeys(_text(language) for language in languages))


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


def _text(language: str) -> str:
    """The operator's words in a language; where there are none that can be shown, ours."""
    path = Path(settings.DATA_DIR) / f"help.{language}.txt"
    if path.exists():
        try:
            return _read(path)
        except Unusable as error:
            logger.error("%s is not shown: %s", path.name, error)
    return _built_in(language)


@cache
def _built_in(language: str) -> str:
    """Our words in a language, or in English."""
    folder = settings.BASE_DIR / "templates" / "care"
    path = folder / f"help.{language}.txt"
    return (path if path.exists() else folder / "help.en.txt").read_text(encoding="utf-8").strip()
