"""Values of JSON files, one at a time."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers.json_values import Unread, loads, values
from memory.imports.readers.types import ImportRejected, Limits
from tests.memory.imports.readers.sources import source_of
from tests.table import each_row

TREES: some.SearchStrategy[Any] = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**53), 2**53)
    | some.text(some.characters(exclude_categories=["Cs"])),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text("abc.", max_size=3), inner, max_size=4),
    max_leaves=20,
)


def values_in(text: str, *paths: str, limits: Limits | None = None) -> list[tuple[str, Any]]:
    return list(values(source_of(text, limits=limits), paths))


@supposing(tree=TREES)
def test_a_whole_file_is_its_own_value(tree: Any) -> None:
    assert values_in(json.dumps(tree), "") == [("", tree)]


@supposing(tree=some.lists(TREES))
def test_elements_come_one_by_one(tree: list[Any]) -> None:
    assert values_in(json.dumps(tree), "item") == [("item", value) for value in tree]


def test_values_come_from_their_places_in_the_order_of_the_file() -> None:
    chats = '[{"id": 1, "m": [1, {"x": []}]}, {"id": 2, "m": []}]'
    text = f'{{"name": "a", "skip": [[{{"name": 1}}]], "chats": {{"list": {chats}}}}}'
    assert values_in(text, "name", "chats.list.item.id", "chats.list.item.m.item") == [
        ("name", "a"), ("chats.list.item.id", 1), ("chats.list.item.m.item", 1), ("chats.list.item.m.item", {"x": []}),
        ("chats.list.item.id", 2),
    ]  # fmt: skip


def test_values_listed_aside_are_reported_and_not_built() -> None:
    pairs = values(source_of('{"contacts": {"list": [1, 2]}, "name": "a"}'), ["name"], aside={"contacts": "settings"})
    assert list(pairs) == [("contacts", Unread("settings")), ("name", "a")]


def test_too_deep_or_too_large_values_are_told_and_passed() -> None:
    text = json.dumps([[[[[1]]]], 1, ["x" * 1_000] * 200, [2]])
    assert values_in(text, "item", limits=Limits(nesting=3, item_bytes=100_000)) == [
        ("item", Unread("too_deep")), ("item", 1), ("item", Unread("too_long")), ("item", [2]),
    ]  # fmt: skip


def test_depth_outside_of_what_is_wanted_does_not_matter() -> None:
    text = '{"deep": ' + "[" * 50_000 + "]" * 50_000 + ', "name": "a"}'
    assert values_in(text, "name") == [("name", "a")]


@each_row(
    ("text", "location"),
    [
        ('[1, 2', "the end of the file"), ("", "the end of the file"), ("[1,\n 2,\n x]", "line 3, character 2"),
        ("[1] 2", "the end of the file"), ('{"a" 1}', "line 1, character 7"), ("[1e999]", "line 1, character 7"),
        ("[" + "9" * 30 + "]", "line 1, character 32"), ("你好", "line 1, character 1"),
    ],
)  # fmt: skip
def test_broken_json_is_refused_with_its_place(text: str, location: str) -> None:
    with pytest.raises(ImportRejected) as rejected:
        values_in(text, "item")
    assert (rejected.value.code, rejected.value.location) == ("not_json", location)


def test_values_before_a_syntax_error_are_returned() -> None:
    pairs = values(source_of("[1, 2, x"), ["item"])
    assert [next(pairs)[1], next(pairs)[1]] == [1, 2]


def test_the_place_is_found_far_into_a_file() -> None:
    with pytest.raises(ImportRejected) as rejected:
        values_in("[" + '"你好",\n' * 100_000 + "x]", "item")
    assert rejected.value.location == "line 100001, character 1"


def test_a_large_file_is_never_held() -> None:
    source = source_of("[" + ",".join(['{"mapping": {"text": "你好 hello"}}'] * 20_000) + "]")
    tracemalloc.start()
    try:
        assert sum(1 for _value in values(source, ["item"])) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


@each_row("text", ["[" * 40 + "]" * 40, "[" * 100_000, '{"a": ', "", "9" * 5_000])
def test_a_small_text_that_is_none_or_too_deep_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text, Limits())


def test_brackets_in_strings_are_not_depth() -> None:
    text = json.dumps({"a": "[" * 100, 'b"{': ["\\", '"[[']})
    assert loads(text, Limits(nesting=2)) == json.loads(text)
