"""Pagination of long lists: rows beyond the pages that anybody would turn are not counted."""

from typing import Any

from django.core.paginator import Paginator
from django.utils.functional import cached_property

MAX_COUNTED = 10_000


class CappedPaginator(Paginator):
    """Counts, and has pages for, the first 10,000 rows; filters and search lead to the others."""

    @cached_property
    def count(self) -> int:
        return min(self._counted_rows, MAX_COUNTED)

    @cached_property
    def is_capped(self) -> bool:
        """Whether there are more rows than were counted."""
        return self._counted_rows > MAX_COUNTED

    @cached_property
    def _counted_rows(self) -> int:
        rows: Any = self.object_list
        return rows.order_by().values("pk")[: MAX_COUNTED + 1].count()
