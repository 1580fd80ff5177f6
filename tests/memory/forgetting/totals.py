"""How many rows there are, of everything."""

from collections.abc import Mapping

from django.apps import apps

from memory.forgetting import Plan
from memory.models import Receipt

# What a forgetting adds: its receipt, what is refused from now on, and work for those who must read anew.
ADDED = {"memory_receipt", "memory_tombstone", "django_q_ormq"}


def totals() -> dict[str, int]:
    """The rows of every table that a model has."""
    models = [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]
    return {model._meta.db_table: model._default_manager.count() for model in models}


def went(before: Mapping[str, int], *, news: int = 1) -> dict[str, int]:
    """The rows that are there no more, by table; `news` events were added."""
    now = totals()
    found = {table: before[table] - now[table] for table in before if table not in ADDED}
    found["outbox_outboxevent"] += news
    return {table: count for table, count in found.items() if count}


def rows_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Of a plan's or a receipt's counts those of rows, not of values."""
    return {name: count for name, count in counts.items() if "." not in name}


def is_all_or_nothing(before: Mapping[str, int], plan: Plan) -> str:
    """Whether everything or nothing of a plan was done; anything between fails."""
    gone = went(before, news=Receipt.objects.count())
    assert gone in ({}, rows_of(plan.counts)), gone
    return "all" if gone else "nothing"
