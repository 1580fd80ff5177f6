"""Pagination by key: a page continues after a given item. Pages are not numbered or counted.

Answers are `Page[Item]`: `items`, and `next`, which is the `before` of the following page, or null on the last one.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.shortcuts import get_object_or_404
from ninja import Schema
from pydantic import Field

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)


class PageParams(Schema):
    """Which page of a list to return: the items after the one with the id `before`, and how many."""

    before: UUID | None = Field(None, description="The `next` of the previous page; leave it out for the first page.")
    limit: int = Field(50, ge=1, le=200, description="The maximum number of items.")


class Page(Schema, Generic[Item]):
    """A page of a list; `next` is the `before` of the following page, or null on the last one."""

    items: list[Item]
    next: UUID | None


def page(
    rows: "QuerySet[Row]", params: PageParams, serialize: Callable[[Row], Any], by: tuple[str, ...] = ("id",)
) -> Any:
    """A page of `rows`, in descending order of the columns `by`, the last of which is unique. 404 if `before` is not
    among the rows."""
    if params.before is not None:
        # The rows after `row` in descending order.
        row = get_object_or_404(rows, uuid=params.before)
        after_cursor, same = Q(pk__in=[]), Q()
        for name in by:
            after_cursor |= same & Q(**{f"{name}__lt": getattr(row, name)})
            same &= Q(**{name: getattr(row, name)})
        rows = rows.filter(after_cursor)
    page_rows = list(rows.order_by(*(f"-{name}" for name in by))[: params.limit + 1])
    return cut_page(page_rows[: params.limit], len(page_rows) > params.limit, serialize)


def cut_page(rows: list[Any], has_more: bool, serialize: Callable[[Any], Any]) -> dict[str, Any]:
    """The page with these rows."""
    return {"items": [serialize(row) for row in rows], "next": rows[-1].uuid if has_more else None}
