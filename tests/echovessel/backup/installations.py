"""A whole installation in a folder, without its processes: what a backup is made of, and restored into."""

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, connections

from memory.store.checks import check
from persona.onboarding.creation import create_persona
from tests.memory.forgetting.life import NOW, Life, lived

DATABASE = "echovessel.sqlite3"


@dataclass
class House:
    """Its data folder, and where its backups go."""

    data: Path
    backups: Path

    @property
    def database(self) -> Path:
        return self.data / DATABASE

    def live(self) -> Life:
        """Have somebody live in it."""
        return lived(create_persona(User.objects.create_superuser("ana"), "Mira", user_name="Ana"))

    def back_up(self, *options: str) -> Path:
        return Path(call_command("backup", str(self.backups), *options, stdout=io.StringIO(), stderr=io.StringIO()))

    def restore(self, file: Path, *options: str) -> "Told":
        out, err = io.StringIO(), io.StringIO()
        call_command("restore", str(file), *options, stdout=out, stderr=err)
        return Told(out.getvalue(), err.getvalue())

    def all(self) -> dict[str, bytes]:
        """Every file of the data folder but the lock, by name. Nothing has the database open then."""
        connections.close_all()
        return {
            path.relative_to(self.data).as_posix(): path.read_bytes()
            for path in sorted(self.data.rglob("*"))
            if path.is_file() and path.name != "lock"
        }


@dataclass
class Told:
    """What the command said."""

    out: str
    err: str

    @property
    def counts(self) -> dict[str, int]:
        return {name: int(count) for name, count in (line.split() for line in self.out.splitlines())}

    @property
    def is_in_order(self) -> bool:
        return self.counts.keys() == check(NOW).keys() and not any(self.counts.values())


@contextmanager
def at(data: Path, key: str = "") -> Iterator[None]:
    """While this lasts the installation is the one in this folder."""
    usual: Any = connection.settings_dict["NAME"], settings.DATA_DIR, settings.TOMBSTONE_KEY
    connections.close_all()
    connection.settings_dict["NAME"] = data / DATABASE
    connection.settings_dict["OPTIONS"]["key"] = key
    settings.DATA_DIR, settings.TOMBSTONE_KEY = data, (data / "tombstone_key").read_text()
    try:
        yield
    finally:
        connections.close_all()
        connection.settings_dict["OPTIONS"]["key"] = ""
        connection.settings_dict["NAME"], settings.DATA_DIR, settings.TOMBSTONE_KEY = usual


def furnished(data: Path, empty_database: Path) -> Path:
    """The data folder of an installation in which nobody lives yet."""
    data.mkdir(mode=0o700)
    (data / "media").mkdir()
    (data / "media" / "sea.txt").write_text("a picture of the sea")
    for name in ("secret_key", "tombstone_key"):
        (data / name).write_text(f"the {name} of {data.name}")
    (data / "knobs.toml").write_text('"chat.idle_minutes" = 20\n')
    shutil.copy(empty_database, data / DATABASE)
    return data
