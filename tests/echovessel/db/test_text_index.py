"""The full-text index: found, only in one's own scope, in step with its table, and gone when forgotten."""

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
def lines(index_connection, django_db_blocker):
    """A plain table of pre-cut lines with its index; `lines.say(scope, text)` adds one, returns its id."""
    with django_db_blocker.unblock():
        run(
            index_connection,
            "CREATE TABLE line (message_id bigint NOT NULL PRIMARY KEY, scope text, body text)",
        )
        INDEX.ensure(index_connection)
        yield Lines(index_connection)
        INDEX.drop(index_connection)
        run(index_connection, "DROP TABLE line")


def run(connection, sql, params=None):
    with connection.cursor() as cursor:
        return cursor.execute(sql, params).fetchall()


class Lines:
    def __init__(self, connection):
        self.connection = connection

    def run(self, sql, params=None):
        return run(self.connection, sql, params)

    def say(self, scope, text):
        (number,) = self.run("SELECT coalesce(max(message_id), 0) + 1 FROM line")[0]
        self.run("INSERT INTO line VALUES (%s, %s, %s)", [number, scope, " ".join(tokenize(text))])
        return number

    def found(self, scope, question):
        """The lines of `scope` that hold any word of the question."""
        held = INDEX.holding(self.connection, content_words(question), scope, 10)
        return sorted({number for numbers in held.values() for number in numbers.tolist()})

    def in_step(self):
        """Whether the index holds the words of the table, each under its scope, and nothing else."""
        self.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.held USING fts5vocab(main, line_fts, instance)")
        rows = self.run("SELECT message_id, scope, body FROM line")
        words = {(f"{scope}·{word}", number) for number, scope, body in rows for word in body.split()}
        sizes = Counter(scope for _, scope, _ in rows)
        return words == set(self.run("SELECT term, doc FROM held")) and sizes == dict(
            self.run("SELECT scope, rows FROM line_size")
        )


def test_a_line_is_found_by_its_words_and_only_in_its_scope(lines):
    mine = lines.say("p1", "My cat Max loves the café")
    lines.say("p2", "Max the cat is theirs")
    assert lines.found("p1", "what about cats in a cafe?") == [mine]
    assert lines.found("p12", "cat") == []


def test_each_word_is_said_with_the_newest_lines_that_hold_it(lines):
    numbers = [lines.say("p1", text) for text in ("tea", "coffee", "coffee and tea", "coffee", "water")]
    held = INDEX.holding(lines.connection, ["coffe", "tea", "wine"], "p1", 2)
    assert {word: found.tolist() for word, found in held.items()} == {
        "coffe": [numbers[3], numbers[2]],
        "tea": [numbers[2], numbers[0]],
        "wine": [],
    }


def test_a_chinese_name_is_found_as_a_pair_and_by_its_characters(lines):
    parts = lines.say("p1", "黑色的小猫")
    whole = lines.say("p1", "我家小黑三岁了")
    held = INDEX.holding(lines.connection, ["小黑", "黑"], "p1", 10)
    assert (held["小黑"].tolist(), held["黑"].tolist()) == ([whole], [whole, parts])


def test_the_rows_of_a_scope_are_counted(lines):
    for scope in ("p1", "p1", "p2"):
        lines.say(scope, "again and again")
    assert [INDEX.rows(lines.connection, scope) for scope in ("p1", "p2", "p3")] == [2, 1, 0]
    lines.run("DELETE FROM line WHERE scope = 'p2'")
    assert [INDEX.rows(lines.connection, scope) for scope in ("p1", "p2")] == [2, 0]


def test_a_scope_that_is_also_a_word_of_the_text_is_still_a_scope(lines):
    lines.say("p2", "p1 is a token")
    assert lines.found("p1", "token") == []
    assert lines.found("p2", "p1") == [1]


def test_the_index_follows_updates_deletes_upserts_and_rollbacks(lines):
    first, second = lines.say("p1", "apples"), lines.say("p1", "pears")
    lines.run("UPDATE line SET body = 'plum' WHERE message_id = %s", [first])
    assert (lines.found("p1", "apples"), lines.found("p1", "plum")) == ([], [first])
    lines.run("INSERT INTO line VALUES (%s, 'p1', 'fig') ON CONFLICT DO UPDATE SET body = 'fig'", [first])
    assert (lines.found("p1", "plum"), lines.found("p1", "fig")) == ([], [first])
    lines.run("UPDATE line SET scope = 'p2' WHERE message_id = %s", [first])
    assert (lines.found("p1", "fig"), lines.found("p2", "fig")) == ([], [first])
    lines.run("BEGIN")
    lines.run("DELETE FROM line WHERE message_id = %s", [second])
    lines.run("ROLLBACK")
    assert lines.found("p1", "pears") == [second]
    lines.run("DELETE FROM line")
    assert lines.found("p1", "pears") == []
    assert lines.in_step()


def test_ensuring_twice_changes_nothing(lines):
    assert INDEX.missing(lines.connection) == []
    assert INDEX.ensure(lines.connection) == []


def test_a_lost_trigger_is_noticed_and_what_it_missed_is_indexed(lines):
    lines.run("DROP TRIGGER line_fts_insert")
    missed = lines.say("p1", "unheard")
    assert lines.found("p1", "unheard") == []
    assert INDEX.missing(lines.connection) == ["line_fts_insert"]
    assert INDEX.ensure(lines.connection) == ["line_fts_insert"]
    assert lines.found("p1", "unheard") == [missed]


def test_a_lost_or_differently_made_index_is_made_anew(lines):
    kept = lines.say("p1", "kept")
    lines.run("DROP TABLE line_fts")
    assert INDEX.missing(lines.connection) == ["line_fts"]
    lines.run("CREATE VIRTUAL TABLE line_fts USING fts5(scope, body, content='line', content_rowid='message_id')")
    assert INDEX.ensure(lines.connection) == ["line_fts"]
    assert lines.found("p1", "kept") == [kept]
    assert lines.run("SELECT v FROM line_fts_config WHERE k = 'secure-delete'") == [(1,)]


def test_rebuilding_restores_a_broken_index(lines):
    kept = lines.say("p1", "kept")
    lines.run("INSERT INTO line_fts(line_fts) VALUES ('delete-all')")
    assert lines.found("p1", "kept") == []
    INDEX.rebuild(lines.connection)
    assert lines.found("p1", "kept") == [kept]


@each_row("scope", ["", "p 1", 'p"1', "p1 OR body:x", "п1"])
def test_a_scope_that_is_not_a_plain_token_is_refused(scope):
    with pytest.raises(ValueError, match="scope"):
        INDEX.holding(None, ["x"], scope, 10)


def test_without_a_usable_term_nothing_is_searched(lines):
    assert INDEX.holding(lines.connection, ["", "\0", "two words"], "p1", 10) == {}


HOSTILE = [
    *('a"b', "AND", "(", "-foo", "col:val", "''", '"', '""', "*", "a*", "^a", "NEAR(a b)", "{a}:b", "a\0b"),
    *("\ud800", "x OR scope:p2", '") OR "scope":("p2', "p2·share", "·share", "+", "\\", "%s", "?"),
]


@pytest.fixture(scope="module")
def two_scopes(index_connection):
    """An index of its own with one line in p1 and the same line in p2."""
    index = TextIndex(table="twin", key="id")
    run(index_connection, "CREATE TABLE twin (id integer PRIMARY KEY, scope text, body text)")
    index.ensure(index_connection)
    body = "share a b foo col val p2 scope x near"
    run(index_connection, "INSERT INTO twin VALUES (1, 'p1', %s), (2, 'p2', %s)", [body, body])
    return index


@given(terms=st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=12), max_size=8))
def test_no_term_a_person_can_type_breaks_the_query_or_leaves_the_scope(index_connection, two_scopes, terms):
    def found(terms):
        held = two_scopes.holding(index_connection, terms, "p1", 10)
        return {number for numbers in held.values() for number in numbers.tolist()}

    assert found([*terms, "share"]) == {1}
    assert found(terms) <= {1}
    assert found(content_words(" ".join(terms))) <= {1}


def test_a_forgotten_line_leaves_no_byte_in_the_file(lines):
    for n in range(300):
        lines.say("p1", f"ordinary talk number {n} about the weather")
    secret = lines.say("p1", "zebrafish 龘靐齾")
    lines.say("p1", "afterwards")
    tokens = [token.encode() for token in ("zebrafish", "龘靐")]
    path = lines.connection.settings_dict["NAME"]
    assert lines.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
    assert all(token in stored_bytes(lines.connection, path) for token in tokens)
    lines.run("DELETE FROM line WHERE message_id = %s", [secret])
    assert lines.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
    assert os.stat(f"{path}-wal").st_size == 0
    # Prefix compression stores terms in parts: look for the tails, too.
    for part in [*tokens, b"ebrafish", b"brafish", "靐齾".encode(), "齾".encode()]:
        assert part not in stored_bytes(lines.connection, path)
    assert lines.in_step()


def stored_bytes(connection, path):
    """The file's bytes. Closed first: to read and close a file that SQLite has open drops its locks."""
    connection.close()
    return path.read_bytes()
