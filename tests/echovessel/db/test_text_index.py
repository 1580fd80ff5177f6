"""The full-text index: it finds words in its scope only, follows its table, and leaves no byte of deleted text."""

import copy
import os
from collections import Counter

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from echovessel.db.sqlite.text_index import TextIndex
from echovessel.language.tokenizer import content_words, tokenize
from tests.table import each_row

INDEX = TextIndex(table="line", key="message_id")


@pytest.fixture(scope="module")
def index_connection(tmp_path_factory, django_db_blocker):
    """A connection to a database of this module alone, under an alias of its own."""
    path = tmp_path_factory.mktemp("index") / "index.sqlite3"
    connections.settings["index"] = copy.deepcopy(connections.settings["default"]) | {
        "NAME": path,
        "OPTIONS": {},
    }
    with django_db_blocker.unblock():
        yield connections["index"]
        connections["index"].close()
    del connections["index"], connections.settings["index"]


@pytest.fixture
def table(index_connection, django_db_blocker):
    """A plain table of pre-cut lines with its index; `table.insert(scope, text)` adds one, returns its id."""
    with django_db_blocker.unblock():
        run(
            index_connection,
            "CREATE TABLE line (message_id bigint NOT NULL PRIMARY KEY, scope text, body text)",
        )
        INDEX.ensure(index_connection)
        yield IndexedTable(index_connection)
        INDEX.drop(index_connection)
        run(index_connection, "DROP TABLE line")


def run(connection, sql, params=None):
    with connection.cursor() as cursor:
        return cursor.execute(sql, params).fetchall()


class IndexedTable:
    def __init__(self, connection):
        self.connection = connection

    def run(self, sql, params=None):
        return run(self.connection, sql, params)

    def insert(self, scope, text):
        (number,) = self.run("SELECT coalesce(max(message_id), 0) + 1 FROM line")[0]
        self.run("INSERT INTO line VALUES (%s, %s, %s)", [number, scope, " ".join(tokenize(text))])
        return number

    def search(self, scope, question):
        """The rows of `scope` that hold any word of the question."""
        rows_by_word = INDEX.holding(self.connection, content_words(question), scope, 10)
        return sorted({number for numbers in rows_by_word.values() for number in numbers.tolist()})

    def in_step(self):
        """Whether the index holds the words of the table, each under its scope, and nothing else."""
        self.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.held USING fts5vocab(main, line_fts, instance)")
        rows = self.run("SELECT message_id, scope, body FROM line")
        words = {(f"{scope}·{word}", number) for number, scope, body in rows for word in body.split()}
        sizes = Counter(scope for _, scope, _ in rows)
        return words == set(self.run("SELECT term, doc FROM held")) and sizes == dict(
            self.run("SELECT scope, rows FROM line_size")
        )


def test_a_line_is_found_by_its_words_and_only_in_its_scope(table):
    mine = table.insert("p1", "My cat Max loves the café")
    table.insert("p2", "Max the cat is theirs")
    assert table.search("p1", "what about cats in a cafe?") == [mine]
    assert table.search("p12", "cat") == []


def test_each_word_is_said_with_the_newest_lines_that_hold_it(table):
    numbers = [table.insert("p1", text) for text in ("tea", "coffee", "coffee and tea", "coffee", "water")]
    rows_by_word = INDEX.holding(table.connection, ["coffe", "tea", "wine"], "p1", 2)
    assert {word: rows.tolist() for word, rows in rows_by_word.items()} == {
        "coffe": [numbers[3], numbers[2]],
        "tea": [numbers[2], numbers[0]],
        "wine": [],
    }


def test_a_chinese_name_is_found_as_a_pair_and_by_its_characters(table):
    parts = table.insert("p1", "黑色的小猫")
    whole = table.insert("p1", "我家小黑三岁了")
    rows_by_word = INDEX.holding(table.connection, ["小黑", "黑"], "p1", 10)
    assert (rows_by_word["小黑"].tolist(), rows_by_word["黑"].tolist()) == ([whole], [whole, parts])


def test_the_rows_of_a_scope_are_counted(table):
    for scope in ("p1", "p1", "p2"):
        table.insert(scope, "again and again")
    assert [INDEX.rows(table.connection, scope) for scope in ("p1", "p2", "p3")] == [2, 1, 0]
    table.run("DELETE FROM line WHERE scope = 'p2'")
    assert [INDEX.rows(table.connection, scope) for scope in ("p1", "p2")] == [2, 0]


def test_a_scope_that_is_also_a_word_of_the_text_is_still_a_scope(table):
    table.insert("p2", "p1 is a token")
    assert table.search("p1", "token") == []
    assert table.search("p2", "p1") == [1]


def test_the_index_follows_updates_deletes_upserts_and_rollbacks(table):
    first, second = table.insert("p1", "apples"), table.insert("p1", "pears")
    table.run("UPDATE line SET body = 'plum' WHERE message_id = %s", [first])
    assert (table.search("p1", "apples"), table.search("p1", "plum")) == ([], [first])
    table.run("INSERT INTO line VALUES (%s, 'p1', 'fig') ON CONFLICT DO UPDATE SET body = 'fig'", [first])
    assert (table.search("p1", "plum"), table.search("p1", "fig")) == ([], [first])
    table.run("UPDATE line SET scope = 'p2' WHERE message_id = %s", [first])
    assert (table.search("p1", "fig"), table.search("p2", "fig")) == ([], [first])
    table.run("BEGIN")
    table.run("DELETE FROM line WHERE message_id = %s", [second])
    table.run("ROLLBACK")
    assert table.search("p1", "pears") == [second]
    table.run("DELETE FROM line")
    assert table.search("p1", "pears") == []
    assert table.in_step()


def test_ensuring_twice_changes_nothing(table):
    assert INDEX.missing(table.connection) == []
    assert INDEX.ensure(table.connection) == []


def test_a_lost_trigger_is_noticed_and_what_it_missed_is_indexed(table):
    table.run("DROP TRIGGER line_fts_insert")
    missed = table.insert("p1", "unheard")
    assert table.search("p1", "unheard") == []
    assert INDEX.missing(table.connection) == ["line_fts_insert"]
    assert INDEX.ensure(table.connection) == ["line_fts_insert"]
    assert table.search("p1", "unheard") == [missed]


def test_a_lost_or_differently_made_index_is_made_anew(table):
    number = table.insert("p1", "kept")
    table.run("DROP TABLE line_fts")
    assert INDEX.missing(table.connection) == ["line_fts"]
    table.run("CREATE VIRTUAL TABLE line_fts USING fts5(scope, body, content='line', content_rowid='message_id')")
    assert INDEX.ensure(table.connection) == ["line_fts"]
    assert table.search("p1", "kept") == [number]
    assert table.run("SELECT v FROM line_fts_config WHERE k = 'secure-delete'") == [(1,)]


def test_rebuilding_restores_a_broken_index(table):
    number = table.insert("p1", "kept")
    table.run("INSERT INTO line_fts(line_fts) VALUES ('delete-all')")
    assert table.search("p1", "kept") == []
    INDEX.rebuild(table.connection)
    assert table.search("p1", "kept") == [number]


@each_row("scope", ["", "p 1", 'p"1', "p1 OR body:x", "п1"])
def test_a_scope_that_is_not_a_plain_token_is_refused(scope):
    with pytest.raises(ValueError, match="scope"):
        INDEX.holding(None, ["x"], scope, 10)


def test_without_a_usable_term_nothing_is_searched(table):
    assert INDEX.holding(table.connection, ["", "\0", "two words"], "p1", 10) == {}


HOSTILE = [
    *('a"b', "AND", "(", "-foo", "col:val", "''", '"', '""', "*", "a*", "^a", "NEAR(a b)", "{a}:b", "a\0b"),
    *("\ud800", "x OR scope:p2", '") OR "scope":("p2', "p2·share", "·share", "+", "\\", "%s", "?"),
]


@pytest.fixture(scope="module")
def two_scopes(index_connection):
    """A separate index with one text in p1 and the same text in p2."""
    index = TextIndex(table="twin", key="id")
    run(index_connection, "CREATE TABLE twin (id integer PRIMARY KEY, scope text, body text)")
    index.ensure(index_connection)
    body = "share a b foo col val p2 scope x near"
    run(index_connection, "INSERT INTO twin VALUES (1, 'p1', %s), (2, 'p2', %s)", [body, body])
    return index


@given(terms=st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=12), max_size=8))
def test_no_term_a_person_can_type_breaks_the_query_or_leaves_the_scope(index_connection, two_scopes, terms):
    def search(terms):
        rows_by_word = two_scopes.holding(index_connection, terms, "p1", 10)
        return {number for numbers in rows_by_word.values() for number in numbers.tolist()}

    assert search([*terms, "share"]) == {1}
    assert search(terms) <= {1}
    assert search(content_words(" ".join(terms))) <= {1}


def test_a_forgotten_line_leaves_no_byte_in_the_file(table):
    for n in range(300):
        table.insert("p1", f"ordinary talk number {n} about the weather")
    secret = table.insert("p1", "zebrafish 龘靐齾")
    table.insert("p1", "afterwards")
    tokens = [token.encode() for token in ("zebrafish", "龘靐")]
    path = table.connection.settings_dict["NAME"]
    assert table.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
    assert all(token in stored_bytes(table.connection, path) for token in tokens)
    table.run("DELETE FROM line WHERE message_id = %s", [secret])
    assert table.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
    assert os.stat(f"{path}-wal").st_size == 0
    # Prefix compression stores terms in parts: look for the tails, too.
    for part in [*tokens, b"ebrafish", b"brafish", "靐齾".encode(), "齾".encode()]:
        assert part not in stored_bytes(table.connection, path)
    assert table.in_step()


def stored_bytes(connection, path):
    """The file's bytes. Closed first: to read and close a file that SQLite has open drops its locks."""
    connection.close()
    return path.read_bytes()
