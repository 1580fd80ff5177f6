"""Harmless messages of all kinds, by many hands: written to train the detector of crises."""

from pathlib import Path

import chat.care.lines

# Who wrote requests and what looks like them, or long sad messages.
OTHERS = ("#", "seventh", "eighth", "ninth")


def everyday_messages(language: str) -> list[str]:
    """What people write every day, in `language`."""
    file = Path(chat.care.lines.__file__).with_name(f"harmless.{language}.tsv")
    rows = file.read_text(encoding="utf-8").splitlines()
    return [row.split("\t")[2] for row in rows if not row.startswith(OTHERS)]
