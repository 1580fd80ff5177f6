"""The registry of columns that may hold words of people (text, JSON or bytes), and what forgetting does to each.

A model declares its columns beside its fields, and inherits those of its bases:

    class MoodChange(PublicId):
        text_columns = {"mood": TextColumn(DELETE_ROW, found_by="words")}

Models of other packages are declared in one mapping by label, which the setting TEXT_COLUMNS names by dotted path.
Forgetting, its verification, the deletion of personas and accounts, the replay after a restore and the archive read the
declarations from here. An undeclared column fails the system check echovessel.E008: forgetting would miss it. Columns
that cannot hold words need no declaration: numbers, times, keys, UUIDs, and text with `choices`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, Literal

from django.apps import apps
from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string


class OnForget(Enum):
    """What forgetting does to a column."""

    DELETE_ROW = "the row is deleted"
    CLEAR = "the row stays, the column is cleared or rewritten"
    OWNERS = (
        "the owner wrote it about the persona and themselves: only the owner changes it, and it "
        "is deleted with the persona"
    )
    ACCOUNTS = "it belongs to an account or a sign-in, and is deleted with it"
    NO_WORDS = "no words of people: codes, digests, ids, counts, names of models"


DELETE_ROW, CLEAR, OWNERS, ACCOUNTS = OnForget.DELETE_ROW, OnForget.CLEAR, OnForget.OWNERS, OnForget.ACCOUNTS


@dataclass(frozen=True)
class TextColumn:
    """The declaration of one column.

    found_by: how forgetting finds the rows. "key": by a reference to them. "words": also by the forgotten words, in any
        row of the persona. "restatement": also if the text says the same in other words.
    cleared: the value of a cleared column.
    form: "text"; "terms" are words as a text index splits them; "vector" is the embedding of a text.
    cut_in: the "table.column" that holds the same words as terms.
    tombstone: the kind of tombstone that keeps the text from coming back (see `memory.store.tombstones`).
    archived: whether an archive of the persona contains it.
    wordless_keys: of a JSON object, the keys whose values hold no words. A cleared object keeps them, and the archive
        of a column that is not `archived` contains only them.
    decode: turns the stored value (signed, pickled) into one whose strings can be read; raises one of `undecodable`
        if it cannot.
    may_name_forgotten: ids of forgotten rows are stored here on purpose, as in a receipt.
    """

    on_forget: OnForget
    found_by: Literal["key", "words", "restatement"] = "key"
    cleared: Any = ""
    form: Literal["text", "terms", "vector"] = "text"
    cut_in: str = ""
    tombstone: Literal["", "text", "line", "name", "external", "draft"] = ""
    archived: bool = False
    wordless_keys: tuple[str, ...] = ()
    decode: Callable[[str], Any] | None = field(default=None, compare=False)
    undecodable: tuple[type[Exception], ...] = ()
    may_name_forgotten: bool = False

    @property
    def holds_words(self) -> bool:
        return self.on_forget is not OnForget.NO_WORDS

    def without_words(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a JSON object of this column that holds no words."""
        return {name: value[name] for name in self.wordless_keys if name in value}


NO_WORDS = TextColumn(OnForget.NO_WORDS)
NAMES_FORGOTTEN_IDS = TextColumn(OnForget.NO_WORDS, may_name_forgotten=True)
WRITTEN_BY_OWNER = TextColumn(OWNERS, archived=True)
OF_ACCOUNT = TextColumn(ACCOUNTS)

Model = type[models.Model]
Columns = Mapping[str, TextColumn]


def declared(model: Model) -> Columns:
    """The declared columns of a model by field name, its own and those of its bases."""
    columns: dict[str, TextColumn] = dict(import_string(settings.TEXT_COLUMNS).get(model._meta.label, {}))
    for base in reversed(model.__mro__):
        columns |= vars(base).get("text_columns", {})
    return columns


def column_of(model: Model, name: str) -> TextColumn:
    """The declaration of a field. Raises KeyError if it has none."""
    return declared(model)[name]


def all_models() -> Iterator[Model]:
    """Every model with a table of its own."""
    return (model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy)


def declarations() -> Iterator[tuple[Model, str, TextColumn]]:
    """Yield every declared column: its model, the name of its field, its declaration."""
    for model in all_models():
        yield from ((model, name, column) for name, column in declared(model).items())


def of_form(form: Literal["text", "terms", "vector"]) -> Iterator[tuple[Model, str, TextColumn]]:
    """The declarations of one form."""
    return (declaration for declaration in declarations() if declaration[2].form == form)


def models_with(on_forget: OnForget) -> Iterator[Model]:
    """The models with a column to which forgetting does this."""
    return (
        model for model in all_models() if any(column.on_forget is on_forget for column in declared(model).values())
    )


@cache
def by_place() -> Mapping[str, TextColumn]:
    """Every declaration by "table.column", as the database names it."""
    return {
        f"{model._meta.db_table}.{model._meta.get_field(name).column}": column  # type: ignore[union-attr]
        for model, name, column in declarations()
    }


@cache
def tables_that_may_name_forgotten() -> frozenset[str]:
    """The tables in which ids of forgotten rows are stored on purpose."""
    return frozenset(place.split(".")[0] for place, column in by_place().items() if column.may_name_forgotten)


def strings(value: Any) -> Iterator[str]:
    """Yield each string in a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.items():
            yield from strings(part)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from strings(part)
    elif value is not None and not isinstance(value, int | float):
        yield str(value)


# --- the check ------------------------------------------------------------------------------------------------------
def faults(checked: Iterable[Model] | None = None) -> list[str]:
    """Errors in the declarations: undeclared columns, and declarations without a column."""
    fault_texts: list[str] = []
    for model in all_models() if checked is None else checked:
        columns = declared(model)
        fields = {field.name: field for field in model._meta.concrete_fields}
        can_hold_words = {
            name
            for name, field in fields.items()
            if (isinstance(field, _TEXT) or field.get_internal_type() == "TextField") and not field.choices
        }
        fault_texts += [
            f"{model._meta.label}.{name} is not declared." for name in sorted(can_hold_words - columns.keys())
        ]
        fault_texts += [
            f"{model._meta.label} declares {name}, and has no such column." for name in columns.keys() - fields
        ]
    return fault_texts


_TEXT = (models.CharField, models.TextField, models.JSONField, models.BinaryField, models.FileField)
