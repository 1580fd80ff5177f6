"""The API of reaching out: the owner's switch and its bounds."""

from typing import Any

import pytest
from django.test import Client

from persona.models import Persona
from proactive.models import ReachingOut

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


def patched(client: Client, persona: Persona, **body: Any) -> Any:
    return client.patch(f"/api/personas/{persona.uuid}/reaching-out", body, "application/json")


def test_it_is_off_until_the_owner_turns_it_on_and_what_is_left_out_stays(owner: Client, mira: Persona) -> None:
    first = owner.get(f"/api/personas/{mira.uuid}/reaching-out").json()
    assert (first["enabled"], first["quiet_start"], first["quiet_end"]) == (False, 23, 7)
    assert not ReachingOut.objects.exists()
    assert patched(owner, mira, enabled=True, quiet_start=21).json() == first | {"enabled": True, "quiet_start": 21}
    assert patched(owner, mira, quiet_start=None).json() == first | {"enabled": True}
    assert ReachingOut.objects.get().changed_at is not None


def test_nobody_allows_more_than_the_installation(owner: Client, mira: Persona) -> None:
    most = owner.get(f"/api/personas/{mira.uuid}/reaching-out").json()["most"]
    assert patched(owner, mira, max_per_24h=most).status_code == 200
    for wrong in (
        {"max_per_24h": most + 1},
        {"quiet_start": 24},
        {"quiet_end": -1},
        {"often": True},
        {"enabled": None},
    ):
        assert patched(owner, mira, **wrong).status_code == 422
    assert ReachingOut.objects.get().max_per_24h == most
