"""Verification: the places where forgotten text still is. Everything is searched, nothing is assumed.

    text     a value of a table with the text, in whatever case, punctuation and encoding
    digest   a hash of the text, by which a guess can be verified
    words    rows of a text index, or trigrams of a substring index, whose message or memory is gone
    vector   the vector of the text at a memory that does not contain it
    bytes    the text or its vector in a file, where no existing row accounts for it
    id       the id of a forgotten row
    print    eight consecutive words of forgotten text (`memory.erasure.receipts`)
    sealed   a value that cannot be decoded, so that its content is unknown

When a receipt is verified, the same text in a message or memory that was not chosen is no trace: it is counted as kept,
together with values derived from those rows. Bytes that no row uses are searched, too.

The values come from all tables, including those beneath indexes, decoded from JSON, sessions and pickled jobs. A value
that cannot be decoded is searched as it is, and `sealed` reports it.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from django.conf import settings
from django.db import connection

from chat import search as lines
from echovessel.db import text_columns
from echovessel.db.sqlite import erasure
from echovessel.db.sqlite.substrings import LENGTH
from echovessel.db.sqlite.text_index import JOINT, TextIndex
from echovessel.db.text_columns import NO_WORDS, TextColumn, of_form, strings, tables_that_may_name_forgotten
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.plain_text import normalize_text
from memory.erasure.receipts import fingerprints_in
from memory.forgetting.kept_rows import KeptRows, is_written_by_people
from memory.models import NodeVector, Receipt
from memory.store import vectors
from memory.store.deduplication import content_hash

Form = Literal["text", "digest", "words", "vector", "bytes", "id", "print", "sealed"]

MIN_SAME_COSINE = 0.999
_VECTOR_SLICE_BYTES = 64
# Events that name forgotten rows by id on purpose, so that pages drop these.
_EVENTS_NAMING_FORGOTTEN = {"memory.node.forgotten", "chat.session.erased"}
_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BATCH_SIZE = 500
_TAG = re.compile(r"<[^>]*>")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_KEY_FILES = {"secret_key", "tombstone_key"}


@dataclass(frozen=True)
class Value:
    """The value of one column of one row. `row` holds all values of the row, `key` its row id if it has one."""

    table: str
    column: str
    key: int | None
    stored: str | bytes
    row: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"

    @property
    def declaration(self) -> TextColumn:
        """The declaration of its column. A column that no model has (such as an index's), or that cannot hold text,
        counts as wordless."""
        return text_columns.by_place().get(self.name, NO_WORDS)

    def texts(self) -> list[str]:
        """The texts in it: each decoded string, and the visible part of HTML; none in bytes."""
        if isinstance(self.stored, bytes):
            return []
        decode = self.declaration.decode or parse_json
        try:
            parts = list(strings(decode(self.stored)))
        except self.declaration.undecodable:
            parts = [self.stored]
        return [part for text in parts for part in visible_parts(text)]

    @property
    def is_sealed(self) -> bool:
        """Whether it cannot be decoded, so that its content is unknown."""
        decode = self.declaration.decode
        if not isinstance(self.stored, str) or decode is None:
            return False
        try:
            decode(self.stored)
        except self.declaration.undecodable:
            return True
        return False


def values() -> Iterator[Value]:
    """All texts and bytes of the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%%' ORDER BY name"
        )
        tables = cursor.fetchall()
    for table, sql in tables:
        key = "NULL" if sql.rstrip().upper().endswith("WITHOUT ROWID") else "rowid"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {key}, * FROM {connection.ops.quote_name(table)}")
            columns = [column[0] for column in cursor.description[1:]]
            while rows := cursor.fetchmany(BATCH_SIZE):
                for row_id, *stored in rows:
                    row = dict(zip(columns, stored, strict=True))
                    yield from (
                        Value(table, column, row_id, value, row)
                        for column, value in row.items()
                        if value and isinstance(value, str | bytes)
                    )


def visible_parts(text: str) -> list[str]:
    """The text, and its visible part if it is HTML, or its strings if it is JSON."""
    if text[:1] in '{["' and (parsed := parse_json(text)) is not text:
        return [text, *strings(parsed)]
    if "<" in text or "&" in text:
        return [text, html.unescape(_TAG.sub("", text))]
    return [text]


def parse_json(text: str) -> Any:
    if text[:1] not in '{["':
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


# --- the search -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, order=True)
class Hit:
    """The place of a trace: a table and column, or a file; the row id, if there is one; and its form."""

    place: str
    key: int | None = field(compare=False)
    form: Form


def find_texts(texts: Iterable[str]) -> list[Hit]:
    """The places of these texts in the database, its indexes and vectors, and the files of the installation."""
    unique_texts = [text for text in dict.fromkeys(texts) if normalize_text(text)]
    if not unique_texts:
        return []
    embedded = embedding.embed(unique_texts if NodeVector.objects.exists() else [])  # empty if no memory has a vector
    needles = [window for text in unique_texts for form in erasure.forms(text) for window in erasure.windows(form)]
    for vector in embedded:
        stored = vector.astype("<f4").tobytes()
        needles += [
            stored[first : first + _VECTOR_SLICE_BYTES] for first in range(0, len(stored), 8 * _VECTOR_SLICE_BYTES)
        ]
        with connection.cursor() as cursor:
            cursor.execute("SELECT vec_quantize_binary(%s)", [stored])
            needles.append(bytes(cursor.fetchone()[0]))
    search = _Search(unique_texts, erasure.traces(files(), needles))
    return [
        *(hit for value in values() for hit in search.find_in_value(value)),
        *search.unaccounted_bytes(),
        *(hit for text in unique_texts for hit in _find_in_indexes(text)),
        *_find_vectors(unique_texts, embedded),
    ]


@dataclass(frozen=True)
class Proof:
    """The places of remaining traces, and the number of kept messages with the same text."""

    hits: list[Hit]
    kept_messages: int


def prove(receipts: Iterable[Receipt]) -> Proof:
    """Search everywhere for traces of what these receipts report as forgotten."""
    deleted_ids, prints = set[str](), set[str]()
    for receipt in receipts:
        deleted_ids |= {str(uuid).replace("-", "") for ids in receipt.erased.values() for uuid in ids}
        prints |= set(receipt.prints)
    kept_rows = KeptRows.of(prints, deleted_ids)
    hits = [hit for value in values() for hit in _find_traces(value, deleted_ids, prints, kept_rows)]
    # Search the database files for these fingerprints outside of rows. Kept text is no trace there: when tables grow,
    # rows move and leave their bytes behind.
    lost_prints = prints - kept_rows.prints
    for path, texts in (erasure.leftovers(erasure.files(connection)) if lost_prints else {}).items():
        unescaped = (_ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) for text in texts if "\\u" in text)
        if any(
            key in lost_prints for text in chain(texts, unescaped) for key in fingerprints_in(tokenizer.tokenize(text))
        ):
            hits.append(Hit(path.name, None, "bytes"))
    return Proof(hits, kept_rows.messages)


def files() -> list[Path]:
    """Every file that may contain text of people: the database, its log, and the data folder with media; not keys and
    static files."""
    static = Path(settings.STATIC_ROOT)
    paths = {path for root in (settings.DATA_DIR, settings.MEDIA_ROOT) for path in Path(root).rglob("*")}
    data_files = {
        path for path in paths if path.is_file() and static not in path.parents and path.name not in _KEY_FILES
    }
    return sorted(data_files | set(erasure.files(connection)))


class _Search:
    """Searches values for the texts, and tracks which bytes found in files are accounted for."""

    def __init__(self, texts: Sequence[str], in_files: dict[bytes, list[Path]]) -> None:
        self.normalized_texts = [normalize_text(text) for text in texts]
        self.token_texts = [f" {' '.join(tokenizer.tokenize(text))} " for text in texts if tokenizer.tokenize(text)]
        self.hashes = {content_hash(text) for text in texts}
        self.in_files = in_files
        self.accounted = set[bytes]()

    def find_in_value(self, value: Value) -> Iterator[Hit]:
        # Bytes of an existing row are no trace of a deleted one.
        stored = value.stored if isinstance(value.stored, bytes) else value.stored.encode(errors="surrogatepass")
        self.accounted |= {needle for needle in self.in_files.keys() - self.accounted if needle in stored}
        if value.declaration.form == "terms":
            if any(token_text in f" {value.stored!s} " for token_text in self.token_texts):
                yield Hit(value.name, value.key, "words")
            return
        if value.stored in self.hashes:
            yield Hit(value.name, value.key, "digest")
        if value.is_sealed:
            yield Hit(value.name, value.key, "sealed")
        contents = [normalize_text(text) for text in value.texts()]
        if any(plain in text for plain in self.normalized_texts for text in contents):
            yield Hit(value.name, value.key, "text")

    def unaccounted_bytes(self) -> list[Hit]:
        """Bytes in files that no row accounts for; outside the database files every match is a trace."""
        database = set(erasure.files(connection))
        return sorted(
            {
                Hit(path.name, None, "bytes")
                for needle, paths in self.in_files.items()
                for path in paths
                if path not in database or needle not in self.accounted
            }
        )


def _find_in_indexes(text: str) -> list[Hit]:
    """Rows that an index has for all words or all trigrams of the text, and that its table does not have."""
    hits: list[Hit] = []
    for index in (lines.INDEX, vectors.TEXT):
        hits += [
            Hit(index.name, key, "words")
            for key in _rows_missing_from(index.table, index.key, rows_with_all_words(index, text))
        ]
    for substrings in (lines.SUBSTRINGS, vectors.SUBSTRINGS):
        has_triples = len(text) >= LENGTH and "\0" not in text
        rows = set(substrings.holding(connection, text)) if has_triples else set()
        hits += [
            Hit(substrings.name, key, "words") for key in _rows_missing_from(substrings.table, substrings.key, rows)
        ]
    return hits


def rows_with_all_words(index: TextIndex, text: str) -> set[int]:
    """The rows of an index with all words of the text, in any persona's scope, including deleted rows."""
    words = tokenizer.content_words(text)
    if not words:
        return set()
    with connection.cursor() as cursor:
        for name, kind in (("terms", "row"), ("docs", "instance")):
            cursor.execute(f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab(main, '{index.name}', '{kind}')")
        try:
            cursor.execute(
                f"SELECT substr(term, 1, instr(term, '{JOINT}')), group_concat(term, char(10)) FROM temp.terms "
                f"WHERE substr(term, instr(term, '{JOINT}') + 1) IN (SELECT value FROM json_each(%s)) GROUP BY 1",
                [json.dumps(words)],
            )
            scopes = [terms.split("\n") for _, terms in cursor.fetchall()]
            rows = set[int]()
            for terms in (terms for terms in scopes if len(terms) == len(words)):
                documents: list[set[int]] = []
                for term in terms:
                    cursor.execute("SELECT DISTINCT doc FROM temp.docs WHERE term = %s", [term])
                    documents.append({row for (row,) in cursor.fetchall()})
                rows |= set.intersection(*documents)
            return rows
        finally:
            cursor.execute("DROP TABLE temp.terms")
            cursor.execute("DROP TABLE temp.docs")


def _rows_missing_from(table: str, key: str, rows: set[int]) -> list[int]:
    """The rows that the table does not have."""
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT value FROM json_each(%s) WHERE value NOT IN (SELECT "{key}" FROM "{table}")',
            [json.dumps(sorted(rows))],
        )
        return [row for (row,) in cursor.fetchall()]


def _find_vectors(texts: Sequence[str], embedded: np.ndarray) -> list[Hit]:
    """Memories with the vector of a text that they do not contain."""
    if not len(embedded):
        return []
    plain = [normalize_text(text) for text in texts]
    hits: list[Hit] = []
    for model, name, _column in of_form("vector"):
        rows = model._default_manager.values_list("node_id", "node__description", name)
        for key, description, stored in rows.iterator(chunk_size=BATCH_SIZE):
            if len(stored) != embedded.shape[1] * 4:
                continue
            near = np.flatnonzero(embedded @ np.frombuffer(stored, dtype="<f4") >= MIN_SAME_COSINE)
            content = normalize_text(description or "")
            if any(plain[place] not in content for place in near):
                hits.append(Hit(f"{model._meta.db_table}.{name}", key, "vector"))
    return hits


def _find_traces(value: Value, deleted_ids: set[str], prints: set[str], kept_rows: KeptRows) -> Iterator[Hit]:
    is_published = value.table == "outbox_outboxevent" and value.row["name"] in _EVENTS_NAMING_FORGOTTEN
    if isinstance(value.stored, bytes) or is_published or value.table in tables_that_may_name_forgotten():
        return
    texts = value.texts()
    if deleted_ids and any(
        uuid_text.replace("-", "") in deleted_ids for text in texts for uuid_text in _ID.findall(text)
    ):
        yield Hit(value.name, value.key, "id")
    if prints and not value.declaration.cut_in and not is_written_by_people(value):
        is_tokenized = value.declaration.form == "terms"
        # Most values are one word (a key, a digest, a code), and need not be tokenized.
        multiword_texts = (text for text in texts if not (text.isascii() and text.isalnum()))
        tokens = (text.split() if is_tokenized else tokenizer.tokenize(text) for text in multiword_texts)
        found_prints = {
            fingerprint
            for text_tokens in tokens
            for fingerprint in fingerprints_in(text_tokens)
            if fingerprint in prints
        }
        if found_prints and not found_prints <= kept_rows.accounting_for(value, texts):
            yield Hit(value.name, value.key, "print")
