"""The archive of a persona: JSON Lines in, everything she remembers restored (design/archive.md)."""

from memory.archive.loading import Imported, import_archive
from memory.archive.records import ArchiveError, BrokenLine

__all__ = ["ArchiveError", "BrokenLine", "Imported", "import_archive"]
