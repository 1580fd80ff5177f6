"""The lines that the second ear was trained with, in files anybody can read: writer, kind and message, by tabs.

Each writer wrote without seeing the others' lines, or the rules; the fifth, whose lines are short and English only, had
seen some. `cries` are lines beside which help stands, `harmless`
ones those beside which it would be wrong or silly.
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
    """One line of the training."""

    is_cry: bool
    writer: str
    kind: str
    text: str

    @property
    def language(self) -> str:
        """By its script: pinyin is Latin, and is heard as such."""
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
    """The SHA-256 of all files, to tell whether a classifier was trained with these."""
    digest = hashlib.sha256()
    for name in ("cries", "harmless"):
        for file in _files(name):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(name: str) -> list[Path]:
    return sorted(FOLDER.glob(f"{name}.*.tsv"))
