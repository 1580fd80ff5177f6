"""`manage.py consider`: what she would decide, and why, without deciding anything."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from persona.models import Persona
from proactive.models import Consideration, Outreach, ReachingOut


def told(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("consider", *args, stdout=out, **options)
    return out.getvalue()


def test_it_is_not_allowed_before_the_owner_has_turned_it_on(mira: Persona) -> None:
    assert "not allowed" in told(str(mira.uuid))


def test_the_gate_and_the_facts_are_those_of_the_time_that_is_asked_about(mira: Persona, allowed: ReachingOut) -> None:
    found = json.loads(told(str(mira.uuid), "--json", at="2026-01-31T23:30+08:00"))
    assert (found["verdict"], found["gate"]) == ("refuse", "quiet_hours")
    assert found["facts"]["zone"] == "Asia/Shanghai"


def test_looking_leaves_no_trace(mira: Persona, allowed: ReachingOut) -> None:
    told(str(mira.uuid))
    assert not Consideration.objects.exists()
    assert not Outreach.objects.exists()


@pytest.mark.parametrize("moment", ["tomorrow", "2026-01-31T23:30", "2026-99-99T00:00Z"])
def test_a_time_without_a_zone_or_that_is_none_is_an_error(mira: Persona, moment: str) -> None:
    with pytest.raises(CommandError, match="a time with its zone"):
        told(str(mira.uuid), at=moment)


@pytest.mark.django_db
def test_nobody_of_that_id_is_an_error() -> None:
    with pytest.raises(CommandError, match="There is no persona"):
        told("nobody")
