"""Undoes UTF-8 that was written as if each of its bytes were a letter: "cafÃ©" for "café". Pure.

Facebook and Instagram write their JSON like this. Their newer files, and files of others, are correct, and a correct
letter must not change. So the whole file is judged first (`MojibakeJudge`): it is garbled only if nearly every run of
letters between U+0080 and U+00FF is UTF-8, and there is no letter beyond them.
"""

import re
from collections.abc import Iterable
from typing import Any

# A backslash with one character, or \u and four digits.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.S)
_RUN = re.compile(r"[\x80-\xff]+")
_WIDE = re.compile(r"[^\x00-\xff]")
_CONTROLS = re.compile(r"[\x80-\x9f]")
_LETTER = r"(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})"
_SEQUENCE = re.compile(_LETTER)
# A run that is cut off within its last letter, as in texts of limited length.
_CUT = re.compile(rf"{_LETTER}*(?:[\xe0-\xef][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{{1,2}})|{_LETTER}+[\xc2-\xf4]")
# The share of runs that may be damaged.
_MAX_DAMAGED_SHARE = 0.1
_MAX_RUN = 100_000


def is_garbled(pieces: Iterable[str]) -> bool:
    """Whether a JSON text, given in pieces, holds UTF-8 written as Latin-1 throughout."""
    judge = MojibakeJudge()
    rest = ""
    for piece in pieces:
        rest += piece
        # Runs and escapes end at a quotation mark.
        end = rest.rfind('"') + 1 or (len(rest) if len(rest) > _MAX_RUN else 0)
        judge.take(rest[:end])
        rest = rest[end:]
        if judge.wide:
            return False
    judge.take(rest)
    return judge.is_garbled


class MojibakeJudge:
    """Counts evidence for and against garbling."""

    def __init__(self) -> None:
        self.wide = False
        self.sure = self.possible = self.impossible = 0

    def take(self, text: str) -> None:
        """Take a part of a JSON text, whose letters may be escaped."""
        if "\\" in text:
            text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else " ", text)
        if text.isascii():
            return
        self.wide = self.wide or _WIDE.search(text) is not None
        for run in _RUN.findall(text):
            decoded = _decoded(run)
            if decoded is None:
                self.impossible += not _CUT.fullmatch(run)
            else:
                # Two letters that look like one garbled letter also occur in correct text: a capital before a sign
                # (É»).
                is_sure = len(decoded) > 1 or len(run) > 2 or run[0] in "\xc2\xc3" or bool(_CONTROLS.search(run))
                self.sure += is_sure
                self.possible += not is_sure

    @property
    def is_garbled(self) -> bool:
        runs = self.sure + self.possible + self.impossible
        return self.sure > 0 and not self.wide and self.impossible <= _MAX_DAMAGED_SHARE * runs


def repair(value: Any, garbled: bool) -> Any:
    """`value` with every text in it repaired. In a file that is not `garbled` as a whole, only texts are repaired that
    cannot be correct, because control characters are among their letters.

    >>> repair({"name": "Zo\\u00c3\\u00ab"}, True), repair("Zo\\u00eb", True), repair("Zo\\u00c3\\u00ab", False)
    ({'name': 'Zoë'}, 'Zoë', 'ZoÃ«')
    """
    if isinstance(value, str):
        if value.isascii() or _WIDE.search(value):
            return value
        if not garbled:
            return (_decoded(value) or value) if _CONTROLS.search(value) else value
        whole = _decoded(value)
        return _SEQUENCE.sub(lambda match: _decoded(match[0]) or match[0], value) if whole is None else whole
    if isinstance(value, list):
        return [repair(item, garbled) for item in value]
    if isinstance(value, dict):
        return {key: repair(item, garbled) for key, item in value.items()}
    return value


def _decoded(run: str) -> str | None:
    try:
        return run.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return None
