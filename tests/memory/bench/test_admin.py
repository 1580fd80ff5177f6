"""`manage.py bench desk`: every page of the admin is visited, and printed with its time and its statements."""

import io
import json

import pytest
from django.core.management import call_command

from echovessel.audit.models import Look
from memory.bench import admin_pages


@pytest.mark.django_db(transaction=True)
def test_every_page_of_the_admin_is_measured_and_ones_own_database_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: filters[:1] for name, filters in admin_pages.LISTS.items() if name == "memory_event"}
    monkeypatch.setattr(admin_pages, "LISTS", few)
    monkeypatch.setattr(admin_pages, "SEARCHED_MODELS", ["memory_event"])
    monkeypatch.setattr(admin_pages, "WORDS", ["小"])
    monkeypatch.setattr(admin_pages, "REPETITIONS", 1)
    out = io.StringIO()
    call_command("bench", "--json", "desk", "--nodes", "40", "--messages", "96", stdout=out)
    figures = json.loads(out.getvalue())
    assert (figures["nodes"], figures["messages"]) == (40, 96)
    names = figures["desk_ms"].keys()
    assert names == figures["desk_cpu_ms"].keys() == figures["desk_statements"].keys()
    assert {"memory_event p=last", "memory_event status__exact=active", "memory_event search 小"} <= names
    assert all(0 < count < 250 for count in figures["desk_statements"].values())
    assert "memory_event page" in "\n".join(admin_pages.format_table(figures))
    assert not Look.objects.exists()
