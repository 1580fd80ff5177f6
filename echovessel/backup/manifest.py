"""The manifest: the description of a backup, and reasons not to restore it here."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

DATABASE, FILES = "database.sqlite3", "files.sqlite3"
MEMBERS = (DATABASE, FILES)


class NotABackup(Exception):
    """The file is no backup, or a damaged one; the message says what is wrong."""


class Member(BaseModel):
    model_config = ConfigDict(frozen=True)

    size: int
    sha256: str


class Manifest(BaseModel):
    """The manifest. `migrations`: those applied to the database, by app. `counts`: its rows by table. `seal`: the hash
    of all other fields."""

    model_config = ConfigDict(frozen=True)

    format: Literal["echovessel-backup"] = "echovessel-backup"
    version: Literal[1] = 1
    made_at: AwareDatetime
    encrypted: bool
    migrations: Mapping[str, Sequence[str]]
    counts: Mapping[str, int]
    members: Mapping[str, Member]
    seal: str = ""

    @property
    def applied_migrations(self) -> set[tuple[str, str]]:
        """The applied migrations as (app, name)."""
        return {(app, name) for app, names in self.migrations.items() for name in names}


def write_manifest(manifest: Manifest) -> bytes:
    return manifest.model_copy(update={"seal": _seal(manifest)}).model_dump_json(indent=1).encode() + b"\n"


def read(content: bytes) -> Manifest:
    """Parse and check a manifest. Raises NotABackup."""
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        places = ", ".join(sorted({".".join(map(str, fault["loc"])) or "the whole" for fault in error.errors()}))
        raise NotABackup(f"its manifest is not one of a backup that this version reads ({places})") from error
    if manifest.seal != _seal(manifest):
        raise NotABackup("its manifest is damaged")
    if set(manifest.members) != set(MEMBERS):
        raise NotABackup("its manifest does not list the members of a backup")
    return manifest


def _seal(manifest: Manifest) -> str:
    return hashlib.sha256(manifest.model_copy(update={"seal": ""}).model_dump_json().encode()).hexdigest()


def fault(manifest: Manifest, migrations: Collection[tuple[str, str]], *, has_key: bool) -> str:
    """Why the backup cannot be restored by this version and with this key; "" if it can. `known` are the migrations of
    this version, as (app, name)."""
    if newer := sorted(manifest.applied_migrations - set(migrations)):
        return (
            f"it was made by a newer version (which has {newer[0][0]}.{newer[0][1]}). "
            "Install that version, or a later one."
        )
    if manifest.encrypted and not has_key:
        return "it was made of an encrypted database. Set DATABASE_KEY to the key that it was made with."
    if has_key and not manifest.encrypted:
        return "it was made of a database without a key, and DATABASE_KEY is set. Restore it without."
    return ""
