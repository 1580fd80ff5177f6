"""The archive of a persona as JSON Lines (design/archive.md): loading restores what she remembers, saving writes it."""

from memory.archive.loading import Imported, import_archive
from memory.archive.records import ArchiveError, BrokenLine

__all__ = ["ArchiveError", "BrokenLine", "Imported", "import_archive"]
