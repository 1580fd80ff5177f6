"""Writing and reading the one file of a backup."""

import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from echovessel.backup import contents, copy
from echovessel.backup.manifest import MEMBERS, Manifest, Member, NotABackup, read, write_manifest
from echovessel.backup.swap import open_private
from echovessel.db.sqlite.base import Database

MANIFEST = "manifest.json"
MANIFEST_MOST_BYTES = 4_000_000
CHUNK_BYTES = 1 << 20
# https://www.sqlite.org/sqlar.html
SQLAR = "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)"

Progress = Callable[[int], Any]


def describe_member(file: Path) -> Member:
    """The size and hash of a member. No connection has the file open (see `sqlite.raw_bytes`)."""
    with file.open("rb") as content:
        return Member(size=file.stat().st_size, sha256=hashlib.file_digest(content, "sha256").hexdigest())


def pack(to: Path, manifest: Manifest, members: Mapping[str, Path], progress: Progress) -> None:
    """Write the backup and sync it to disk. Only the owner of the file may read it."""
    with (
        open(to, "xb", opener=open_private) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        content = write_manifest(manifest)
        tar.addfile(_entry(MANIFEST, len(content), manifest), io.BytesIO(content))
        for name in MEMBERS:
            with members[name].open("rb") as source:
                tar.addfile(_entry(name, manifest.members[name].size, manifest), _HashingReader(source, progress))
        tar.close()
        file.flush()
        os.fsync(file.fileno())


def manifest_of(file: Path) -> Manifest:
    """Read the manifest of a backup. Raises NotABackup."""
    with _open_tar(file) as tar:
        return _manifest(tar)


def unpack(file: Path, folder: Path, progress: Progress) -> Manifest:
    """Write the members into `folder`, each checked against its hash. Raises NotABackup."""
    with _open_tar(file) as tar:
        manifest = _manifest(tar)
        for name in MEMBERS:
            member = manifest.members[name]
            to = folder / name
            source, size = _next_member(tar, name, member.size)
            digest = hashlib.sha256()
            with open(to, "xb", opener=open_private) as out:
                while chunk := source.read(CHUNK_BYTES):
                    digest.update(chunk)
                    out.write(chunk)
                    progress(len(chunk))
                out.flush()
                os.fsync(out.fileno())
            if size != member.size or digest.hexdigest() != member.sha256:
                raise NotABackup(f"{name} in it does not match its checksum: the file is damaged")
    return manifest


def _manifest(tar: tarfile.TarFile) -> Manifest:
    return read(_next_member(tar, MANIFEST, MANIFEST_MOST_BYTES)[0].read())


def _next_member(tar: tarfile.TarFile, name: str, limit: int) -> tuple[IO[bytes], int]:
    entry = tar.next()
    if entry is None or entry.name != name or not entry.isreg() or entry.size > limit:
        raise NotABackup(f"{name} is not at its place in the backup")
    source = tar.extractfile(entry)
    assert source is not None  # a regular file has content
    return source, entry.size


@contextmanager
def _open_tar(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:") as tar:
            yield tar
    except tarfile.TarError as error:
        raise NotABackup(f"it is not a whole tar file ({error})") from error


def _entry(name: str, size: int, manifest: Manifest) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, int(manifest.made_at.timestamp())
    return entry


class _HashingReader(io.RawIOBase):
    """A file that reports how many bytes were read."""

    def __init__(self, source: IO[bytes], progress: Progress) -> None:
        self.source, self.progress = source, progress

    def read(self, size: int = -1) -> bytes:
        chunk = self.source.read(size)
        self.progress(len(chunk))
        return chunk


# --- files as an SQLite archive -------------------------------------------------------------------------------------
def pack_files(folder: Path, to: Path, key: str) -> None:
    """Write the files that belong to the installation into a new SQLite archive, encrypted with the key."""
    to.touch(mode=0o600)
    with copy.open_copy(to, key) as archive:
        archive.execute(SQLAR)
        archive.execute("BEGIN")
        for name, file in contents.files(folder):
            content, file_stat = file.read_bytes(), file.stat()
            archive.execute(
                "INSERT INTO sqlar VALUES (?, ?, ?, ?, ?)",
                (
                    name,
                    file_stat.st_mode,
                    int(file_stat.st_mtime),
                    len(content),
                    min(zlib.compress(content), content, key=len),
                ),
            )
        archive.execute("COMMIT")


def unpack_files(archive_file: Path, folder: Path, key: str) -> None:
    """Write the files into `folder`, readable only by their owner. Raises NotABackup and NotReadable."""
    with copy.open_copy(archive_file, key) as archive:
        try:
            for name, size, data in archive.execute("SELECT name, sz, data FROM sqlar"):
                content = _file_content(name, size, data)
                if not contents.belongs(name):
                    raise NotABackup(f"it contains a file that does not belong to an installation: {name!r}")
                path = folder / name
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with open(path, "xb", opener=open_private) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
        except Database.DatabaseError as error:
            raise NotABackup("its files cannot be read") from error


def _file_content(name: str, size: int, data: bytes) -> bytes:
    if len(data) == size:
        return data
    try:
        content = zlib.decompressobj().decompress(data, size + 1)
    except zlib.error as error:
        raise NotABackup(f"{name!r} in it cannot be read") from error
    if len(content) != size:
        raise NotABackup(f"{name!r} in it does not have the stated length")
    return content
