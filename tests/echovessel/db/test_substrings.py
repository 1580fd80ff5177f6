"""The substring index: every piece of a text is found, by nobody else, in step with its table, gone when deleted."""

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
def lines(index_connection, django_db_blocker):
    """A plain table of lines with its index."""
    with django_db_blocker.unblock():
        lines = Lines(index_connection)
        lines.run("CREATE TABLE line (id integer PRIMARY KEY, owner integer, said text)")
        INDEX.ensure(index_connection)
        yield lines
        INDEX.drop(index_connection)
        lines.run("DROP TABLE line")


class Lines:
    def __init__(self, connection):
        self.connection = connection

    def run(self, sql, params=None):
        with self.connection.cursor() as cursor:
            return cursor.execute(sql, params).fetchall()

    def say(self, *said, owner=1):
        for text in said:
            self.run("INSERT INTO line(owner, said) VALUES (%s, %s)", [owner, text])

    def found(self, needle, most=10, **where):
        return INDEX.find(self.connection, needle, most, **where)


@pytest.mark.parametrize(
    ("needle", "found"),
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
def test_any_piece_of_a_text_is_found_and_nothing_else(lines, needle, found):
    lines.say(
        "A garden with bees", "那只白猫叫小黑", "小黑不见了", "Gardening", "L'ÉTÉ", "100%_sure", 'They say "no" AND go'
    )
    assert lines.found(needle) == found


@pytest.mark.parametrize("needle", ["ee", "bees"])
def test_it_is_found_in_ones_own_scope_the_newest_first_and_page_by_page(lines, needle):
    lines.say(*["Bees and trees"] * 5, owner=1)
    lines.say(*["Bees and trees"] * 3, owner=2)
    assert lines.found(needle, 2, scope=1) == [5, 4]
    assert lines.found(needle, 2, scope=1, before=4) == [3, 2]
    assert lines.found(needle, 2, scope=1, before=2) == [1]
    assert lines.found(needle) == [8, 7, 6, 5, 4, 3, 2, 1]


def test_many_who_hold_every_triple_but_not_the_text_hide_nobody(lines):
    lines.say("abcd")
    lines.say(*["bcd abc"] * 450)
    assert lines.found("abcd", 1) == [1]


def test_it_follows_a_change_and_a_deletion_whoever_makes_it(lines):
    lines.say("The old heron", "Another heron")
    lines.run("UPDATE line SET said = 'The new crane' WHERE id = 1")
    assert (lines.found("heron"), lines.found("crane")) == ([2], [1])
    lines.run("UPDATE line SET owner = 3")
    assert lines.found("crane", scope=3) == [1]
    lines.run("DELETE FROM line")
    assert INDEX.holding(lines.connection, "crane") == INDEX.holding(lines.connection, "heron") == []
    assert INDEX.is_whole(lines.connection)


def test_a_missing_trigger_is_said_and_mended(lines):
    lines.run("DROP TRIGGER line_substring_insert")
    lines.say("A late heron")
    assert lines.found("heron") == []
    assert INDEX.missing(lines.connection) == ["line_substring_insert"]
    assert INDEX.ensure(lines.connection) == ["line_substring_insert"]
    assert lines.found("heron") == [1]
    assert INDEX.ensure(lines.connection) == []


def test_an_index_that_holds_what_the_table_does_not_is_not_whole(lines):
    lines.say("A grey heron")
    assert INDEX.is_whole(lines.connection)
    lines.run("DROP TRIGGER line_substring_delete")
    lines.run("DELETE FROM line")
    assert not INDEX.is_whole(lines.connection)
    assert INDEX.holding(lines.connection, "heron") == [1]


TEXT = st.text(alphabet=st.sampled_from('abAB é小黑白猫%_" '), max_size=12)


@given(texts=st.lists(TEXT, max_size=8), needle=TEXT)
def test_law_found_is_what_holds_it_whatever_the_case(lines, texts, needle):
    with transaction.atomic(using="substrings"):
        point = transaction.savepoint(using="substrings")
        lines.say(*texts)
        held = [place for place, text in enumerate(texts, 1) if needle and needle.lower() in text.lower()]
        assert lines.found(needle) == held[::-1]
        assert INDEX.is_whole(lines.connection)
        transaction.savepoint_rollback(point, using="substrings")
