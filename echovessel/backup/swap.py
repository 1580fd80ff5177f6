"""Swapping: a restored installation takes the place of another, wholly or not at all.

What is to happen is written down first. From then on it happens: whoever opens the installation next, after whatever
death, goes on where the dead one stopped (`data_dir_lock.enter`). Every step can be told from its outcome:

    staged there                    the old one, where it still stands in its place, goes aside; the staged one takes it
    staged gone                     done before
    nothing staged (`None`)         the old one goes aside, where it is not there already
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
    """One file or folder: what takes its place, if anything does, and where the old one goes."""

    staged: str | None
    place: str
    aside: str

    def carry_out(self) -> None:
        """Replace what is in its place, unless that is done already."""
        place, aside = Path(self.place), Path(self.aside)
        if self.staged is not None and not Path(self.staged).exists():
            return
        if place.exists() and not aside.exists():
            aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.replace(aside)
        if self.staged is not None:
            Path(self.staged).replace(place)


def begin(folder: Path, steps: Sequence[Step]) -> None:
    """Write down what is to happen, for good: the moment from which the restored installation is the one."""
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
    """Do what is written down, as far as it is not done. Call alone (`data_dir_lock`)."""
    journal = folder / JOURNAL
    if not journal.exists():
        return
    steps = [Step(*each) for each in json.loads(journal.read_text())]
    for step in steps:
        step.carry_out()
    for stage in {Path(step.staged).parent for step in steps if step.staged is not None}:
        with contextlib.suppress(OSError):  # gone before, or something else lies in it
            stage.rmdir()
    for touched in sorted({Path(path).parent for step in steps for path in (step.place, step.aside)}):
        if touched.exists():
            sync(touched)
    journal.unlink()
    sync(folder)


def sync(path: Path) -> None:
    """Have a file's content, or a folder's names, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(path: str, flags: int) -> int:
    """An opener of files that their owner alone may read."""
    return os.open(path, flags, mode=0o600)
