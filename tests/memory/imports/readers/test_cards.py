"""Character cards in every wrapping, hostile ones included."""

import base64
import io
import json
import random
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers import card_writing, png, recognize
from memory.imports.readers.card_writing import Version
from memory.imports.readers.cards import CharacterCard, Lorebook, portrait_in, read_document
from memory.imports.readers.source import Source
from memory.imports.readers.types import Card, ImportRejected, Lore
from tests.memory.imports.readers.mutations import mutate
from tests.memory.imports.readers.sources import FILES, fixture, read_items, skips_of, source_of, zip_of, zip_source
from tests.persona import images
from tests.table import each_row

V2: dict[str, Any] = json.loads((FILES / "card_v2.json").read_text())
V3: dict[str, Any] = json.loads((FILES / "card_v3.json").read_text())


def card_in(source: Source) -> Card:
    (card,) = (card for card in read_items(CharacterCard(), source) if isinstance(card, Card))
    return card


def rejection(data: bytes | str, name: str = "card.json") -> ImportRejected:
    with pytest.raises(ImportRejected) as rejected:
        read_items(CharacterCard(), source_of(data, name))
    return rejected.value


def picture(**texts: bytes) -> bytes:
    return b"".join(png.with_texts(io.BytesIO(png.plain(2, 2, (9, 9, 9))), texts, ()))


def encode_card(card: dict[str, Any]) -> bytes:
    return base64.b64encode(json.dumps(card).encode())


def test_a_v1_card_is_read() -> None:
    card = card_in(fixture("card_v1.json"))
    assert (card.name, card.personality, card.greetings) == ("Mira", "patient, curious", ("You came back, {{user}}.",))
    assert card.other_data == {"data": {"avatar": "none"}}


def test_a_v2_card_is_read_with_its_macros_as_they_are() -> None:
    card = card_in(fixture("card_v2.json"))
    assert card.description == "{{char}} is a botanist who keeps a night garden."
    assert card.greetings == ("You came back, {{user}}.", "Mind the fern.", "夜安。")
    assert card.post_history == "Answer slowly."
    assert card.other_data["data"]["creator_notes"] == "Best after dark."


def test_keys_are_words_and_decorators_are_kept_apart() -> None:
    first, second = card_in(fixture("card_v2.json")).lore
    assert first.keys == ("moonflower", "/moon.*flower/i")
    assert (first.content, first.other_data["@@"]) == ("Moonflowers open at dusk.", "@@depth 2\n@@@role system\n")
    assert (second.name, second.enabled) == ("", False)


def test_a_v3_card_of_a_higher_version_is_read() -> None:
    card = card_in(fixture("card_v3.json"))
    assert (card.name, card.nickname) == ("Mira of the Garden", "Mira")
    assert card.greetings == ("", "Mind the fern.")
    assert card.lore[0].keys == ("(a+)+$",)
    assert card.other_data["data"]["group_only_greetings"] == ["So many of you!"]


@each_row("wrapping", ["card_v1.json", "card_v2.json", "card_v3.json"])
def test_cards_are_recognised(wrapping: str) -> None:
    assert recognize(fixture(wrapping)).name == "character_card"
    document = json.loads((FILES / wrapping).read_text())
    assert recognize(source_of(picture(chara=encode_card(document)), "card.png")).name == "character_card"
    assert recognize(zip_source({"card.json": json.dumps(document)}, "card.charx")).name == "character_card"


def test_a_picture_says_what_its_json_says() -> None:
    assert card_in(source_of(picture(chara=encode_card(V2)), "mira.png")) == card_in(fixture("card_v2.json"))


def test_the_newer_text_in_a_picture_is_preferred() -> None:
    assert card_in(source_of(picture(chara=encode_card(V2), ccv3=encode_card(V3)))).nickname == "Mira"


def test_base64_over_several_lines_or_without_its_padding_is_read() -> None:
    loose = base64.encodebytes(json.dumps(V2).encode()).rstrip(b"=\n")
    assert card_in(source_of(picture(chara=loose))).name == "Mira"


def test_a_charx_is_read_and_its_pictures_are_not_opened() -> None:
    source = zip_source({"card.json": json.dumps(V3), "assets/icon/images/main.png": b"\x89PNG broken"}, "mira.charx")
    assert card_in(source).nickname == "Mira"


ICON = images.webp()
OTHER = images.png()
WRITTEN_IN = "data:image/webp;base64," + base64.b64encode(ICON).decode()


def with_icons(*icons: tuple[str, str]) -> dict[str, Any]:
    assets = [{"type": "icon", "name": name, "uri": uri, "ext": "png"} for name, uri in icons]
    return V3 | {"data": V3["data"] | {"assets": [{"type": "background", "uri": "embeded://b.png"}, *assets]}}


@each_row(
    ("icons", "members", "portrait"),
    [
        pytest.param([("main", "embeded://assets/icon/1.webp")], {"assets/icon/1.webp": ICON}, ICON, id="a member"),
        pytest.param([("a", "embeded://2"), ("main", "embeded://1")], {"1": ICON, "2": OTHER}, ICON, id="the main one"),
        pytest.param([("a", "embedded://2"), ("b", "embeded://1")], {"1": ICON, "2": OTHER}, OTHER, id="the first"),
        pytest.param(
            [("main", "data:image/webp;base64," + base64.b64encode(ICON).decode())], {}, ICON, id="written in"
        ),
        pytest.param([("main", "embeded://big")], {"big": bytes(40 * 1024**2)}, bytes(1001), id="no more than allowed"),
        pytest.param([("main", "https://example.org/a.png"), ("b", "file:///etc/passwd")], {}, b"", id="elsewhere"),
        pytest.param([("main", "embeded://../../etc/passwd")], {"1": ICON}, b"", id="outside"),
        pytest.param(
            [("main", "embeded://missing"), ("b", "data:image/png;base64,!")], {}, b"", id="missing or broken"
        ),
        pytest.param([("main", "ccdefault:")], {"1": ICON}, b"", id="none of its own"),
        pytest.param([], {"assets/icon/images/main.png": ICON}, b"", id="not said to be one"),
    ],
)
def test_the_portrait_of_a_charx_is_its_main_icon(
    icons: list[tuple[str, str]], members: dict[str, bytes], portrait: bytes
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("card.json", json.dumps(with_icons(*icons)))
        for name, content in members.items():
            archive.writestr(name, content)
    assert portrait_in(source_of(buffer.getvalue(), "mira.charx"), 1000) == portrait
    if not members:
        assert portrait_in(source_of(json.dumps(with_icons(*icons))), 1000) == portrait


@each_row(
    ("members", "code"),
    [
        ({"icon": bytes(40 * 1024**2)}, "zip_bomb"),
        ({"../icon": ICON}, "zip_name"),
        ({"/etc/icon": ICON}, "zip_name"),
        ({"icon": zip_of({"card.json": "{}"})}, "nested_zip"),
    ],
)
def test_a_charx_that_is_a_trap_gives_no_portrait(members: dict[str, bytes], code: str) -> None:
    source = zip_source({"card.json": json.dumps(with_icons(("main", "embeded://icon")))} | members, "mira.charx")
    with pytest.raises(ImportRejected) as rejected:
        portrait_in(source, 1000)
    assert rejected.value.code == code


def test_a_utf_16_card_is_read() -> None:
    assert card_in(source_of(json.dumps(V2, ensure_ascii=False).encode("utf-16"))).greetings[2] == "夜安。"


def test_a_gbk_card_is_read() -> None:
    chinese = {
        "name": "小美",
        "description": "她在夜里照看花园，喜欢安静的人。",
        "first_mes": "你回来了。",
        "mes_example": "",
    }
    assert card_in(source_of(json.dumps(chinese, ensure_ascii=False).encode("gbk"))).name == "小美"


@each_row(
    ("data", "code"),
    [
        ("", "empty"),
        ("{", "not_json"),
        ('{"spec": "chara_card_v2", "data": ', "not_json"),
        ("[]", "nothing_found"),
        ('{"spec": "chara_card_v2", "data": {}}', "nothing_found"),
        ('{"name": NaN}', "not_json"),
        ('{"name": "M", "x": 1e999}', "not_json"),
        ('{"name": "M", "x": ' + "9" * 5000 + "}", "not_json"),
        ('{"name": "M", "x": ' + "[" * 40 + "]" * 40 + "}", "too_deep"),
        ('{"name": "M", "x": ' + "[" * 200_000, "too_deep"),
        (b"\xff\xfe\x00", "encoding"),
        (png.SIGNATURE, "picture_broken"),
        (picture(), "picture_without_card"),
        (picture(chara=b"!!!"), "picture_broken"),
        (picture(chara=base64.b64encode(b"\xff\xfe\xfa")), "encoding"),
        (picture(chara=base64.b64encode(b"no json")), "not_json"),
    ],
)
def test_what_is_no_card_is_refused_with_a_reason(data: bytes | str, code: str) -> None:
    rejected = rejection(data)
    assert rejected.code == code
    assert str(rejected)


def test_broken_json_is_refused_with_its_position() -> None:
    assert rejection('{"name": "Mira",\n  "description" 3}').location == "line 2, character 17"


def test_a_zip_without_a_card_is_refused() -> None:
    with pytest.raises(ImportRejected, match="no file of this format"):
        read_items(CharacterCard(), zip_source({"other.json": "{}"}, "x.charx"))


def test_a_card_too_big_to_be_one_is_refused() -> None:
    assert rejection('{"name": "' + "a" * (17 * 1024**2) + '"}').code == "too_big"


def test_fields_of_the_wrong_kind_are_kept_and_not_read() -> None:
    document = {
        "spec": "chara_card_v2",
        "data": {"name": "Mira", "description": None, "personality": 7, "character_book": "x"},
    }
    card = card_in(source_of(json.dumps(document)))
    assert (card.description, card.personality, card.lore) == ("", "", ())
    assert card.other_data["data"] == {"description": None, "personality": 7, "character_book": "x"}


def test_entries_of_a_book_that_are_none_are_told() -> None:
    document = {"name": "Mira", "first_mes": "x", "character_book": {"entries": [3, {"keys": ["a"], "content": "b"}]}}
    items = read_items(CharacterCard(), source_of(json.dumps(document)))
    assert skips_of(items) == ["broken"]


def test_halves_of_letters_become_marks() -> None:
    card = card_in(source_of('{"name": "Mira \\ud83d", "description": "\\ud83d\\ude00"}'))
    assert (card.name, card.description) == ("Mira �", "😀")


# Lorebooks by themselves


def test_a_lorebook_is_read_and_what_is_empty_is_told() -> None:
    items = read_items(Lorebook(), fixture("lorebook_v3.json"))
    assert [(lore.keys, lore.name) for lore in items if isinstance(lore, Lore)] == [(("fern",), "Fern")]
    assert skips_of(items) == ["empty"]
    assert recognize(fixture("lorebook_v3.json")).name == "lorebook"


def test_world_info_of_sillytavern_is_read() -> None:
    lore = [entry for entry in read_items(Lorebook(), fixture("world_info.json")) if isinstance(entry, Lore)]
    assert [(entry.keys, entry.name, entry.enabled) for entry in lore] == [
        (("fern",), "Fern", True),
        (("well",), "", False),
    ]
    assert recognize(fixture("world_info.json")).name == "lorebook"


def test_a_long_entry_is_left_out_and_told() -> None:
    book = {"spec": "lorebook_v3", "data": {"entries": [{"keys": ["a"], "content": "x" * 70_000}]}}
    assert skips_of(read_items(Lorebook(), source_of(json.dumps(book)))) == ["too_long"]


@each_row("data", ["{}", "[]", '{"spec": "lorebook_v3", "data": []}', '{"data": {"entries": {}}}'])
def test_what_is_no_lorebook_is_refused(data: str) -> None:
    with pytest.raises(ImportRejected):
        read_items(Lorebook(), source_of(data))


CAT = ((("cat", "Blackie"), "The cat", "She is black."),)


@each_row(
    "book",
    [
        {"entries": {"0": {"key": ["cat", "Blackie"], "comment": "The cat", "content": "She is black."}}},
        {"entries": {"0": {"key": "cat, Blackie", "comment": "The cat", "content": "She is black.", "disable": False}}},
        {"name": "b", "entries": [{"keys": ["cat", "Blackie"], "name": "The cat", "content": "She is black."}]},
        {
            "lorebookVersion": 5,
            "entries": [{"keys": ["cat", "Blackie"], "displayName": "The cat", "text": "She is black."}],
        },
        {"kind": "memory", "entries": [{"keywords": ["cat", "Blackie"], "name": "The cat", "entry": "She is black."}]},
        {
            "type": "risu",
            "data": [{"key": "cat, Blackie", "comment": "The cat", "content": "She is black.", "insertorder": 1}],
        },
    ],
)
def test_the_lorebooks_of_other_programs_are_read(book: dict[str, Any]) -> None:
    source = source_of(json.dumps(book))
    assert recognize(source).name == "lorebook"
    lore = [entry for entry in read_items(Lorebook(), source) if isinstance(entry, Lore)]
    assert tuple((entry.keys, entry.name, entry.content) for entry in lore) == CAT
    assert lore[0].enabled


def test_a_card_of_pygmalion_is_read() -> None:
    document = {"char_name": "Mira", "char_persona": "A poet.", "world_scenario": "Paris", "char_greeting": "Hi"}
    source = source_of(json.dumps(document))
    assert recognize(source).name == "character_card"
    (card,) = read_items(CharacterCard(), source)
    assert isinstance(card, Card)
    assert (card.name, card.description, card.scenario, card.greetings) == ("Mira", "A poet.", "Paris", ("Hi",))


# Round trips


def card_of(document: dict[str, Any]) -> Card:
    (card,) = (card for card in read_document(document) if isinstance(card, Card))
    return card


@each_row(("document", "version"), [(V2, 2), (V3, 3)])
def test_a_card_that_is_read_and_written_is_the_same_card(document: dict[str, Any], version: Version) -> None:
    card = card_of(document)
    assert json.loads(card_writing.as_bytes(card, version)) == document


@each_row(("document", "version"), [(V2, 2), (V3, 3)])
def test_a_card_in_a_picture_comes_out_of_it_again(document: dict[str, Any], version: Version) -> None:
    card = card_of(document)
    data = b"".join(card_writing.as_picture(card, version))
    assert card_in(source_of(data, "card.png")) == card


def test_a_v3_picture_also_serves_readers_of_v2() -> None:
    card = card_of(V3)
    older = png.texts_of(io.BytesIO(b"".join(card_writing.as_picture(card, 3))), ("chara",))["chara"]
    assert json.loads(base64.b64decode(older))["spec"] == "chara_card_v2"


def test_a_card_goes_into_a_portrait_without_touching_it(tmp_path: Path) -> None:
    card = card_of(V2)
    portrait = picture(Comment=b"mine", chara=encode_card(V3))
    data = b"".join(card_writing.as_picture(card, 2, io.BytesIO(portrait)))
    assert card_in(source_of(data)) == card
    assert png.texts_of(io.BytesIO(data), ("Comment",)) == {"Comment": b"mine"}


def test_a_v1_card_becomes_a_whole_v2_card() -> None:
    document = card_writing.as_json(card_in(fixture("card_v1.json")), 2)
    assert set(V2["data"]) - {"character_book"} <= set(document["data"])
    assert document["data"]["avatar"] == "none"


def test_nothing_is_lost_from_v2_to_v3_and_back() -> None:
    card = card_of(V2)
    back = card_writing.as_json(card_of(card_writing.as_json(card, 3)), 2)
    del back["data"]["group_only_greetings"]
    for entry in back["data"]["character_book"]["entries"]:
        assert entry.pop("use_regex") is False
    assert back == V2


JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | some.text("a@{é\n", max_size=6),
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(some.text("abc", max_size=3), inner, max_size=2),
    max_leaves=5,
)
FIELDS = some.sampled_from([*V3["data"], "unheard_of"])
ENTRIES = some.lists(
    some.fixed_dictionaries(
        {"keys": some.lists(some.text("ab", max_size=3), max_size=2), "content": some.text("@ a\n", max_size=12)},
        optional={"enabled": some.booleans(), "name": JSON, "use_regex": JSON, "@@": JSON, "extensions": JSON},
    ),
    max_size=2,
)


@supposing(some.dictionaries(FIELDS, JSON, max_size=6), some.none() | ENTRIES, some.dictionaries(some.text("xy"), JSON))
def test_a_card_is_written_back_unchanged(data: Any, entries: list[Any] | None, outer: Any) -> None:
    book = {} if entries is None else {"character_book": {"entries": entries}}
    document = {**outer, "spec": "chara_card_v2", "spec_version": "2.0", "data": {**data, **book, "name": "Mira"}}
    assert contains(card_writing.as_json(card_of(document), 2), document)


def contains(whole: Any, part: Any) -> bool:
    """Whether `whole` contains all of `part`; written cards may have more fields."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], part[key]) for key in part)
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part) and type(whole) is type(part)


# Hostile files


WRAPPINGS = {
    "json": json.dumps(V3).encode(),
    "png": picture(chara=encode_card(V2), ccv3=encode_card(V3)),
    "charx": zip_of({"card.json": json.dumps(V3)}),
    "zTXt": b"".join(
        [
            png.plain(1, 1, (0, 0, 0)).removesuffix(png.make_chunk(b"IEND", b"")),
            png.make_chunk(b"zTXt", b"chara\0\0" + zlib.compress(encode_card(V2))),
            png.make_chunk(b"IEND", b""),
        ]
    ),
}


def survives(data: bytes) -> None:
    """Assert that the file is read, or refused with a sentence; anything else raises."""
    try:
        read_items(CharacterCard(), source_of(data, "card"))
    except ImportRejected as rejected:
        str(rejected)


@each_row("wrapping", WRAPPINGS)
def test_a_damaged_card_is_refused_and_nothing_worse_happens(wrapping: str) -> None:
    chance = random.Random(wrapping)
    for _time in range(1_500):
        survives(mutate(WRAPPINGS[wrapping], chance))


def test_a_damaged_card_in_a_whole_picture_is_refused_and_nothing_worse_happens() -> None:
    chance = random.Random(7)
    for time in range(4_000):
        inner = mutate(encode_card(V3) if time % 2 else WRAPPINGS["json"], chance)
        survives(picture(ccv3=inner if time % 2 else base64.b64encode(inner)))
