"""Character cards V1, V2 and V3, as JSON, in a PNG or APNG, and as .charx; lorebooks without a card.

Texts are unchanged, including macros ({{char}}, {{user}}). Data without a field in `Card` is in its `rest`, in the
structure of the card, so that `card_writing` can write the same card again. No link is followed.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers import png
from memory.imports.readers.decoding import decode
from memory.imports.readers.lorebooks import (
    are_texts,
    book_entries,
    has_entries,
    is_named,
    is_text,
    lore_of,
    standalone,
)
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import Card, ImportRejected, Lore, Options, ReaderItem, Skipped, digest
from memory.imports.readers.whole_json import load_json

# A card has a few kilobytes of text; embedded pictures can make it megabytes.
MAX_CHARACTERS = 16 * 1024**2
KEYWORDS = ("ccv3", "chara")
_EMBEDDED = ("embeded", "embedded")  # the specification writes it with one d
# Field of the card → field of ours.
TEXTS = {
    "name": "name",
    "description": "description",
    "personality": "personality",
    "scenario": "scenario",
    "mes_example": "example_messages",
    "post_history_instructions": "post_history",
}
# The names of the fields in Pygmalion's cards, which some sites still offer.
_PYGMALION = {
    "char_name": "name", "char_persona": "description", "world_scenario": "scenario", "char_greeting": "first_mes",
    "example_dialogue": "mes_example",
}  # fmt: skip
_TELLING = {"data.first_mes", "data.mes_example", "first_mes", "mes_example", "data.character_book", "data.personality"}
# The places of lists of entries, by program: card books, NovelAI, Agnai, RisuAI.
_BOOKS = (
    {"data.entries.item.keys", "data.entries.item.content"},
    {"entries.item.keys", "entries.item.content"},
    {"entries.item.keys", "entries.item.text", "lorebookVersion"},
    {"entries.item.keywords", "entries.item.entry"},
    {"data.item.key", "data.item.content", "data.item.insertorder"},
)
_WORLD_INFO = re.compile(r"entries\.[^.]+\.(?:key|content)$")


class CharacterCard:
    name = "character_card"
    label = gettext_lazy("Character card (V1, V2 or V3; JSON, PNG or charx)")

    def resembles(self, sample: Sample) -> float:
        if sample.head.startswith(png.SIGNATURE) or "card.json" in sample.members:
            return 0.95
        if b"chara_card_v" in sample.head:
            return 0.95
        return 0.9 if len(_TELLING & sample.paths) >= 2 or {"char_name", "char_persona"} <= sample.paths else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        if source.members and "card.json" not in source.members:
            raise ImportRejected("member_missing")
        if source.sample.head.startswith(png.SIGNATURE[:4]):
            texts = decode([_json_in_picture(source)], "utf-8")
        else:
            texts = source.texts("card.json" if source.members else "")
        yield from read_document(load_json(texts, options.limits, MAX_CHARACTERS))


def portrait_in(source: Source, max_bytes: int) -> bytes:
    """The picture of a card, unchecked and at most one byte longer than `max_bytes`; b"" if it has none.

    For a PNG it is the file itself; for a .charx or JSON the main icon among its assets: a member of the zip, or base64
    in the card. Addresses are never followed. Raises ImportRejected.
    """
    if source.sample.head.startswith(png.SIGNATURE):
        with source.open() as file:
            return file.read(max_bytes + 1)
    card = next(card for card in CharacterCard().read(source, Options(limits=source.limits)) if isinstance(card, Card))
    assets = card.other_data["data"].get("assets")
    asset_tables = [asset for asset in assets if isinstance(asset, dict)] if isinstance(assets, list) else []
    icons = [asset for asset in asset_tables if asset.get("type") == "icon" and isinstance(asset.get("uri"), str)]
    # The specification calls the main icon "main"; sorting keeps the order of the others.
    for icon in sorted(icons, key=lambda icon_table: icon_table.get("name") != "main"):
        scheme, _colon, place = icon["uri"].partition(":")
        member = place.removeprefix("//")
        if scheme in _EMBEDDED and member in source.members:
            with source.open(member) as file:
                return file.read(max_bytes + 1)
        head, comma, coded = place.partition(",")
        if scheme == "data" and comma and head.endswith(";base64"):
            with suppress(binascii.Error):
                return base64.b64decode(coded)[: max_bytes + 1]
    return b""


def _json_in_picture(source: Source) -> bytes:
    """The JSON of the card. A `ccv3` is preferred to a `chara`, which is then a copy for older readers."""
    with source.open() as file:
        try:
            texts = png.texts_of(file, KEYWORDS)
        except png.BrokenPNG as error:
            raise ImportRejected("picture_broken", _("byte %d") % error.byte) from error
    text = next((texts[keyword] for keyword in KEYWORDS if keyword in texts), None)
    if text is None:
        raise ImportRejected("picture_without_card")
    # Base64, which some programs break into lines or leave unpadded, and a few do not use.
    bare = b"".join(text.split())
    if bare.startswith(b"{"):
        return text
    unpadded = bare.rstrip(b"=")
    try:
        return base64.b64decode(unpadded + b"=" * (-len(unpadded) % 4), validate=True)
    except binascii.Error as error:
        raise ImportRejected("picture_broken", "Base64") from error


def read_document(document: Any) -> Iterator[Card | Skipped]:
    """The card of a JSON document, and the unreadable parts of its lorebook."""
    if not isinstance(document, dict):
        raise ImportRejected("nothing_found")
    document = {_PYGMALION.get(name, name): value for name, value in document.items()}
    data: Any = document.get("data")
    nested = isinstance(data, dict) and ("spec" in document or "name" in data)
    fields = dict(data if nested else document)
    entries = list(book_entries(fields.get("character_book"), _("lorebook")))
    lore = tuple(entry for entry in entries if isinstance(entry, Lore))
    texts = {ours: lore_of(fields, theirs, is_text, "") for theirs, ours in TEXTS.items()}
    nickname = lore_of(fields, "nickname", is_named, "")
    # The first message and its alternatives; if there are only alternatives, the first is empty.
    first = lore_of(fields, "first_mes", is_text, "")
    others = lore_of(fields, "alternate_greetings", are_texts, [])
    greetings = (first, *others) if first or others else ()
    if has_entries(fields.get("character_book")):
        fields["character_book"] = {key: value for key, value in fields["character_book"].items() if key != "entries"}
    rest = {**document, "data": fields} if nested else {"data": fields}
    source_id = digest("card", json.dumps(document, sort_keys=True, ensure_ascii=False))
    card = Card(
        **texts, nickname=nickname, greetings=greetings, lore=lore, source_id=source_id, location="", other_data=rest
    )
    if not (card.name or card.description or card.personality or card.greetings):
        raise ImportRejected("nothing_found")
    yield card
    yield from (entry for entry in entries if isinstance(entry, Skipped))


class Lorebook:
    name = "lorebook"
    label = gettext_lazy("Lorebook (V3, or SillyTavern's world info)")

    def resembles(self, sample: Sample) -> float:
        if b'"lorebook_v3"' in sample.head or any(marks <= sample.paths for marks in _BOOKS):
            return 0.95
        fields = {match[0].rpartition(".")[2] for path in sample.paths if (match := _WORLD_INFO.match(path))}
        return 0.9 if len(fields) == 2 else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        document = load_json(source.texts(), options.limits, MAX_CHARACTERS)
        if not isinstance(document, dict):
            raise ImportRejected("nothing_found")
        yield from standalone(document, options.limits)


FORMATS = (CharacterCard(), Lorebook())
