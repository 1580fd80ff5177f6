"""The data folder of this installation. Django opens it when it loads its first app; importing the settings does
not."""

import contextlib
import os
import secrets
import tomllib
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from echovessel.backup import data_dir_lock


def open_data_dir() -> None:
    """Create the folder, hold its shared lock for the life of this process, and read its keys and knobs into the
    settings. Values from the environment take precedence."""
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data_dir_lock.acquire_shared(folder)  # before anything is read: a restore replaces the files
    try:
        settings.SECRET_KEY  # noqa: B018  (an empty one is refused as it is read)
    except ImproperlyConfigured:
        settings.SECRET_KEY = read_or_create_key(folder / "secret_key")
    # Tombstones are matched by this key only. It starts as a copy of SECRET_KEY and is stored separately, so that
    # tombstones still match after SECRET_KEY is changed.
    settings.TOMBSTONE_KEY = settings.TOMBSTONE_KEY or read_or_create_key(folder / "tombstone_key", settings.SECRET_KEY)
    knobs = folder / "knobs.toml"
    settings.FILE_KNOBS = tomllib.loads(knobs.read_text()) if knobs.exists() else {}
    settings.KNOBS = settings.FILE_KNOBS | settings.KNOBS


def read_or_create_key(path: Path, first: str = "") -> str:
    """The key in `path`, created on the first run (as `first` if given), so that no two installations share a
    default."""
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(first or secrets.token_urlsafe(64))
    return path.read_text().strip()
