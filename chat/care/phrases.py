"""The phrases of the first ear, read from files that anybody can read and mend: `phrases.<language>.toml`."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chat.care.phrase import Phrase


def _read(language: str, flags: re.RegexFlag = re.NOFLAG) -> tuple[Phrase, ...]:
    file = tomllib.loads(Path(__file__).with_name(f"phrases.{language}.toml").read_text(encoding="utf-8"))

    def either(alternatives: Sequence[str], flags: re.RegexFlag = flags) -> re.Pattern[str] | None:
        return re.compile("|".join(alternatives), flags) if alternatives else None

    told, own = either(file.get("told", ()), re.NOFLAG), either(file.get("own", ()), re.NOFLAG)

    def phrase(entry: dict[str, Any]) -> Phrase:
        not_before = "|".join(entry.get("not_before", ()))
        is_told = entry.get("not_in_stories", False)
        return Phrase(
            keys=tuple(entry["keys"]),
            words=re.compile("|".join(entry["words"]), flags),
            not_before=re.compile(f"(?:{not_before})$", flags) if not_before else None,
            not_after=either(entry.get("not_after", ())),
            told=told if is_told else None,
            own=own if is_told else None,
        )

    return tuple(phrase(entry) for entry in file["phrase"])


ENGLISH, CHINESE, PINYIN = _read("en", re.ASCII), _read("zh"), _read("pinyin")
