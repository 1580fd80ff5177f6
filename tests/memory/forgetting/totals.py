"""The number of rows in every table."""

from collections.abc import Mapping

from django.apps import apps

from memory.forgetting import Plan
from memory.models import Receipt

# Rows that a forgetting adds: its receipt, tombstones, and queued jobs for sessions to read again.
ADDED = {"memory_receipt", "memory_tombstone", "django_q_ormq"}


def totals() -> dict[str, int]:
    """The number of rows by table, for every model."""
    models = [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]
    return {model._meta.db_table: model._default_manager.count() for model in models}


def went(before: Mapping[str, int], *, news: int = 1) -> dict[str, int]:
    """The number of deleted rows by table; `news` events were added."""
    now = totals()
    counts = {table: before[table] - now[table] for table in before if table not in ADDED}
    counts["outbox_outboxevent"] += news
    return {table: count for table, count in counts.items() if count}


def rows_of(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of rows in a plan or receipt, without those of values."""
    return {name: count for name, count in counts.items() if "." not in name}


def is_all_or_nothing(before: Mapping[str, int], plan: Plan) -> str:
    """Whether the plan was executed completely or not at all; anything between fails."""
    gone = went(before, news=Receipt.objects.count())
    assert gone in ({}, rows_of(plan.counts)), gone
    return "all" if gone else "nothing"
