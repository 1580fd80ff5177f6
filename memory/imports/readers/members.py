"""A zip that no format recognizes as a whole: each file in it is read on its own.

The format of each file is recognized by its content. Of chats between people and sessions with a persona only the more
frequent kind is read, because roles of speakers are asked once for all files.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import islice

from memory.imports.readers.contents import kind_of_name
from memory.imports.readers.source import Member, Sample, Source
from memory.imports.readers.types import (
    FileSession,
    Format,
    ImportRejected,
    Options,
    ReaderItem,
    Skipped,
    digest,
    is_between_people,
)
from memory.imports.readers.zips import within

Judge = Callable[[Sample], tuple[float, Format]]
_NO_DATA = frozenset({"pictures", "videos", "recordings", "archives"})
_DOCUMENTS_READ = (".xml",)
# Files from all over the zip that are examined to find out its contents.
_LOOKED_AT = 24
# A file below this, among others, resembles no format: settings have fields, too.
LEAST_LIKENESS = 0.35
# From this on there is little doubt.
_PLAIN_LIKENESS = 0.75


def format_of_most_members(source: Source, judge: Judge) -> tuple[float, Format] | None:
    """The format of most files in a zip, and its likeness; None if they resemble nothing."""
    likeness: dict[str, list[float]] = defaultdict(list)
    formats: dict[str, Format] = {}
    names = [name for name in source.members if _is_readable(name)]
    for name in islice(names[:: len(names) // _LOOKED_AT or 1], _LOOKED_AT):
        likely, file_format = judge(source.sample.inside(name))
        if likely >= LEAST_LIKENESS:
            likeness[file_format.name].append(likely)
            formats[file_format.name] = file_format
    if not formats:
        return None
    best = max(likeness, key=lambda name: (max(likeness[name]) >= _PLAIN_LIKENESS, sum(likeness[name])))
    return max(likeness[best]), formats[best]


def read_members(source: Source, chosen_format: Format, judge: Judge, options: Options) -> Iterator[ReaderItem]:
    """The content of the files that have the chosen format, or as plainly another one of the same kind."""
    known_sessions: set[str] = set()
    begun = False
    for name in source.members:
        member_format = _format_of(source.sample.inside(name), chosen_format, judge) if _is_readable(name) else None
        if member_format is None:
            yield Skipped(name, "media" if kind_of_name(name) in _NO_DATA else "unknown")
            continue
        begun = True
        # Sessions with the same id in two files are different ones.
        own: set[str] = set()
        with within(name):
            try:
                for item in member_format.read(Member(source, name), options):
                    if isinstance(item, FileSession):
                        own.add(item.source_id)
                        is_known = item.source_id in known_sessions
                        yield replace(item, source_id=digest(name, item.source_id)) if is_known else item
                    else:
                        is_elsewhere = isinstance(item, Skipped) and item.location != name
                        yield replace(item, location=f"{name}, {item.location}") if is_elsewhere else item
            except ImportRejected as rejected:
                if rejected.code != "nothing_found":
                    raise
                # An empty file does not affect the others.
                yield Skipped(name, "empty")
        known_sessions |= own
    if not begun:
        raise ImportRejected("member_missing")


def _format_of(sample: Sample, chosen_format: Format, judge: Judge) -> Format | None:
    if chosen_format.resembles(sample) >= _PLAIN_LIKENESS:
        return chosen_format
    likely, file_format = judge(sample)
    if file_format.name == chosen_format.name:
        return chosen_format if likely >= LEAST_LIKENESS else None
    is_kin = is_between_people(file_format) == is_between_people(chosen_format)
    return file_format if likely >= _PLAIN_LIKENESS and is_kin else None


def _is_readable(name: str) -> bool:
    kind = kind_of_name(name)
    return kind not in _NO_DATA and (kind != "documents" or name.casefold().endswith(_DOCUMENTS_READ))


def likely_members(source: Source) -> Collection[str]:
    """Files of a zip that may hold records."""
    return [name for name in source.members if kind_of_name(name) in ("json", "tables", "texts")][:_LOOKED_AT]
