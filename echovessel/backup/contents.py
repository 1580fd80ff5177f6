"""Which files of a data folder belong to an installation, besides its database. Others can be made again or are not
part of it."""

import fnmatch
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# If a backup has no keys, those in the data folder stay: the backed-up installation had them from the environment.
KEYS = ("secret_key", "tombstone_key")
PATTERNS = (*KEYS, "vapid_key.pem", "knobs.toml", "help.*.txt", "media")


def belongs(name: str) -> bool:
    """Whether a file name, relative to the data folder, belongs to an installation.

    >>> belongs("media/7/cat.png"), belongs("media/../../etc/passwd"), belongs("echovessel.sqlite3")
    (True, False, False)
    """
    path = PurePosixPath(name)
    parts = path.parts
    if not parts or path.is_absolute() or ".." in parts or (len(parts) == 1) == (parts[0] == "media"):
        return False
    return _belongs_to_installation(parts[0])


def entries(folder: Path) -> list[str]:
    """The entries of the data folder that belong to the installation: files, and the media folder."""
    return sorted(path.name for path in folder.iterdir() if _belongs_to_installation(path.name))


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield all files of these entries with their names relative to the data folder. Links are not followed."""
    for name in entries(folder):
        path = folder / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.is_symlink():
                yield file.relative_to(folder).as_posix(), file


def _belongs_to_installation(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in PATTERNS)
