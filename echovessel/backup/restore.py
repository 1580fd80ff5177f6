"""Restoring a backup: everything is prepared and checked beside the running installation before that is touched.

1. No other process is alive; the backup is intact and can be restored here.
2. From the database to be replaced: read what was forgotten, and which logins and tokens were revoked.
3. Unpack the backup beside it, and migrate its database to this version.
4. In it: settle unfinished work, repeat the forgetting since the backup, apply the revocations.
5. Check that it is intact, and that its memory is in order.
6. Put it in the place of the old installation (`swap`), which is kept aside.
"""

import itertools
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection, connections

from echovessel.backup import contents, create, data_dir_lock, manifest, package, revocations, swap
from echovessel.backup import copy as backup_copy
from echovessel.backup.forget_replay import ForgetLog, ReplayResult, forget_replay
from echovessel.backup.manifest import DATABASE, FILES, Manifest, NotABackup
from echovessel.db.sqlite import erasure, migration_history
from echovessel.db.sqlite.base import Database, key_pragma
from echovessel.db.sqlite.temporary import temporary_database

STAGE = "restoring"
ASIDE = "replaced"
NOTHING_CLOSED = revocations.Revocations()


class RestoreRefused(Exception):
    """Nothing was restored or changed; the message says why."""


@dataclass(frozen=True)
class BackupState:
    """The state of the database to be replaced. `forget_log` is None if there is none, or it cannot be read."""

    exists: bool
    people: int = 0
    forget_log: ForgetLog | None = None
    closed: revocations.Revocations = NOTHING_CLOSED

    @classmethod
    def read(cls, now: datetime) -> "BackupState":
        """The state of the database to be replaced, whatever its condition."""
        if not _database().exists():
            return cls(exists=False)
        try:
            if not connection.introspection.table_names():
                return cls(exists=True, forget_log=ForgetLog())
            return cls(True, User.objects.count(), forget_replay().read_log(), revocations.read_revocations(now))
        except (DatabaseError, ImproperlyConfigured):
            return cls(exists=True)
        finally:
            connections.close_all()

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing of anybody."""
        return not self.exists or (self.forget_log is not None and not self.people)

    def describe_refusal(self) -> str:
        """Why it is only replaced with --force."""
        if self.forget_log is None:
            return (
                "the database that is there cannot be read by this version (migrate it first, or give its "
                "DATABASE_KEY). What was forgotten in it cannot be forgotten again in the backup. Say --force to "
                "replace it all the same."
            )
        return (
            f"{self.people} people have an account here. Say --force to replace it; what is there now is kept aside, "
            f"in {ASIDE}-… of the data folder."
        )


@dataclass(frozen=True)
class RestoreResult:
    """`counts` are the results of `ForgetReplay.check`; `aside` is the folder of the replaced installation, if there
    was one."""

    manifest: Manifest
    before: BackupState
    replayed: ReplayResult | None
    counts: Mapping[str, int]
    aside: Path | None


def restore(
    file: Path, now: datetime, progress: package.Progress, *, force: bool = False, as_it_is: bool = False
) -> RestoreResult:
    """Restore a backup. `force` replaces an installation that has accounts or cannot be read; `as_it_is` accepts a
    memory that is not in order. Raises RestoreRefused, NotABackup, NotReadable, Occupied."""
    with data_dir_lock.acquire_exclusive(_home(), data_dir_lock.PATIENCE_SECONDS):
        backup_manifest = package.manifest_of(file)
        if fault := manifest.fault(backup_manifest, migration_history.known_migrations(), has_key=bool(_key())):
            raise RestoreRefused(fault)
        if fault := migration_history.fault(backup_manifest.applied_migrations):
            raise RestoreRefused(fault)
        before = BackupState.read(now)
        if not before.is_empty and not force:
            raise RestoreRefused(before.describe_refusal())
        needed_bytes = 3 * backup_manifest.members[DATABASE].size + 2 * backup_manifest.members[FILES].size
        if shutil.disk_usage(_database().parent).free < needed_bytes:
            raise RestoreRefused(
                f"there is no space beside the database: {needed_bytes // 1_000_000} MB are needed for a short time"
            )
        with _lock_database(before), _stages():
            receipt, counts = _prepare_stage(file, before, now, progress)
            if counts["pages_damaged"]:
                raise NotABackup("the database in it is damaged")
            if receipt is not None and (
                remaining_places := sorted({hit.place for hit in receipt.hits if hit.form == "id"})
            ):
                raise RestoreRefused(
                    "what was forgotten since the backup could not be forgotten in it: see "
                    f"{', '.join(remaining_places)}"
                )
            violations = [f"{name} {count}" for name, count in counts.items() if count]
            if violations and not as_it_is:
                raise RestoreRefused(
                    f"its memory is not in order ({', '.join(violations)}). Say --as-it-is to restore it all the same; "
                    "where tombstones are of another key, give that key in TOMBSTONE_KEY first."
                )
            # The swap. `aside` is the folder of the replaced installation.
            name = f"{ASIDE}-{now.strftime(create.STAMP)}"
            numbered = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
            places = (_home(), _database().parent)
            name = next(free for free in numbered if not any((folder / free).exists() for folder in places))
            swap.begin(_home(), list(_steps(name)))
            swap.finish(_home())
            aside = _database().parent / name
    return RestoreResult(backup_manifest, before, receipt, counts, aside if before.exists else None)


# --- the installation to be replaced --------------------------------------------------------------------------------
def _home() -> Path:
    return Path(settings.DATA_DIR)


def _database() -> Path:
    return Path(connection.settings_dict["NAME"])


def _key() -> str:
    return str(connection.settings_dict["OPTIONS"].get("key") or "")


@contextmanager
def _lock_database(before: BackupState) -> Iterator[None]:
    """Lock the database to be replaced, so that no other program reads or writes it. Raises Occupied."""
    if before.forget_log is None:
        yield  # there is none, or none that can be locked
        return
    connection = Database.connect(str(_database()), isolation_level=None, timeout=1.0)
    try:
        if _key():
            connection.execute(key_pragma(_key()))
        try:
            # Refused while any other connection is open. Leaves no log behind.
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("BEGIN EXCLUSIVE")
        except Database.OperationalError as error:
            raise data_dir_lock.Occupied from error
        yield
    finally:
        connection.close()


# --- the new installation beside it ---------------------------------------------------------------------------------
@contextmanager
def _stages() -> Iterator[None]:
    """Empty folders for the new installation: one beside the database, one in the data folder. They are often the
    same."""
    folders = {_home() / STAGE, _database().parent / STAGE}
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)  # of a restore that died
        folder.mkdir(mode=0o700)
    try:
        yield
    finally:
        for folder in folders:
            if not swap.is_begun(_home()):
                shutil.rmtree(folder, ignore_errors=True)


def _prepare_stage(
    file: Path, before: BackupState, now: datetime, progress: package.Progress
) -> tuple[ReplayResult | None, dict[str, int]]:
    """Unpack the backup and bring it up to date. Returns the result of the replay and the violated invariants."""
    folder = _database().parent / STAGE
    package.unpack(file, folder, progress)
    package.unpack_files(folder / FILES, _home() / STAGE, _key())
    (folder / FILES).unlink()
    database = folder / DATABASE
    with backup_copy.open_copy(database, _key()) as copy:
        if backup_copy.damage(copy):
            raise NotABackup("the database in it is damaged")
    with _use_restored_tombstone_key(), temporary_database(keep=folder / DATABASE):
        hook = forget_replay()
        hook.settle(now)
        revocations.apply_revocations(before.closed, now)
        receipt = hook.replay(before.forget_log, now) if before.forget_log is not None else None
        counts = hook.check(now)
        erasure.checkpoint(connection)
    swap.sync(folder / DATABASE)
    return receipt, counts


@contextmanager
def _use_restored_tombstone_key() -> Iterator[None]:
    """In the block, tombstones are made with the key that the restored installation will have: the environment's if it
    sets one, else the backup's, else the present one."""
    usual = settings.TOMBSTONE_KEY
    current_key, staged = _home() / "tombstone_key", _home() / STAGE / "tombstone_key"
    is_of_the_file = current_key.exists() and current_key.read_text().strip() == usual
    if is_of_the_file and staged.exists():
        settings.TOMBSTONE_KEY = staged.read_text().strip()
    try:
        yield
    finally:
        settings.TOMBSTONE_KEY = usual


def interrupted_step() -> str:
    """The message for a restore that could not be completed."""
    if swap.is_begun(_home()):
        return "The restore is partly done: once the cause is fixed, the next command completes it."
    return "Nothing was changed."


def _steps(aside: str) -> Iterator[swap.Step]:
    """The swap step of each file: the database first, then the others."""
    home, database = _home(), _database()
    folder = database.parent
    for suffix in ("-wal", "-shm", "-journal"):
        log = f"{database.name}{suffix}"
        yield swap.Step(None, str(folder / log), str(folder / aside / log))
    yield swap.Step(str(folder / STAGE / DATABASE), str(database), str(folder / aside / database.name))
    staged = set(contents.entries(home / STAGE))
    for name in sorted(staged | set(contents.entries(home))):
        if name in staged or name not in contents.KEYS:
            staged_path: Any = str(home / STAGE / name) if name in staged else None
            yield swap.Step(staged_path, str(home / name), str(home / aside / name))
