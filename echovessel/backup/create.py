"""Making a backup, and deciding which older ones to delete."""

import re
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from django.apps import apps
from django.conf import settings
from django.db import connection

from echovessel.backup import copy as backup_copy
from echovessel.backup import package, swap
from echovessel.backup.manifest import DATABASE, FILES, Manifest, NotABackup
from echovessel.jobs import lease

FOLDER = "backups"
STAMP = "%Y%m%dT%H%M%SZ"
NAME = re.compile(r"echovessel-(\d{8}T\d{6}Z)\.tar")
PART = ".echovessel-backup-"  # prefix of the temporary folders of backups in progress
ARCHIVE = "backup.tar"


class CannotBackUp(Exception):
    """No backup was made; the message says why."""


def default_place(now: datetime) -> Path:
    return timestamped_name(Path(settings.DATA_DIR) / FOLDER, now)


def timestamped_name(folder: Path, now: datetime) -> Path:
    """
    >>> timestamped_name(Path("b"), datetime(2026, 3, 5, 12, 0, tzinfo=UTC)).name
    'echovessel-20260305T120000Z.tar'
    """
    return folder / f"echovessel-{now.astimezone(UTC).strftime(STAMP)}.tar"


def create_backup(file: Path, now: datetime, progress: package.Progress, *, with_model_key: bool = False) -> Manifest:
    """Write a backup of the running installation; the file appears when it is complete. Raises CannotBackUp if `file`
    exists and is no backup, if there is no space, and if the database is missing or damaged.

    The key of the connected model is included only `with_model_key`: anybody with the backup could use it.
    """
    if not _database().exists():
        raise CannotBackUp(f"there is no database at {_database()}")
    if file.exists():  # a backup may replace a backup, and nothing else
        try:
            package.manifest_of(file)
        except NotABackup as error:
            raise CannotBackUp(f"{file} exists already, and is no backup") from error
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    needed_bytes = 2 * _database().stat().st_size
    if shutil.disk_usage(file.parent).free < needed_bytes:
        raise CannotBackUp(
            f"there is no space in {file.parent}: {needed_bytes // 1_000_000} MB are needed for a short time"
        )
    for stale_part in file.parent.glob(f"{PART}*"):  # of a backup whose process died
        if lease.is_dead(stale_part.name.removeprefix(PART)):
            shutil.rmtree(stale_part, ignore_errors=True)
    prefix = f"{PART}{lease.new_holder()}:"
    with TemporaryDirectory(prefix=prefix, dir=file.parent, ignore_cleanup_errors=True) as folder:
        # First the members, then the tar.
        archive = Path(folder, ARCHIVE)
        key = connection.settings_dict["OPTIONS"].get("key", "")
        members = {name: archive.with_name(name) for name in (DATABASE, FILES)}
        backup_copy.copy(connection, members[DATABASE])
        package.pack_files(Path(settings.DATA_DIR), members[FILES], key)
        with backup_copy.open_copy(members[DATABASE], key) as copy:
            if backup_copy.damage(copy):
                raise CannotBackUp("the database is damaged: run manage.py check_memory")
            if not with_model_key:
                backup_copy.erase_model_key(copy)
            counts, migrations = backup_copy.count_rows(copy, tables()), backup_copy.migrations(copy)
        manifest = Manifest(
            made_at=now,
            encrypted=bool(key),
            migrations=migrations,
            counts=counts,
            members={name: package.describe_member(path) for name, path in members.items()},
        )
        package.pack(archive, manifest, members, progress)
        archive.replace(file)
    swap.sync(file.parent)
    return manifest


def outdated_backups(files: Iterable[Path], now: datetime, keep: int | None, keep_days: int | None) -> list[Path]:
    """The timestamped backups to delete: beyond the newest `keep`, or older than `keep_days`. The newest is never
    deleted."""
    backups = sorted(
        (
            (datetime.strptime(match[1], STAMP).replace(tzinfo=UTC), file)
            for file in files
            if (match := NAME.fullmatch(file.name))
        ),
        reverse=True,
    )
    return [
        file
        for place, (at, file) in enumerate(backups)
        if place > 0
        and ((keep is not None and place >= keep) or (keep_days is not None and now - at > timedelta(days=keep_days)))
    ]


def _database() -> Path:
    return Path(connection.settings_dict["NAME"])


def tables() -> list[str]:
    """The tables of all models."""
    return [model._meta.db_table for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]


def rotate(folder: Path, now: datetime, keep: int | None, keep_days: int | None) -> Sequence[Path]:
    """Delete the outdated backups and return their paths."""
    outdated = outdated_backups(folder.iterdir(), now, keep, keep_days)
    for file in outdated:
        file.unlink()
    return outdated
