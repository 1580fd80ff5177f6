"""The diary that a Replika writes, as text: dates, and below each its entry about the owner.

The words are Replika's, not the owner's: each entry becomes a memory, as in the other forms of the diary.
"""

import re
from collections.abc import Iterator

from django.utils.translation import gettext_lazy

from memory.imports.readers.headings import heading_in
from memory.imports.readers.journal import Journal
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import Entry, Options, ReaderItem, Remembered, Skipped

_LONGEST_TITLE = 60
_SAMPLE_LINES = 200
_WORDS = "diary|diaries|memories|memory|journal|tagebuch|erinnerungen|diario|diário|mémoires|日记|日記|记忆|記憶|일기"
# In the name of the file or the title above it: people who mention a Replika in their own diary do not title it so.
_DIARY = re.compile(rf"replika.{{0,12}}(?:{_WORDS})|(?:{_WORDS}).{{0,12}}replika", re.I)
_TEXTS = (".txt", ".md", ".markdown", "")


class ReplikaText:
    name = "replika_text"
    label = gettext_lazy("Replika (diary as text)")

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths or not sample.name.casefold().endswith(_TEXTS):
            return 0.0
        lines = sample.text.split("\n")[:_SAMPLE_LINES]
        title = next((line for line in lines if line.strip()), "")
        is_called_so = _DIARY.search(sample.name) or (len(title) <= _LONGEST_TITLE and _DIARY.search(title))
        is_dated = any(heading_in(line, begins=True) for line in lines)
        return 0.87 if is_dated and is_called_so else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        for item in Journal().read(source, options):
            if not isinstance(item, Entry) or options.kind == "notes":
                yield item
            elif not item.day:
                yield Skipped(item.location, "document")
            else:
                text = f"{item.title}\n{item.text}" if item.title else item.text
                yield Remembered(text, "diary", item.day, None, item.source_id, item.location)


FORMATS = (ReplikaText(),)
