"""Readers of files from other systems: they turn a file into plain values, and store nothing.

    with Source(path) as source:
        for found in read(source):
            …

`recognize` finds the format of a file; a person may choose another. The values that readers yield are in `types`, the
reasons for leaving something out in `reasons`.
"""

from collections.abc import Iterator

from memory.imports.readers import (
    cards,
    character_ai,
    chatgpt,
    chatlog,
    claude,
    day_one,
    day_one_text,
    deepseek,
    discord,
    discord_package,
    gemini,
    gemini_page,
    google_chat,
    imessage,
    journal,
    journey,
    kakao_table,
    letta,
    mapper,
    memory_dumps,
    messenger,
    pam,
    replika,
    replika_text,
    role_messages,
    roleplay,
    sillytavern,
    slack,
    sms_backup,
    table,
    telegram,
    transcript,
    wechat,
    whatsapp,
)
from memory.imports.readers.contents import contents_of
from memory.imports.readers.members import format_of_most_members, read_members
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.speakers import Speaker, speakers
from memory.imports.readers.types import Format, ImportRejected, Options, ReaderItem
from memory.imports.readers.web_pages import is_page, refuse_page, refuse_pages

__all__ = ["FORMATS", "Source", "Speaker", "format_named", "read", "recognize", "speakers"]

# In the order in which they are offered to people; of two equally likely formats the earlier is chosen.
FORMATS: tuple[Format, ...] = (
    *chatgpt.FORMATS,
    *claude.FORMATS,
    *gemini.FORMATS,
    *gemini_page.FORMATS,
    *deepseek.FORMATS,
    *whatsapp.FORMATS,
    *imessage.FORMATS,
    *sms_backup.FORMATS,
    *telegram.FORMATS,
    *discord.FORMATS,
    *messenger.FORMATS,
    *discord_package.FORMATS,
    *slack.FORMATS,
    *google_chat.FORMATS,
    *wechat.FORMATS,
    *kakao_table.FORMATS,
    *sillytavern.FORMATS,
    *roleplay.FORMATS,
    *character_ai.FORMATS,
    *role_messages.FORMATS,
    *cards.FORMATS,
    *pam.FORMATS,
    *letta.FORMATS,
    *memory_dumps.FORMATS,
    *replika.FORMATS,
    *replika_text.FORMATS,
    *day_one.FORMATS,
    *day_one_text.FORMATS,
    *journey.FORMATS,
    *transcript.FORMATS,
    *chatlog.FORMATS,
    *journal.FORMATS,
    *table.FORMATS,
    *mapper.FORMATS,
)
# A file below this resembles no format.
_LEAST_LIKENESS = 0.25
# From this on a zip as a whole has a format, and its files need not be looked at one by one.
_SURE_OF_ZIP = 0.75


def recognize(source: Source) -> Format:
    """The format that the beginning of the file resembles most. Raises ImportRejected if it resembles none, or is
    empty, damaged or not text."""
    if not source.size:
        raise ImportRejected("empty")
    likeness, best = _likeliest(source.sample)
    if source.members and likeness < _SURE_OF_ZIP:
        inside = format_of_most_members(source, _likeliest)
        if inside and inside[0] >= max(likeness, _LEAST_LIKENESS):
            return inside[1]
    if likeness >= _LEAST_LIKENESS:
        return best
    refuse_page(source.sample)
    contents = contents_of(source)
    if not source.members and not contents.startswith(("kind:", "zip:")):
        # If the text is broken, that error is the better answer.
        next(iter(source.texts()), None)
    refuse_pages(source.sample)
    labels = ", ".join(str(file_format.label) for file_format in FORMATS)
    raise ImportRejected("unknown_format", source.name, formats=labels, **({"contents": contents} if contents else {}))


def _likeliest(sample: Sample) -> tuple[float, Format]:
    # Only formats that read web pages may read one: to others it is text with many signs.
    formats = [
        file_format for file_format in FORMATS if getattr(file_format, "reads_pages", False) or not is_page(sample)
    ]
    return max(((file_format.resembles(sample), file_format) for file_format in formats), key=lambda pair: pair[0])


def _nothing_found_error(source: Source) -> ImportRejected:
    contents = contents_of(source)
    return ImportRejected("nothing_found", source.name, **({"contents": contents} if contents else {}))


def format_named(name: str) -> Format:
    """The format with this name. Raises KeyError."""
    return {file_format.name: file_format for file_format in FORMATS}[name]


def read(source: Source, chosen_format: Format | None = None, options: Options | None = None) -> Iterator[ReaderItem]:
    """Everything in the file, in its order. Raises ImportRejected while it is read: before the first value if the file
    is not recognized or empty, and also after some."""
    file_format, options = chosen_format or recognize(source), options or Options(limits=source.limits)
    in_members = bool(source.members) and file_format.resembles(source.sample) < _LEAST_LIKENESS
    items = read_members(source, file_format, _likeliest, options) if in_members else file_format.read(source, options)
    try:
        first = next(items, None)
    except ImportRejected as rejected:
        if rejected.code == "nothing_found":
            raise _nothing_found_error(source) from rejected
        raise
    if first is None:
        raise _nothing_found_error(source)
    yield first
    yield from items
