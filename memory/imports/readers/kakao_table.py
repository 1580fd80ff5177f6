"""KakaoTalk on a Mac: a table of Date, User and Message. Notices of the app and placeholders are recognized by the same
words as in its text files."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy

from memory.imports.readers.chat_notices import KAKAO_TALK_MEDIA, is_deleted, is_notice
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.lines import message_of, moment, sessions_of
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.table import records, shape_of
from memory.imports.readers.types import FileMessage, ImportRejected, Options, ReaderItem, Skipped, digest

_COLUMNS = ("date", "user", "message")
_MAX_PEOPLE = 5_000


class KakaoTable:
    name = "kakao_table"
    label = gettext_lazy("KakaoTalk (CSV)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths or not sample.text:
            return 0.0
        shape = shape_of(sample.text)
        return 0.95 if shape and tuple(name.casefold() for name in shape.columns) == _COLUMNS else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        shape = shape_of(source.sample.text)
        if shape is None or len(shape.columns) != len(_COLUMNS):
            raise ImportRejected("nothing_found")
        people: set[str] = set()
        for _where, row in records(source, shape):
            if isinstance(row, dict) and len(people) < _MAX_PEOPLE:
                people.add(row.get(shape.columns[1], "").strip())
        places = ContentIds()
        places.begin(source.name)

        def lines() -> Iterator[FileMessage | Skipped]:
            for location, row in records(source, shape):
                if isinstance(row, Skipped):
                    yield row
                    continue
                date, user, text = (row.get(column, "") for column in shape.columns)
                if KAKAO_TALK_MEDIA.fullmatch(text.strip()):
                    yield Skipped(location, "media")
                elif is_deleted(text.strip()):
                    yield Skipped(location, "deleted")
                elif is_notice(text.strip(), people) or not user.strip():
                    yield Skipped(location, "notice")
                else:
                    yield message_of(user.strip(), text, moment(date), location, options.limits, places)

        yield from sessions_of("", digest(self.name, source.name), "", lines(), options.limits)


FORMATS = (KakaoTable(),)
