"""The page of the knobs: their meaning, range and reason, and where each is overridden. Knobs are read when a process
starts, so the page cannot change them; it says how to."""

import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext as _

from echovessel.knobs import REGISTRY, Knob


def list_knobs(request: HttpRequest) -> TemplateResponse:
    """All knobs, or those that match the search."""
    autodiscover_modules("knobs")
    sought, only_changed = request.GET.get("q", "").strip()[:100], "changed" in request.GET
    words = sought.casefold().split()
    in_file, trouble = read_file()
    rows = [knob_row(knob, in_file) for _name, knob in sorted(REGISTRY.items())]
    knob_rows = [
        row
        for row in rows
        if all(word in f"{row['name']} {row['why']} {row['unit']}".casefold() for word in words)
        and (row["source"] or row["pending"] is not None or not only_changed)
    ]
    context = {
        **admin.site.each_context(request),
        "title": _("Knobs"),
        "rows": knob_rows,
        "total": len(rows),
        "changed": sum(bool(row["source"]) for row in rows),
        "sought": sought,
        "only_changed": only_changed,
        "file": Path(settings.DATA_DIR) / "knobs.toml",
        "trouble": trouble,
    }
    return TemplateResponse(request, "admin/knobs.html", context)


def knob_row(knob: Knob, in_file: dict[str, Any]) -> dict[str, Any]:
    """The row of one knob. `pending` is the value after a restart, if knobs.toml has changed since the start."""
    value = settings.KNOBS.get(knob.name, knob.default)
    is_in_file = settings.FILE_KNOBS.get(knob.name) == value
    source = ("file" if is_in_file else "environment") if knob.name in settings.KNOBS else ""
    after = value if source == "environment" else in_file.get(knob.name, knob.default)
    return {
        **{name: getattr(knob, name) for name in ("name", "default", "low", "high", "unit", "why")},
        "value": value,
        "source": source,
        "pending": after if after != value else None,
    }


def read_file() -> tuple[dict[str, Any], str]:
    """The knobs in the file now, and an error message if it cannot be read."""
    path = Path(settings.DATA_DIR) / "knobs.toml"
    try:
        return (tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}), ""
    except (OSError, ValueError) as error:
        return dict(settings.FILE_KNOBS), str(error)
