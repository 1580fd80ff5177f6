"""The archive of a persona as JSON Lines (design/archive.md): `read` restores a persona's memory, `write` saves it."""

from memory.archive.read import ImportResult, import_archive
from memory.archive.schema import ArchiveError, BrokenLine

__all__ = ["ArchiveError", "BrokenLine", "ImportResult", "import_archive"]
