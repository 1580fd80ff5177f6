"""The contents of a file without importable content: its kind, the kinds of files in a zip, or the fields of its JSON.

They are one word that can be stored, and that `reasons.describe_contents` puts into a sentence in the reader's
language. It contains no value of the file, and no field name that could be a person's.
"""

import json
import re
from collections import Counter
from itertools import islice

from memory.imports.readers.source import Source
from memory.imports.readers.types import ImportRejected

_SUFFIXES = {
    "pictures": "jpg jpeg png gif webp heic heif bmp tif tiff svg avif",
    "videos": "mp4 mov avi mkv webm 3gp m4v",
    "recordings": "mp3 m4a aac ogg opus wav amr flac silk",
    "pages": "html htm xhtml mhtml",
    "texts": "txt md markdown rtf log",
    "json": "json jsonl ndjson",
    "tables": "csv tsv",
    "documents": "pdf doc docx odt pages xls xlsx ods ppt pptx epub vcf ics xml",
    "archives": "zip rar 7z gz tar tgz bz2 xz",
}
_KIND_OF = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_MAGIC = (
    (b"%PDF", "pdf"), (b"SQLite format 3", "database"), (b"\xff\xd8\xff", "picture"), (b"\x89PNG", "picture"),
    (b"GIF8", "picture"), (b"BM", "picture"), (b"OggS", "recording"), (b"ID3", "recording"), (b"fLaC", "recording"),
    (b"#!AMR", "recording"), (b"\x1f\x8b", "packed"), (b"Rar!", "packed"), (b"7z\xbc\xaf", "packed"),
    (b"BZh", "packed"), (b"\xfd7zXZ", "packed"), (b"\xd0\xcf\x11\xe0", "document"), (b"{\\rtf", "document"),
)  # fmt: skip
_OFFICE = (
    ("word/document.xml", "document"), ("xl/workbook.xml", "spreadsheet"), ("ppt/presentation.xml", "presentation"),
    ("META-INF/container.xml", "book"), ("content.xml", "document"),
)  # fmt: skip
# Field names as programs choose them; longer and other ones may be people's names.
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,29}")
_MAX_FIELDS = 6
_MAX_LINES = 1_000_000


def contents_of(source: Source) -> str:
    """As "kind:pdf", "zip:pictures=214,pages=3", "json:a,b", "text:12"; "" if they are unknown. Never raises."""
    try:
        members = source.members
    except ImportRejected:
        return ""
    sample = source.sample
    if members or sample.head.startswith(b"PK"):
        office = next((kind for name, kind in _OFFICE if name in members), "")
        kinds = Counter(map(kind_of_name, members)).most_common()
        return f"kind:{office}" if office else f"zip:{','.join(f'{kind}={count}' for kind, count in kinds)}"
    head = sample.head
    if head[4:8] == b"ftyp":
        kind = "video"
    else:
        magic_kind = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")
        # Text may begin like a picture.
        kind = "" if magic_kind == "picture" and sample.text else magic_kind
    if kind:
        return f"kind:{kind}"
    # The names of the outermost fields; for an array those of its elements.
    names = {path.removeprefix("item.").removeprefix("item.").partition(".")[0] for path in sample.paths}
    fields = sorted(name for name in names if _FIELD.fullmatch(name) and name != "item")[:_MAX_FIELDS]
    if fields:
        return f"json:{','.join(fields)}"
    if sample.text.strip()[:1] in ("[", "{"):
        # JSON without fields is empty, has only plain values, or is no JSON.
        try:
            return "" if json.loads(sample.text) else "json:"
        except (ValueError, RecursionError):
            return "damaged:"
    if not sample.text.strip():
        return ""
    try:
        return f"text:{sum(1 for line in islice(source.lines(), _MAX_LINES) if line.text.strip())}"
    except ImportRejected:
        return "text:0"


def kind_of_name(name: str) -> str:
    """The kind of a file by its name: "pictures", "json", … or "others"."""
    return _KIND_OF.get(name.rpartition(".")[2].casefold(), "others")
