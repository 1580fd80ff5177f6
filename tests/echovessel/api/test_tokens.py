"""API tokens: shown once, stored as a hash, and valid for the data of their owner only."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory
from django.utils import timezone

from echovessel import api_routes
from echovessel.api import tokens
from echovessel.api.tokens import bearer, secret
from echovessel.api.tokens.models import ApiToken
from echovessel.web.client_address import client_address
from echovessel.web.rate_limit import RateLimiter
from memory import forgetting
from memory.forgetting import Target
from persona.models import Persona
from tests.echovessel.conftest import given, member

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture(autouse=True)
def reset_limits() -> Iterator[None]:
    yield
    bearer.forget_failures()
    api_routes.pace.forget()


@pytest.fixture
def token_secret(ana: User) -> str:
    """The secret of a token of Ana's."""
    return secret.create(ana, "a script", NOW)[1]


def get_with_token(token: str, client: Client | None = None, path: str = "/api/personas", **options: Any) -> Any:
    return (client or Client()).get(path, headers={"Authorization": f"Bearer {token}"}, **options)


def run_create_token(*arguments: str) -> str:
    out = StringIO()
    call_command("create_api_token", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_prints_the_token_alone_and_it_works(mira: Persona) -> None:
    printed = run_create_token("ana", "--name", "a script", "--expires", "7")
    token_text = printed.removesuffix("\n")
    assert token_text.startswith("ev_")
    assert token_text.split() == [token_text]
    assert [item["name"] for item in get_with_token(token_text).json()["items"]] == ["Mira"]
    token = ApiToken.objects.get()
    assert token.expires_at is not None
    assert timedelta(days=6, hours=23) < token.expires_at - timezone.now() <= timedelta(days=7)


@pytest.mark.parametrize("arguments", [["nobody"], ["ana", "--expires", "0"], ["ana", "--name", "x" * 81]])
def test_the_command_refuses_what_makes_no_token(ana: User, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        run_create_token(*arguments)
    assert not ApiToken.objects.exists()


def test_nothing_that_is_kept_opens_anything(ana: User, token_secret: str) -> None:
    row = ApiToken.objects.values().get()
    assert row["digest"] == hashlib.sha256(token_secret.encode()).hexdigest()
    assert token_secret not in str(row)
    assert token_secret.startswith(row["prefix"])
    assert len(row["prefix"]) == 8
    for wrong in (row["digest"], row["prefix"], "", "ev_", token_secret + "x", token_secret[:-1], token_secret.upper()):
        assert tokens.owner_of(wrong, NOW) is None


def test_a_token_opens_until_it_runs_out_is_revoked_or_its_owner_is_gone(ana: User, token_secret: str) -> None:
    until = NOW + timedelta(days=1)
    _token, short = secret.create(ana, "", NOW, until)
    assert tokens.owner_of(short, until - timedelta(seconds=1)) == ana
    assert tokens.owner_of(short, until) is None
    assert tokens.owner_of(token_secret, until) == ana
    User.objects.update(is_active=False)
    assert tokens.owner_of(token_secret, NOW) is None
    User.objects.update(is_active=True)
    token = ApiToken.objects.get(digest=secret.digest_of(token_secret))
    assert secret.revoke(token, NOW)
    assert not secret.revoke(token, NOW)
    assert tokens.owner_of(token_secret, NOW) is None


def test_use_is_noted_once_a_minute(ana: User, token_secret: str, django_assert_num_queries: Any) -> None:
    def used_at(seconds: int) -> float:
        tokens.owner_of(token_secret, NOW + timedelta(seconds=seconds))
        at = ApiToken.objects.get().last_used_at
        assert at is not None
        return (at - NOW).total_seconds()

    assert [used_at(seconds) for seconds in (0, 59, 60, 61)] == [0, 0, 60, 60]
    with django_assert_num_queries(1):
        tokens.owner_of(token_secret, NOW + timedelta(seconds=62))


def test_known_and_unknown_secrets_take_the_same_way(
    ana: User, token_secret: str, monkeypatch: Any, django_assert_num_queries: Any
) -> None:
    compared = []
    monkeypatch.setattr(secret, "constant_time_compare", lambda a, b: compared.append((len(a), len(b))) or a == b)
    tokens.owner_of(token_secret, NOW)
    for candidate in (token_secret, "ev_" + "x" * 43, "x"):
        with django_assert_num_queries(1):
            tokens.owner_of(candidate, NOW)
    assert set(compared) == {(64, 64)}
    assert len(compared) == 4


def test_a_bearer_needs_no_csrf_token_and_a_login_does(mira: Persona, token_secret: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(mira.owner)
    address, body = f"/api/personas/{mira.uuid}/blocks/style", {"content": "Whisper."}
    refused = client.put(address, body, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
    response = client.put(address, body, "application/json", headers={"Authorization": f"Bearer {token_secret}"})
    assert response.status_code == 200


def test_a_wrong_token_is_not_made_good_by_a_login(mira: Persona) -> None:
    client = Client()
    client.force_login(mira.owner)
    answer = get_with_token("ev_wrong", client)
    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
    assert answer["WWW-Authenticate"] == "Bearer"
    assert client.get("/api/personas").status_code == 200


def test_who_comes_by_a_token_is_its_owner_whoever_is_signed_in(
    mira: Persona, otto: Persona, token_secret: str
) -> None:
    client = Client()
    client.force_login(otto.owner)
    assert [item["name"] for item in get_with_token(token_secret, client).json()["items"]] == ["Mira"]
    assert get_with_token(token_secret, client, f"/api/personas/{otto.uuid}").status_code == 404


def test_after_five_wrong_tokens_further_wrong_ones_wait_and_valid_ones_get_in(
    mira: Persona, token_secret: str
) -> None:
    assert [get_with_token(f"ev_{number}").status_code for number in range(5)] == [401] * 5
    locked = get_with_token("ev_wrong")
    assert (locked.status_code, locked.json()["code"]) == (429, "locked_out")
    assert 0 < int(locked["Retry-After"]) <= 15 * 60
    assert get_with_token("ev_wrong", REMOTE_ADDR="10.0.0.7").status_code == 401
    for path in ("/api/personas", "/api/openapi.json", "/v1/models"):
        assert get_with_token(token_secret, path=path).status_code == 200, path
    assert get_with_token("ev_wrong").status_code == 429


def test_the_lock_ends_and_addresses_are_not_remembered_without_end(
    ana: User, token_secret: str, monkeypatch: Any
) -> None:
    now = 1_000.0
    monkeypatch.setattr(bearer.time, "monotonic", lambda: now)
    monkeypatch.setattr(bearer, "MAX_ADDRESSES", 3)
    for _ in range(5):
        get_with_token("ev_wrong")
    now += 10 * 60
    assert get_with_token("ev_wrong").status_code == 429  # which does not extend the lock
    now += 5 * 60
    assert get_with_token("ev_wrong").status_code == 401
    for number in range(9):
        get_with_token("ev_wrong", REMOTE_ADDR=f"10.0.0.{number}")
    assert len(bearer._failures) == 3


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "192.0.2.7", "10.0.0.1"),
        (1, "192.0.2.7", "192.0.2.7"),
        (1, "a lie, 192.0.2.7", "192.0.2.7"),
        (2, "a lie, 192.0.2.7, 10.0.0.9", "192.0.2.7"),
        (2, "192.0.2.7", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        (1, "unknown", "10.0.0.1"),
        (1, "[2001:db8::7]:443", "2001:db8::7"),
    ],
)
def test_behind_a_proxy_an_address_is_what_the_proxy_says(
    settings: Any, proxies: int, forwarded: str, address: str
) -> None:
    settings.PROXY_COUNT = proxies
    request = RequestFactory(headers={"X-Forwarded-For": forwarded} if forwarded else {}).get(
        "/", REMOTE_ADDR="10.0.0.1"
    )
    assert client_address(request) == address


def test_a_token_that_asks_too_often_is_told_to_wait(mira: Persona, token_secret: str, settings: Any) -> None:
    settings.KNOBS = {"api.requests_per_minute": 2}
    other = secret.create(mira.owner, "", NOW)[1]
    assert [get_with_token(token_secret).status_code for _ in range(3)] == [200, 200, 429]
    answer = get_with_token(token_secret)
    assert answer.json()["code"] == "rate_limited"
    assert 0 < int(answer["Retry-After"]) <= 60
    assert get_with_token(other).status_code == 200


def test_a_pace_says_when_one_more_is_admitted() -> None:
    pace = RateLimiter(lambda: 2)
    assert [pace.admit("ana", at) for at in (0.0, 10.0, 20.0, 59.9, 60.0, 60.1)] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]
    assert pace.wait("ana", 60.1) == 10
    assert pace.admit("ben", 20.0)


def test_the_document_is_there_for_a_token_too(ana: User, token_secret: str) -> None:
    assert get_with_token(token_secret, path="/api/openapi.json").json()["openapi"].startswith("3.")
    assert get_with_token("ev_wrong", path="/api/openapi.json").status_code == 401
    assert Client().get("/api/openapi.json").status_code == 302


# --- account page and admin -----------------------------------------------------------------------------------------
def test_the_account_page_lists_and_revokes_and_never_tells(mira: Persona, token_secret: str) -> None:
    client = Client()
    client.force_login(mira.owner)
    page = client.get("/account/").content.decode()
    assert "a script" in page
    assert token_secret[:8] in page
    assert token_secret not in page
    token = ApiToken.objects.get()
    assert token.digest not in page
    assert client.get(f"/account/tokens/{token.uuid}/revoke/").status_code == 405
    assert client.post(f"/account/tokens/{token.uuid}/revoke/").status_code == 302
    assert get_with_token(token_secret).status_code == 401
    assert "a script" not in client.get("/account/").content.decode()


def test_nobody_revokes_what_is_anothers(mira: Persona, ben: User, token_secret: str) -> None:
    client = Client()
    client.force_login(ben)
    assert client.post(f"/account/tokens/{ApiToken.objects.get().uuid}/revoke/").status_code == 404
    assert get_with_token(token_secret).status_code == 200


def test_the_desk_lists_and_revokes_and_never_tells(mira: Persona, token_secret: str) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("cora", password="a long word for cora"))
    token = ApiToken.objects.get()
    for address in ("/admin/tokens/apitoken/", f"/admin/tokens/apitoken/{token.pk}/change/"):
        page = client.get(address).content.decode()
        assert token_secret[:8] in page
        assert token_secret not in page
        assert token.digest not in page
    client.post("/admin/tokens/apitoken/", {"action": "revoke", "_selected_action": [token.pk]})
    assert get_with_token(token_secret).status_code == 401


def test_who_only_looks_at_the_desk_revokes_nothing(mira: Persona, token_secret: str) -> None:
    client = Client()
    client.force_login(given(member("bea"), "tokens.view_apitoken"))
    client.post("/admin/tokens/apitoken/", {"action": "revoke", "_selected_action": [ApiToken.objects.get().pk]})
    assert get_with_token(token_secret).status_code == 200


def test_tokens_go_with_their_owner(mira: Persona, ben: User, token_secret: str) -> None:
    plan = forgetting.plan([Target("owner", mira.owner_id)])
    assert plan.counts["tokens_apitoken"] == 1
    forgetting.forget(plan, None, NOW)
    assert not ApiToken.objects.exists()
