"""The messages on which the second detector was trained, in files anybody can read: writer, kind and message, separated
by tabs.

Each writer wrote without seeing the others' messages, or the rules; the fifth, whose messages are short and English
only, had seen some. `cries` are messages beside which help stands, `harmless` ones those beside which it would be wrong
or silly. English everyday messages, beside which help would be wrong, too, come from the training of requests
(`echovessel/language/requests/lines`). The Chinese ones cost 2 of 100 cries (2026-11-23).
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from chat.care.rules import speaks_by_rule
from echovessel.language import requests

FOLDER = Path(__file__).parent
LINES_SHA256_NAME = "lines"
EVERYDAY = Path(requests.__file__).parent / "lines" / "written.en.tsv"
# Of the messages that ask for something, one in so many: they are told in the words of an order.
ONE_REQUEST_IN = 4
# Everyday messages that may be cries; those that the rules hear are left out as well.
_MAY_BE_CRY = re.compile(
    "point of getting up|stops showing up|skipped my meds|hit me|who will remember me|sleeping in the car|self.?harm"
)
_HAN = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True)
class TrainingLine:
    """One message of the training."""

    is_cry: bool
    writer: str
    kind: str
    text: str

    @property
    def language(self) -> str:
        """By script: pinyin is Latin, and is classified as such."""
        return "zh" if _HAN.search(self.text) else "en"


def read_lines() -> list[TrainingLine]:
    lines = []
    for name in ("cries", "harmless"):
        for file in _files(name):
            for row in file.read_text(encoding="utf-8").splitlines():
                if row and not row.startswith("# "):
                    writer, kind, text = row.split("\t")
                    lines.append(TrainingLine(name == "cries", writer, kind, text))
    return lines


def read_everyday() -> list[TrainingLine]:
    """Everyday messages by the writers of `EVERYDAY`: none is a cry."""
    rows = [row.split("\t") for row in EVERYDAY.read_text(encoding="utf-8").splitlines() if not row.startswith("# ")]
    asking = [row for row in rows if row[1] != "none"]
    lines = [
        TrainingLine(False, f"everyday {writer}", "everyday", text)
        for writer, _kind, text in [*(row for row in rows if row[1] == "none"), *asking[::ONE_REQUEST_IN]]
        if not _MAY_BE_CRY.search(text.casefold()) and not speaks_by_rule(text)
    ]
    return [line for line in lines if line.language == "en"]


def fingerprint() -> str:
    """The SHA-256 of the cries and harmless messages, to tell whether a classifier was trained on these."""
    digest = hashlib.sha256()
    for name in ("cries", "harmless"):
        for file in _files(name):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(name: str) -> list[Path]:
    return sorted(FOLDER.glob(f"{name}.*.tsv"))
