"""The messages on which the second detector was trained, in files anybody can read: writer, kind and message, separated
by tabs.

Each writer wrote without seeing the others' messages, or the rules; the fifth, whose messages are short and English
only, had seen some. `cries` are messages beside which help stands, `harmless` ones those beside which it would be wrong
or silly.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LINES_SHA256_NAME = "lines"
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


def fingerprint() -> str:
    """The SHA-256 of all files, to tell whether a classifier was trained on these."""
    digest = hashlib.sha256()
    for name in ("cries", "harmless"):
        for file in _files(name):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(name: str) -> list[Path]:
    return sorted(FOLDER.glob(f"{name}.*.tsv"))
