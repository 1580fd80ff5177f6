"""The full name of an embedding model: everything that decides its vectors, in one line, stored with them and in
archives.

    all-MiniLM-L6-v2+cc-cedict                       the bundled model, which reads Chinese through a dictionary
    /srv/models/bge-m3, intfloat/multilingual-e5-small    sentence-transformers, by folder or by name
    server:nomic-embed-text?dimensions=256           a server with OpenAI's protocol, at EMBEDDING_BASE_URL
    server:my-model?document=passage%3A+&query=query%3A+  with prefixes that are not those of FAMILIES

The server's address and key are not part of it: the same model makes the same vectors anywhere. So two processes with
different settings read the same name from the database, and embed alike or not at all.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings

from echovessel.embeddings import bundled_model

PLAIN = bundled_model.NAME
# The same model with Chinese translated word by word, since it was trained almost only on English.
BUNDLED = f"{PLAIN}+cc-cedict"
SERVER = "server:"
MIN_DIMENSION, MAX_DIMENSION = 64, 4_096
POOLINGS = ("mean", "cls", "lasttoken")

Source = Literal["bundled", "local", "server"]


@dataclass(frozen=True)
class Family:
    """Requirements of a family of models: the prefixes of queries and of searched texts, how token vectors become one
    vector, and whether a vector may be shortened (Matryoshka; None: unknown)."""

    pattern: str
    query: str = ""
    document: str = ""
    pooling: str = ""
    is_shortenable: bool | None = False


_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_INSTRUCTION = f"Instruct: {_TASK}\nQuery:"
_REPRESENT = "Represent this sentence for searching relevant passages: "
# Matched against the last part of the name; the first match counts (from the models' own cards, 2026-11). Names without
# prefixes imply these entries: changing one would give stored vectors another meaning.
FAMILIES = (
    Family(r"multilingual-e5-\w+-instruct", f"Instruct: {_TASK}\nQuery: ", "", "mean"),
    Family(r"e5-mistral", f"Instruct: {_TASK}\nQuery: ", "", "lasttoken"),
    Family(r"\be5-", "query: ", "passage: ", "mean"),
    Family(r"\bbge-m3", pooling="cls"),
    Family(r"\bbge-\w+-zh", "为这个句子生成表示以用于检索相关文章：", "", "cls"),
    Family(r"\bbge-\w+-en|\bbge-(?:small|base|large)", _REPRESENT, "", "cls"),
    Family(r"gte-qwen", f"Instruct: {_TASK}\nQuery: ", "", "lasttoken"),
    Family(r"gte-multilingual|gte-\w+-en-v1\.5", pooling="cls", is_shortenable=None),
    Family(r"\bgte-", pooling="mean"),
    Family(r"nomic-embed-text", "search_query: ", "search_document: ", "mean", is_shortenable=True),
    Family(r"qwen3-embedding", _INSTRUCTION, "", "lasttoken", is_shortenable=True),
    Family(r"mxbai-embed", _REPRESENT, "", "cls", is_shortenable=True),
    Family(r"jina-embeddings?-v2", pooling="mean"),
    Family(
        r"jina-embeddings?-v3",
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
        "mean",
        is_shortenable=True,
    ),
    Family(r"jina-embeddings?-v[4-9]", "Query: ", "Passage: ", is_shortenable=True),
    Family(r"arctic-embed-\w+-v2|arctic-embed2", "query: ", "", "cls", is_shortenable=True),
    Family(r"arctic-embed", _REPRESENT, "", "cls", is_shortenable=None),
    Family(r"embedding-?gemma", "task: search result | query: ", "title: none | text: ", "mean", is_shortenable=True),
    Family(r"text-embedding-3", is_shortenable=True),
    Family(r"text-embedding-ada|all-minilm|all-mpnet|paraphrase-multilingual|\blabse"),
)
UNKNOWN = Family("", is_shortenable=None)


@dataclass(frozen=True)
class ModelSpec:
    """A parsed full name. `model` is the name for the library or the server; `dimensions` is the size to which vectors
    are shortened, or 0."""

    source: Source
    model: str
    dimensions: int = 0
    query_prefix: str = ""
    document_prefix: str = ""
    pooling: str = ""

    def fault(self) -> str:
        """Why the model cannot be used with these settings; "" if it can."""
        if self.dimensions and not MIN_DIMENSION <= self.dimensions <= MAX_DIMENSION:
            return f"EMBEDDING_DIMENSIONS is {self.dimensions}; it must be {MIN_DIMENSION} to {MAX_DIMENSION:,}."
        if self.dimensions and family_of(self.model).is_shortenable is False:
            return f"vectors of {self.model} must not be shortened: leave EMBEDDING_DIMENSIONS out."
        if self.pooling and self.pooling not in POOLINGS:
            return f"EMBEDDING_POOLING is {self.pooling!r}; it is one of {', '.join(POOLINGS)}."
        if self.source == "server":
            return server_fault(settings.EMBEDDING_BASE_URL, self.model)
        return ""


def server_fault(url: str, model: str) -> str:
    """Why `url` cannot be used as a server's address; "" if it can."""
    if not url:
        return f"EMBEDDING_BASE_URL is not set: the embedding model {model} is one of a server."
    try:
        address = urlsplit(url)
        is_whole = address.scheme in ("http", "https") and address.hostname and (address.port or 1)
    except ValueError:
        is_whole = False
    if not is_whole:
        return "EMBEDDING_BASE_URL is no address of a server: write http:// or https://, a host, a port, and /v1."
    if address.username or address.query or address.fragment:
        return "EMBEDDING_BASE_URL holds more than an address: a key belongs into EMBEDDING_API_KEY."
    return ""


def full_name(model: str) -> str:
    """The name that identifies a model in every process: for a folder its absolute path. The bundled model's name
    includes its treatment of Chinese, since its plain name once stood for other vectors. A name without options gets
    those of the settings."""
    if model in (PLAIN, BUNDLED):
        return BUNDLED
    base, has_options, options = model.partition("?")
    folder: Path = settings.BASE_DIR / base
    if not base.startswith(SERVER):
        if folder.is_dir():
            base = str(folder.resolve())
        elif settings.EMBEDDING_BASE_URL:
            base = f"{SERVER}{base}"
    return f"{base}?{options}" if has_options else f"{base}{_options_of_settings(base)}"


def _options_of_settings(base: str) -> str:
    family = family_of(base)
    options: dict[str, str] = {}
    if settings.EMBEDDING_DIMENSIONS:
        options["dimensions"] = str(settings.EMBEDDING_DIMENSIONS)
    for name, value, usual in (
        ("document", settings.EMBEDDING_DOCUMENT_PREFIX, family.document),
        ("pooling", settings.EMBEDDING_POOLING or None, family.pooling),
        ("query", settings.EMBEDDING_QUERY_PREFIX, family.query),
    ):
        # A server does its own pooling.
        if value not in (None, usual) and not (name == "pooling" and base.startswith(SERVER)):
            options[name] = value
    return f"?{urlencode(options)}" if options else ""


@lru_cache(maxsize=64)
def parse(name: str) -> ModelSpec:
    """The spec of a full name.

    >>> parse("server:nomic-embed-text?dimensions=256").query_prefix
    'search_query: '
    """
    if name in (PLAIN, BUNDLED):
        return ModelSpec("bundled", name)
    base, _, rest = name.partition("?")
    options, model = dict(parse_qsl(rest, keep_blank_values=True)), base.removeprefix(SERVER)
    family = family_of(model)
    size = options.get("dimensions", "")
    return ModelSpec(
        source="server" if base.startswith(SERVER) else "local",
        model=model,
        dimensions=int(size) if size.isdecimal() else 0,
        query_prefix=options.get("query", family.query),
        document_prefix=options.get("document", family.document),
        pooling=options.get("pooling", "" if base.startswith(SERVER) else family.pooling),
    )


def family_of(model: str) -> Family:
    """The family of a model by its name, whoever serves it.

    >>> family_of("intfloat/multilingual-e5-small").document, family_of("qwen3-embedding:0.6b").pooling
    ('passage: ', 'lasttoken')
    """
    last = model.rstrip("/").rsplit("/", 1)[-1].lower().replace("_", "-")
    return next((family for family in FAMILIES if re.search(family.pattern, last)), UNKNOWN)
