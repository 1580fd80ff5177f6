"""Admin pages: lists that stay fast, words only for staff who may read them, forgetting in place of deletion."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import get_fields_from_path, label_for_field, unquote
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Model, Q, QuerySet, UUIDField
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from echovessel.admin.paging import CappedPaginator
from echovessel.admin.permissions import MASK, READ, excerpt, may_forget, may_forget_of_all, may_read
from echovessel.audit import looks
from echovessel.db.public_id import parse_uuid
from echovessel.db.sqlite.substrings import SubstringIndex

MAX_AT_ONCE = 50
COMMON = 200  # rows; fewer than this are looked up in the index with one statement
MAX_INLINE = 20
# Fields that may name a row on its page.
TITLES = ("canonical_name", "name", "title", "description", "summary", "text", "content")


class Forgettable(admin.ModelAdmin):
    """Rows that are forgotten with all that depends on them, where Django's admin would delete them.

    `forgets` is the kind of target in `memory.forgetting` that a row is, or "".
    """

    forgets: str = ""

    def owner_id_of(self, row: Any) -> int | None:
        """The key of the row's owner."""
        raise NotImplementedError

    def may_forget(self, request: HttpRequest, row: Any) -> bool:
        return bool(self.forgets) and may_forget(request.user, self.owner_id_of(row), self.forgets)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_forget_permission(self, request: HttpRequest) -> bool:
        return bool(self.forgets) and may_forget_of_all(request.user, self.forgets)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        if self.has_forget_permission(request):
            actions["forget"] = (Forgettable.forget, "forget", str(_("Forget…")))  # type: ignore[assignment]
        return actions

    def forget(self, request: HttpRequest, rows: QuerySet) -> HttpResponseRedirect | None:
        """Redirect to the preview of forgetting these rows."""
        selected_rows = self.limited_rows(request, rows)
        return redirect(forget_address(self.forgets, [row.pk for row in selected_rows])) if selected_rows else None

    def limited_rows(self, request: HttpRequest, rows: QuerySet) -> list[Any]:
        """The rows of an action; an empty list and an error message if they are more than a page holds."""
        selected_rows = list(rows[: MAX_AT_ONCE + 1])
        if len(selected_rows) <= MAX_AT_ONCE:
            return selected_rows
        text = _("Choose at most %(count)d.") % {"count": MAX_AT_ONCE}
        self.message_user(request, text, messages.ERROR)
        return []

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Mapping[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the preview of forgetting the row: rows are deleted in no other way."""
        row = self.get_object(request, unquote(object_id))
        if row is None or not self.has_view_permission(request, row) or not self.may_forget(request, row):
            raise PermissionDenied
        return redirect(forget_address(self.forgets, [row.pk]))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        row = options.get("obj")
        if row is not None and self.may_forget(request, row):
            context["forget_address"] = forget_address(self.forgets, [row.pk])
        return super().render_change_form(request, context, *args, **options)


class AdminPage(Forgettable):
    """Rows that belong to a persona. Subclasses declare:

    words: fields and columns that show people's words, or memories of them
    persona_path: the path from a row to its persona; "" if it is one, None if it belongs to none
    unlisted: fields too large to load for a list that does not show them
    on_page: list actions that a row's page offers too, while the row `waits` for them
    """

    words: Sequence[str] = ()
    persona_path: str | None = "persona"
    unlisted: Sequence[str] = ()
    on_page: Sequence[str] = ()

    paginator = CappedPaginator
    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False
    list_per_page = list_max_show_all = MAX_AT_ONCE
    ordering: ClassVar = ["-id"]
    sortable_by: ClassVar = ()  # by the key only: any other order reads all rows

    # --- the owner ----------------------------------------------------------------------------------------------------

    @property
    def list_title(self) -> Any:
        """The title of the list, from the site's own names if it has one."""
        return getattr(self.admin_site, "names", {}).get(self.opts.label, capfirst(self.opts.verbose_name_plural))

    def persona_of(self, row: Any) -> Any:
        """The persona that a row belongs to, or None."""
        if self.persona_path is None:
            return None
        return reduce(getattr, filter(None, self.persona_path.split(".")), row)

    def owner_id_of(self, row: Any) -> int | None:
        persona = self.persona_of(row)
        return persona.owner_id if persona else None

    def reads(self, request: HttpRequest, row: Any) -> bool:
        """Whether this user may read the words of `row`."""
        return not self.words or may_read(request.user, self.owner_id_of(row))

    def log_view(self, request: HttpRequest, rows: Iterable[Any]) -> None:
        """Record that this user was shown the words of `rows` of other owners."""
        if not self.words:
            return
        foreign_rows = [
            row for row in rows if self.owner_id_of(row) not in (None, request.user.pk) and self.reads(request, row)
        ]
        personas = {self.persona_of(row).uuid for row in foreign_rows}
        looks.record(request.user, self.opts.label, personas, [row.pk for row in foreign_rows])

    # --- display ------------------------------------------------------------------------------------------------------

    def get_list_display(self, request: HttpRequest) -> Any:
        columns: Sequence[Any] = super().get_list_display(request)
        column_names = [self._column(request, name) if name in self.words else name for name in columns]
        return [
            self._named("persona", partial(self._name_persona, request)) if column == "persona" else column
            for column in column_names
        ]

    def _name_persona(self, request: HttpRequest, row: Any) -> str:
        """The name of a row's persona if this user may read it, else its key."""
        persona = self.persona_of(row)
        return persona.name if persona and may_read(request.user, persona.owner_id) else str(persona or "–")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        sets = super().get_fieldsets(request, obj)
        if obj is None:
            return sets
        is_masked = not self.reads(request, obj)
        is_linked = not is_masked and self._names_persona(request, obj)
        fieldsets = []
        for title, options in sets:
            fields: list[Any] = list(options["fields"])
            if is_masked:
                fields = [self._named(name, lambda row: MASK) if name in self.words else name for name in fields]
            elif is_linked:  # in place of the key; Django also lists a read-only field by itself
                fields = ["persona_link" if name == "persona" else name for name in fields if name != "persona_link"]
            fieldsets.append((title, {**options, "fields": fields}))
        return fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "persona_link"] if obj is not None and self._names_persona(request, obj) else fields

    def _names_persona(self, request: HttpRequest, row: Any) -> bool:
        return self.persona_path == "persona" and may_read(request.user, self.owner_id_of(row))

    @admin.display(description=_("persona"))
    def persona_link(self, row: Any) -> str:
        """A link with the persona's name, where Django would show the key from `__str__`."""
        persona = self.persona_of(row)
        return format_html('<a href="{}" dir="auto">{}</a>', page_of(persona), persona.name)

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is not None and not self.reads(request, obj):
            return []
        return super().get_inline_instances(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rows = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.defer(*self.unlisted) if is_list else rows

    def changelist_view(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, {"title": self.list_title, **(extra_context or {})})
        if context := getattr(response, "context_data", None):
            self.log_view(request, context["cl"].result_list)
        return response

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        row = options.get("obj")
        if row is not None:
            self.log_view(request, [row])
            # The names and labels of list actions that this row's page offers too.
            actions = self.get_actions(request) if self.on_page and self.waits(row) else {}
            context["offered"] = [(name, str(actions[name][2])) for name in self.on_page if name in actions]
            titles = (str(getattr(row, name, "")) for name in TITLES if name in self.words and self.reads(request, row))
            context["title"] = context["list_title"] = self.list_title
            context["subtitle"] = excerpt(next(filter(None, titles), f"#{row.pk}"))
        return super().render_change_form(request, context, *args, **options)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        page_words = {"title": _("History"), "list_title": self.list_title, "subtitle": f"#{object_id}"}
        return super().history_view(request, object_id, {**page_words, **(extra_context or {})})

    def _column(self, request: HttpRequest, name: str) -> Callable[[Any], Any]:
        """The column `name`, masked in rows that this user may not read."""
        column_value = getattr(self, name, None) or (lambda row: getattr(row, name))
        return self._named(name, lambda row: column_value(row) if self.reads(request, row) else MASK)

    def _named(self, name: str, column: Callable[[Any], Any]) -> Callable[[Any], Any]:
        column.__name__ = name
        column.short_description = label_for_field(name, self.model, self)  # type: ignore[attr-defined]
        return column

    # --- search -------------------------------------------------------------------------------------------------------

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only lookups of the page's own filters: by any other field, words could be guessed letter by letter."""
        allowed: set[str] = set()
        filters: Sequence[Any] = self.list_filter
        for list_filter in filters:
            if isinstance(list_filter, str | tuple):
                field = list_filter if isinstance(list_filter, str) else list_filter[0]
                allowed |= {f"{field}__{ending}" for ending in ("exact", "isnull", "isempty")}
            else:
                allowed.add(list_filter.parameter_name)
        return lookup in allowed

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        """Rows with that UUID; else rows that contain the term and whose words this user may read."""
        term = search_term.strip()
        if not term:
            return queryset, False
        uuid = parse_uuid(term)
        if uuid is not None:
            ends = ((name, get_fields_from_path(self.model, name)[-1]) for name in self.search_fields)
            by_uuid = (Q(**{name: uuid}) for name, field in ends if isinstance(field, UUIDField))
            return queryset.filter(reduce(or_, by_uuid, Q(pk=None))), False
        if self.persona_path is not None and not request.user.has_perm(READ):
            owner = "__".join(filter(None, [*self.persona_path.split("."), "owner"]))
            queryset = queryset.filter(**{owner: request.user.pk})
        return self.matching_rows(request, queryset, term)

    def matching_rows(self, request: HttpRequest, rows: QuerySet, term: str) -> tuple[QuerySet, bool]:
        """The rows that contain `term`, of `rows` whose words this user may search."""
        return super().get_search_results(request, rows, term)

    # --- actions ------------------------------------------------------------------------------------------------------

    def waits(self, row: Any) -> bool:
        """Whether the row waits for the actions of `on_page`."""
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only for users who may read the row."""
        return super().has_change_permission(request, obj) and (obj is None or self.reads(request, obj))


class ReadOnlyAdmin(AdminPage):
    """Rows that can be viewed, but not added, changed or deleted here."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class WordsIndexed(AdminPage):
    """Rows that are searched by a substring index."""

    substrings: SubstringIndex
    search_help_text = _("Text or UUID")

    def matching_rows(self, request: HttpRequest, rows: QuerySet, term: str) -> tuple[QuerySet, bool]:
        """Search the index if few rows contain the term; a common term is searched in the rows, where it is soon
        found."""
        keys = self.substrings.find(connection, term, COMMON)
        if len(keys) < COMMON:
            return rows.filter(pk__in=keys), False
        return rows.filter(**{f"{self.substrings.column}__icontains": term}), False


class _FirstRows(BaseInlineFormSet):
    """Only the first rows."""

    def get_queryset(self) -> Any:
        if not hasattr(self, "_first"):
            self._first = list(super().get_queryset()[:MAX_INLINE])
        return self._first


class ReadOnlyInline(admin.TabularInline):
    """The first twenty related rows on the page of their parent."""

    extra = 0
    can_delete = False
    formset = _FirstRows
    related: Sequence[str] = ()  # relations to load with the rows, not row by row

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rows = super().get_queryset(request)
        return rows.select_related(*self.related) if self.related else rows

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Visible to everybody who may view the parent's page."""
        return True


def forget_address(kind: str, keys: Iterable[int]) -> str:
    """The address of the preview of forgetting these rows; it contains only keys."""
    return f"{reverse('admin:forget')}?{urlencode([('kind', kind), *(('key', str(key)) for key in keys)])}"


def page_of(row: Model, name: str = "") -> str:
    """The address of a row's page. `name`: the model that is registered, if it is not the row's own."""
    return reverse(f"admin:{row._meta.app_label}_{name or row._meta.model_name}_change", args=[row.pk])
