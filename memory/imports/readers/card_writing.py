"""Writes a card for other programs: V2 or V3, as JSON or in a picture. A card that was read is written with all its
data."""

import base64
import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from memory.imports.readers import png
from memory.imports.readers.cards import KEYWORDS, TEXTS
from memory.imports.readers.lorebooks import entry_of
from memory.imports.readers.types import Card

Version = Literal[2, 3]
_PORTRAIT = (400, 600, (94, 106, 130))
_SPEC = {2: ("chara_card_v2", "2.0"), 3: ("chara_card_v3", "3.0")}
# Fields that the specifications require even if they are empty.
_NEEDED: dict[str, Any] = {
    "creator_notes": "",
    "system_prompt": "",
    "tags": [],
    "creator": "",
    "character_version": "",
    "extensions": {},
}


def as_json(card: Card, version: Version) -> dict[str, Any]:
    """The card as an object of that version of the specification.

    A card that was read from the same version is unchanged; fields that only V3 knows stay in a V2 card, because
    readers keep unknown fields.
    """
    spec, spec_version = _SPEC[version]
    outer = {key: value for key, value in card.other_data.items() if key != "data"}
    same = outer.get("spec") == spec and "spec_version" in outer
    head = {} if same else {"spec": spec, "spec_version": spec_version}
    rest = dict(card.other_data.get("data", {}))
    first, *others = card.greetings or ("",)
    own = {theirs: getattr(card, ours) for theirs, ours in TEXTS.items()}
    own |= {"first_mes": first, "alternate_greetings": others}
    own |= {"nickname": card.nickname} if card.nickname else {}
    newest: dict[str, Any] = {"group_only_greetings": []} if version == 3 else {}
    data = _NEEDED | newest | own | rest
    book = rest.get("character_book", {"extensions": {}} if card.lore else None)
    if isinstance(book, dict) and "entries" not in book:
        newest_entry = {"use_regex": False} if version == 3 else {}
        data["character_book"] = {**book, "entries": [newest_entry | entry_of(lore) for lore in card.lore]}
    return {**outer, **head, "data": data}


def as_bytes(card: Card, version: Version) -> bytes:
    return json.dumps(as_json(card, version), ensure_ascii=False, indent=2).encode()


def as_picture(card: Card, version: Version, picture: BinaryIO | None = None) -> Iterator[bytes]:
    """A PNG with the card in it: `picture` without the card it held, or a plain one.

    A V3 card is stored twice, the second time as V2 for older readers. Raises `png.BrokenPNG`.
    """
    plain = io.BytesIO(b"" if picture else png.plain(*_PORTRAIT))
    versions: tuple[Version, ...] = (2, 3) if version == 3 else (2,)
    keywords = {2: "chara", 3: "ccv3"}
    texts = {keywords[keyword]: base64.b64encode(as_bytes(card, keyword)) for keyword in versions}
    return png.with_texts(picture or plain, texts, KEYWORDS)
