"""Every column that can hold words declares how it is forgotten; one without a declaration fails a check."""

import re
from typing import Any

import pytest
from django.core import checks
from django.db import connection, models
from django.test.utils import isolate_apps

from echovessel.db import text_columns
from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, OnForget, TextColumn

# Tables without a model, whose columns hold names, scopes and counts.
WORDLESS = re.compile(
    r"(django_migrations|sqlite_\w+|memory_vectorstate|chat_linestate|(memory_node|chat_message)text_size)"
)
# Search structures, which follow their tables by triggers; `verify_forgetting` searches them.
STRUCTURES = re.compile(r"memory_nodevec(_.*)?|\w+_(fts|substrings?|trigrams?)(_.*)?")


def test_every_column_of_every_model_is_declared() -> None:
    assert text_columns.faults() == []


@isolate_apps("memory")
def test_a_column_without_a_declaration_fails_the_system_check(monkeypatch: pytest.MonkeyPatch) -> None:
    class Diary(PublicId):
        title = models.CharField(max_length=20)
        pages = models.JSONField()
        photo = models.BinaryField()
        kind = models.CharField(max_length=5, choices=[("a", "A")])
        written_at = models.DateTimeField()
        text_columns = {"title": TextColumn(DELETE_ROW), "cover": NO_WORDS}

        class Meta:
            app_label = "memory"

    assert text_columns.faults([Diary]) == [
        "memory.Diary.pages is not declared.",
        "memory.Diary.photo is not declared.",
        "memory.Diary declares cover, and has no such column.",
    ]
    monkeypatch.setattr(text_columns, "all_models", lambda: [Diary])
    faults = [fault for fault in checks.run_checks(tags=[checks.Tags.models]) if fault.id == "echovessel.E008"]
    assert len(faults) == 3
    assert all(isinstance(fault, checks.Error) and fault.hint for fault in faults)


@isolate_apps("memory")
def test_a_model_inherits_the_declarations_of_its_bases_and_may_change_them() -> None:
    class Card(PublicId):
        external_id = models.CharField(max_length=9)
        back = models.TextField()
        text_columns = {"back": TextColumn(DELETE_ROW), "external_id": NO_WORDS}

        class Meta:
            app_label = "memory"

    class Joker(Card):
        class Meta:
            proxy = True
            app_label = "memory"

    assert text_columns.declared(Joker) == {"back": TextColumn(DELETE_ROW), "external_id": NO_WORDS}


def test_a_declaration_is_found_by_the_name_of_its_column_in_the_database(db: Any) -> None:
    places = text_columns.by_place()
    assert places["chat_message.content"].on_forget is OnForget.DELETE_ROW
    assert places["persona_coreblock.content"].on_forget is OnForget.OWNERS
    assert places["django_session.session_data"].decode is not None
    assert places["memory_nodetext.body"].form == "terms"


def test_the_database_has_no_column_of_text_beside_those_of_models(db: Any) -> None:
    model_tables = {model._meta.db_table for model in text_columns.all_models()}
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pragma_table_list WHERE schema = 'main'")
        tables = {name for (name,) in cursor.fetchall()}
    unknown = {
        table for table in tables - model_tables if not STRUCTURES.fullmatch(table) and not WORDLESS.fullmatch(table)
    }
    assert unknown == set()
