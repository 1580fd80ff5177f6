"""No response may be stored by a browser or a proxy: checked for every address."""

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.views.decorators.cache import cache_control

from echovessel.api.tokens import secret as secrets
from echovessel.web import no_store
from persona.models import Persona

pytestmark = pytest.mark.django_db

STREAMS = "/events"  # they never end, and set their own Cache-Control (tests/chat/socket/test_stream.py)


def addresses(persona: Persona) -> list[str]:
    """Every address of the site, with Ana's persona or an unknown id for each variable."""
    candidates = {fill_address(pattern, str(persona.uuid)) for pattern in patterns(get_resolver().url_patterns)}
    return sorted(address for address in candidates if address is not None and not is_left_out(address))


def is_left_out(address: str) -> bool:
    """Whether the address is a stream, or a page below a list of the admin (one view serves them all)."""
    return address.endswith(STREAMS) or (address.startswith("/admin/") and address.count("/") > 4)


def patterns(of: Any, before: str = "") -> Iterator[str]:
    for entry in of:
        if isinstance(entry, URLResolver):
            yield from patterns(entry.url_patterns, before + str(entry.pattern))
        elif isinstance(entry, URLPattern):
            yield before + str(entry.pattern)


def fill_address(pattern: str, persona: str) -> str | None:
    """The address of a pattern, or None for a regular expression."""
    address = re.sub(r"<uuid:persona(_id)?>", persona, pattern)
    address = re.sub(r"<uuid:\w+>", str(uuid.uuid4()), address)
    address = re.sub(r"<int:\w+>|<[^>:]+>|<path:\w+>", "1", address)
    address = re.sub(r"<\w+:\w+>", "user", address)
    return None if set(address) & set("()?*^$<>") else "/" + address


def test_no_address_lets_its_answer_be_kept(mira: Persona, client: Client) -> None:
    mira.owner.is_staff = mira.owner.is_superuser = True
    mira.owner.save()
    client.force_login(mira.owner)
    client.raise_request_exception = False
    all_addresses = addresses(mira)
    assert len(all_addresses) > 120
    storable, statuses = [], set()
    for address in all_addresses:
        answer = client.get(address)
        statuses.add(answer.status_code)
        if "no-store" not in answer.headers["Cache-Control"]:
            storable.append(address)
        if answer.status_code == 302 and answer.headers["Location"].startswith("/login/"):
            client.force_login(mira.owner)  # that address signed out
    assert storable == []
    assert {200, 302, 404, 405} <= statuses
    assert 500 not in statuses


def test_api_answers_and_refusals_are_not_stored(mira: Persona, client: Client, ana: Any) -> None:
    _token, key = secrets.create(ana, "", mira.created_at)
    for headers in ({}, {"Authorization": f"Bearer {key}"}, {"Authorization": "Bearer ev_wrong"}):
        for address in (f"/api/personas/{mira.uuid}/messages", "/api/nothing", "/v1/models", "/v1/nothing"):
            assert client.get(address, headers=headers).headers["Cache-Control"] == "no-store"


async def test_streamed_answers_are_not_stored(rf: Any) -> None:
    async def stream_response(_request: Any) -> StreamingHttpResponse:
        return StreamingHttpResponse(iter(["…"]))

    answered: Any = no_store.middleware(stream_response)
    assert (await answered(rf.get("/"))).headers["Cache-Control"] == "no-store"


def test_what_an_answer_says_itself_is_left_alone(rf: Any) -> None:
    view = cache_control(max_age=60)(lambda _request: HttpResponse("…"))
    assert no_store.middleware(view)(rf.get("/")).headers["Cache-Control"] == "max-age=60"


def test_static_files_are_kept(client: Client, settings: Any, tmp_path: Any) -> None:
    settings.STATIC_ROOT = tmp_path
    call_command("collectstatic", "--noinput", verbosity=0)
    answer = Client().get("/static/css/chat.css")
    assert (answer.status_code, "no-store" in answer.headers["Cache-Control"]) == (200, False)
