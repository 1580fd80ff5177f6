"""The substring index: it finds every piece of a text, in its scope only, and follows its table."""

import copy

import pytest
from django.db import connections, transaction
from hypothesis import given
from hypothesis import strategies as st

from echovessel.db.sqlite.substrings import SubstringIndex

NO = 'They say "no" AND go'
INDEX = SubstringIndex(table="line", column="said", scope="owner")


@pytest.fixture(scope="module")
def index_connection(tmp_path_factory, django_db_blocker):
    """A connection to a database of this module alone, under an alias of its own."""
    path = tmp_path_factory.mktemp("substrings") / "index.sqlite3"
    connections.settings["substrings"] = copy.deepcopy(connections.settings["default"]) | {
        "NAME": path,
        "OPTIONS": {},
    }
    with django_db_blocker.unblock():
        yield connections["substrings"]
        connections["substrings"].close()
    del connections["substrings"], connections.settings["substrings"]


@pytest.fixture
def table(index_connection, django_db_blocker):
    """A table of texts with its index."""
    with django_db_blocker.unblock():
        table = IndexedTable(index_connection)
        table.run("CREATE TABLE line (id integer PRIMARY KEY, owner integer, said text)")
        INDEX.ensure(index_connection)
        yield table
        INDEX.drop(index_connection)
        table.run("DROP TABLE line")


class IndexedTable:
    def __init__(self, connection):
        self.connection = connection

    def run(self, sql, params=None):
        with self.connection.cursor() as cursor:
            return cursor.execute(sql, params).fetchall()

    def insert(self, *texts, owner=1):
        for text in texts:
            self.run("INSERT INTO line(owner, said) VALUES (%s, %s)", [owner, text])

    def search(self, needle, limit=10, **where):
        return INDEX.find(self.connection, needle, limit, **where)


@pytest.mark.parametrize(
    ("needle", "expected"),
    [
        ("白猫叫", [2]),
        ("小黑", [3, 2]),
        ("黑", [3, 2]),
        ("rden", [4, 1]),
        ("GARD", [4, 1]),
        ("n w", [1]),
        ("été", [5]),
        ("É", [5]),
        ("100%", [6]),
        ("_", [6]),
        ("%_%", []),
        ('say "no" AND', [7]),
        ('"', [7]),
        ("gar*", []),
        ("", []),
        ("den\0", []),
        ("\ud800ab", []),
    ],
)
def test_any_piece_of_a_text_is_found_and_nothing_else(table, needle, expected):
    table.insert(
        "A garden with bees", "那只白猫叫小黑", "小黑不见了", "Gardening", "L'ÉTÉ", "100%_sure", 'They say "no" AND go'
    )
    assert table.search(needle) == expected


@pytest.mark.parametrize("needle", ["ee", "bees"])
def test_it_is_found_in_ones_own_scope_the_newest_first_and_page_by_page(table, needle):
    table.insert(*["Bees and trees"] * 5, owner=1)
    table.insert(*["Bees and trees"] * 3, owner=2)
    assert table.search(needle, 2, scope=1) == [5, 4]
    assert table.search(needle, 2, scope=1, before=4) == [3, 2]
    assert table.search(needle, 2, scope=1, before=2) == [1]
    assert table.search(needle) == [8, 7, 6, 5, 4, 3, 2, 1]


def test_many_who_hold_every_triple_but_not_the_text_hide_nobody(table):
    table.insert("abcd")
    table.insert(*["bcd abc"] * 450)
    assert table.search("abcd", 1) == [1]


def test_it_follows_a_change_and_a_deletion_whoever_makes_it(table):
    table.insert("The old heron", "Another heron")
    table.run("UPDATE line SET said = 'The new crane' WHERE id = 1")
    assert (table.search("heron"), table.search("crane")) == ([2], [1])
    table.run("UPDATE line SET owner = 3")
    assert table.search("crane", scope=3) == [1]
    table.run("DELETE FROM line")
    assert INDEX.holding(table.connection, "crane") == INDEX.holding(table.connection, "heron") == []
    assert INDEX.is_intact(table.connection)


def test_a_missing_trigger_is_said_and_mended(table):
    table.run("DROP TRIGGER line_substring_insert")
    table.insert("A late heron")
    assert table.search("heron") == []
    assert INDEX.missing(table.connection) == ["line_substring_insert"]
    assert INDEX.ensure(table.connection) == ["line_substring_insert"]
    assert table.search("heron") == [1]
    assert INDEX.ensure(table.connection) == []


def test_an_index_that_holds_what_the_table_does_not_is_not_whole(table):
    table.insert("A grey heron")
    assert INDEX.is_intact(table.connection)
    table.run("DROP TRIGGER line_substring_delete")
    table.run("DELETE FROM line")
    assert not INDEX.is_intact(table.connection)
    assert INDEX.holding(table.connection, "heron") == [1]


TEXT = st.text(alphabet=st.sampled_from('abAB é小黑白猫%_" '), max_size=12)


@given(texts=st.lists(TEXT, max_size=8), needle=TEXT)
def test_law_search_finds_the_texts_that_contain_the_needle_in_any_case(table, texts, needle):
    with transaction.atomic(using="substrings"):
        point = transaction.savepoint(using="substrings")
        table.insert(*texts)
        expected = [place for place, text in enumerate(texts, 1) if needle and needle.lower() in text.lower()]
        assert table.search(needle) == expected[::-1]
        assert INDEX.is_intact(table.connection)
        transaction.savepoint_rollback(point, using="substrings")
