"""Swapping: a restored installation takes the place of another one, completely or not at all.

The steps are written to a journal first. From then on they will be carried out: after a crash, the next process that
opens the installation continues where the last one stopped (`data_dir_lock.acquire_shared`). Each step can see whether
it is done:

    staged file there               the old one, if still in place, is moved aside; the staged one takes its place
    staged file gone                done before
    nothing staged (`None`)         the old one is moved aside, unless it is there already
"""

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

JOURNAL = "restore.json"


@dataclass(frozen=True)
class Step:
    """One file or folder: its replacement, if any, and where the old one is moved."""

    staged: str | None
    place: str
    aside: str

    def carry_out(self) -> None:
        """Replace what is in `place`, unless that is done already."""
        place, aside = Path(self.place), Path(self.aside)
        if self.staged is not None and not Path(self.staged).exists():
            return
        if place.exists() and not aside.exists():
            aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.replace(aside)
        if self.staged is not None:
            Path(self.staged).replace(place)


def begin(folder: Path, steps: Sequence[Step]) -> None:
    """Write the journal durably: from this moment the restored installation is the valid one."""
    part = folder / f"{JOURNAL}.part"
    with open(part, "w", opener=open_private) as file:
        json.dump([astuple(step) for step in steps], file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / JOURNAL)
    sync(folder)


def is_begun(folder: Path) -> bool:
    return (folder / JOURNAL).exists()


def finish(folder: Path) -> None:
    """Carry out the remaining steps of the journal. Requires the exclusive lock (`data_dir_lock`)."""
    journal = folder / JOURNAL
    if not journal.exists():
        return
    steps = [Step(*record) for record in json.loads(journal.read_text())]
    for step in steps:
        step.carry_out()
    for stage in {Path(step.staged).parent for step in steps if step.staged is not None}:
        with contextlib.suppress(OSError):  # removed before, or not empty
            stage.rmdir()
    for touched in sorted({Path(path).parent for step in steps for path in (step.place, step.aside)}):
        if touched.exists():
            sync(touched)
    journal.unlink()
    sync(folder)


def sync(path: Path) -> None:
    """Sync a file's content, or a folder's entries, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(path: str, flags: int) -> int:
    """An opener for files that only their owner may read."""
    return os.open(path, flags, mode=0o600)
