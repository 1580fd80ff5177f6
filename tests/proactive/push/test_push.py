"""Notices to browsers: that there is something new, sealed, to services that are known, once; never what it says."""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from py_vapid import Vapid

from echovessel.checks import push_services_can_be_called
from persona.models import Persona
from proactive.models import Outreach, PushSubscription, ReachingOut
from proactive.outreach import runner
from proactive.push import endpoints, notify, vapid
from proactive.push.subscriptions import NotSubscribed, parse_subscription, subscribe, unsubscribe
from tests.memory.sessions import NOW, Clock
from tests.proactive.outreach_setup import allow, promised, talked, wanted
from tests.scripted import Script
from tests.wire.push_service import Browser, PushService, unwritten

pytestmark = pytest.mark.django_db
SAID = "How did the interview go?"


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    """The only push service that may be called."""
    with PushService() as running:
        settings.PUSH_SERVICES = [running.origin]
        yield running


@pytest.fixture
def phone(service: PushService, ana: User) -> Browser:
    """Ana's, on the list."""
    made = Browser(f"{service.origin}/send/abc")
    subscribe(ana.pk, parse_subscription(made.subscription()))
    return made


@pytest.fixture
def said(mira: Persona) -> Outreach:
    """A first word that was said just now; the owner wants notices."""
    ReachingOut.objects.create(persona=mira, enabled=True, push=True)
    return Outreach.objects.create(
        persona=mira, trigger="silence", trigger_key="silence:1", wanted_at=NOW, delivered_at=NOW, status="delivered"
    )


@pytest.fixture
def signed_in(client: Client, ana: User) -> Client:
    client.force_login(ana)
    return client


# --- the notice -------------------------------------------------------------------------------------------------------
def test_a_first_word_is_told_of_without_what_it_says(
    mira: Persona, service: PushService, phone: Browser, remember: Any, model: Script, clock: Clock
) -> None:
    allow(mira, push=True)
    talked(mira)
    promised(remember, mira)
    model.answers({"message": SAID})
    assert runner.run(wanted(mira, clock()).pk, clock) == "delivered"
    [notice] = service.notices
    assert phone.opened(notice) == {"url": f"/chat/{mira.uuid}/", "tag": mira.uuid.hex}
    assert Outreach.objects.get().pushed_at == clock()
    assert PushSubscription.objects.get().last_pushed_at == clock()


def test_the_service_sees_who_sends_it_and_how_long_it_is_worth_keeping(
    service: PushService, phone: Browser, said: Outreach, settings: Any
) -> None:
    settings.PUSH_CONTACT = "mailto:ana@example.org"
    notify.notify(said, NOW)
    [notice] = service.notices
    assert notice.path == "/send/abc"
    assert notice.headers["Content-Encoding"] == "aes128gcm"
    assert (notice.headers["TTL"], notice.headers["Urgency"]) == ("86400", "normal")
    assert notice.headers["Topic"] == said.persona.uuid.hex
    assert len(notice.headers["Topic"]) <= 32
    assert Vapid.verify(notice.headers["Authorization"])
    assert notice.credentials["k"] == vapid.public_key()
    assert (notice.token["aud"], notice.token["sub"]) == (service.origin, "mailto:ana@example.org")
    assert notice.token["exp"] < time.time() + 24 * 3_600
    assert "Cookie" not in notice.headers


def test_no_notice_is_sent_twice(service: PushService, phone: Browser, said: Outreach) -> None:
    assert notify.notify(said, NOW) == 1
    assert notify.notify(said, NOW) == 0
    assert len(service.notices) == 1


def test_that_it_was_sent_is_noted_before_it_is(service: PushService, phone: Browser, said: Outreach) -> None:
    noted: list[Any] = []
    send = notify.send_notice

    def looking(*args: Any) -> int:
        noted.append(Outreach.objects.get().pushed_at)
        return send(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(notify, "send_notice", looking)
        notify.notify(said, NOW)
    assert noted == [NOW]


def test_who_wants_none_gets_none(service: PushService, phone: Browser, said: Outreach) -> None:
    ReachingOut.objects.update(push=False)
    assert notify.notify(said, NOW) == 0
    assert (service.notices, Outreach.objects.get().pushed_at) == ([], None)


def test_all_browsers_of_the_owner_are_told_and_nobody_elses(
    service: PushService, phone: Browser, said: Outreach, ana: User, ben: User
) -> None:
    subscribe(ana.pk, parse_subscription(Browser(f"{service.origin}/send/phone").subscription()))
    subscribe(ben.pk, parse_subscription(Browser(f"{service.origin}/send/bens").subscription()))
    assert notify.notify(said, NOW) == 2
    assert sorted(notice.path for notice in service.notices) == ["/send/abc", "/send/phone"]


# --- what goes wrong --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_struck_off(
    service: PushService, phone: Browser, said: Outreach, status: int
) -> None:
    service.status = status
    assert notify.notify(said, NOW) == 0
    assert not PushSubscription.objects.exists()


def test_one_that_cannot_be_told_again_and_again_is_struck_off(
    service: PushService, phone: Browser, said: Outreach, settings: Any
) -> None:
    settings.KNOBS = {"proactive.push_failures": 2}
    service.status = 503
    notify.notify(said, NOW)
    assert PushSubscription.objects.get().failures == 1
    Outreach.objects.update(pushed_at=None)
    notify.notify(said, NOW)
    assert not PushSubscription.objects.exists()


def test_a_successful_push_resets_the_failure_count(service: PushService, phone: Browser, said: Outreach) -> None:
    PushSubscription.objects.update(failures=4)
    notify.notify(said, NOW)
    assert PushSubscription.objects.get().failures == 0


def test_a_service_that_is_not_there_takes_nothing_with_it(phone: Browser, said: Outreach, settings: Any) -> None:
    with PushService() as closed:
        origin = closed.origin
    settings.PUSH_SERVICES = [origin]
    PushSubscription.objects.update(endpoint=f"{origin}/send/abc")
    assert notify.notify(said, NOW) == 0
    assert PushSubscription.objects.get().failures == 1


def test_nobody_is_followed_to_another_place(service: PushService, phone: Browser, said: Outreach) -> None:
    with PushService() as elsewhere:
        service.status, service.location = 307, f"{elsewhere.origin}/inside"
        assert notify.notify(said, NOW) == 0
        assert elsewhere.notices == []
    assert PushSubscription.objects.get().failures == 1


def test_no_password_of_the_operator_goes_along(
    service: PushService, phone: Browser, said: Outreach, tmp_path: Path, monkeypatch: Any
) -> None:
    """requests would put that of a .netrc in the place of our token."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login operator password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    notify.notify(said, NOW)
    assert service.notices[0].headers["Authorization"].startswith("vapid ")


def test_a_service_that_is_not_trusted_any_more_is_not_called(
    service: PushService, phone: Browser, said: Outreach, settings: Any
) -> None:
    settings.PUSH_SERVICES = ["fcm.googleapis.com"]
    assert notify.notify(said, NOW) == 0
    assert service.notices == []


# --- where to ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/abc:def",
        "https://fcm.googleapis.com:443/fcm/send/abc",
        "https://updates.push.services.mozilla.com/wpush/v2/abc",
        "https://wns2-par02p.notify.windows.com/w/?token=abc",
        "https://web.push.apple.com/abc",
        "https://push.home.example:8443/abc",
    ],
)
def test_known_services_may_be_called(endpoint: str, settings: Any) -> None:
    settings.PUSH_SERVICES = [*settings.PUSH_SERVICES, "https://push.home.example:8443"]
    assert endpoints.is_allowed(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "http://fcm.googleapis.com/fcm/send/abc",
        "https://fcm.googleapis.com:8443/abc",
        "https://fcm.googleapis.com:99999/abc",
        "https://fcm.googleapis.com.evil.example/abc",
        "https://evil.example/fcm.googleapis.com",
        "https://evilpush.apple.com.example/",
        "https://fcm.googleapis.com@127.0.0.1/abc",
        "https://user:word@fcm.googleapis.com/abc",
        "https://fcm.googleapis.com\\@127.0.0.1/abc",
        "https://127.0.0.1#fcm.googleapis.com",
        "https://fcm.googleapis.com/abc#part",
        "https://127.0.0.1/abc",
        "https://[::1]/abc",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/abc",
        "file:///etc/passwd",
        "ftp://fcm.googleapis.com/abc",
        "//fcm.googleapis.com/abc",
        "https:///abc",
        "https://fcm.googleapis.com/a b",
        "https://fcm.googleapis.com/a\r\nHost: inside",
        "https://ｆcm.googleapis.com/abc",
        "https://push.home.example:8443.evil.example/",
        "https://push.home.example/abc",
        f"https://fcm.googleapis.com/{'a' * 1_000}",
    ],
)
def test_no_other_place_may_be_called(endpoint: str, settings: Any) -> None:
    settings.PUSH_SERVICES = [*settings.PUSH_SERVICES, "https://push.home.example:8443"]
    assert not endpoints.is_allowed(endpoint)


def test_no_star_opens_every_door(settings: Any) -> None:
    settings.PUSH_SERVICES = ["*"]
    assert not endpoints.is_allowed("https://127.0.0.1/abc")


# --- the list ---------------------------------------------------------------------------------------------------------
def test_a_browser_puts_itself_on_the_list_and_off_it(signed_in: Client, service: PushService, ana: User) -> None:
    phone = Browser(f"{service.origin}/send/abc")
    body = {"subscription": phone.subscription()}
    answer = signed_in.post("/push/", body, content_type="application/json")
    assert (answer.status_code, answer.json()) == (201, {"subscribed": True})
    stored = PushSubscription.objects.get()
    assert (stored.owner, stored.endpoint) == (ana, phone.endpoint)
    for _ in range(2):
        answer = signed_in.post("/push/gone/", {"endpoint": phone.endpoint}, content_type="application/json")
        assert (answer.status_code, answer.json()) == (200, {"subscribed": False})
        assert not PushSubscription.objects.exists()


def test_the_same_browser_stands_on_the_list_once(service: PushService, phone: Browser, ana: User) -> None:
    again = Browser(phone.endpoint)
    subscribe(ana.pk, parse_subscription(again.subscription()))
    [stored] = PushSubscription.objects.all()
    assert stored.auth == again.subscription()["keys"]["auth"]


def test_whoever_uses_a_browser_now_is_told_there(phone: Browser, ana: User, ben: User) -> None:
    subscribe(ben.pk, parse_subscription(phone.subscription()))
    assert [stored.owner for stored in PushSubscription.objects.all()] == [ben]
    assert not unsubscribe(ana.pk, phone.endpoint)
    assert PushSubscription.objects.count() == 1


def test_a_full_list_loses_who_was_added_first(service: PushService, ana: User, settings: Any) -> None:
    settings.KNOBS = {"proactive.push_browsers": 2}
    for name in "abc":
        subscribe(ana.pk, parse_subscription(Browser(f"{service.origin}/{name}").subscription()))
    assert [stored.endpoint[-1] for stored in PushSubscription.objects.all()] == ["b", "c"]


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": None},
        {"endpoint": 7},
        {"keys": None},
        {"keys": []},
        {"keys": {}},
        {"keys": {"p256dh": "AAAA", "auth": "AAAAAAAAAAAAAAAAAAAAAA"}},
        {"keys": {"p256dh": "B" + "A" * 86, "auth": "AAAAAAAAAAAAAAAAAAAAAA"}},
        {"keys": {"p256dh": "!" * 87, "auth": "AAAAAAAAAAAAAAAAAAAAAA"}},
    ],
)
def test_what_cannot_be_read_is_refused(change: dict[str, Any], settings: Any) -> None:
    given = Browser("https://fcm.googleapis.com/abc").subscription() | change
    with pytest.raises(NotSubscribed, match="unreadable"):
        parse_subscription(given)


@pytest.mark.parametrize("given", [None, [], "text", 7, {}])
def test_a_value_that_is_no_subscription_is_refused(given: Any) -> None:
    with pytest.raises(NotSubscribed, match="unreadable"):
        parse_subscription(given)


def test_a_secret_of_another_length_is_refused() -> None:
    given = Browser("https://fcm.googleapis.com/abc").subscription()
    given["keys"]["auth"] = "AAAA"
    with pytest.raises(NotSubscribed, match="unreadable"):
        parse_subscription(given)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("not json", "unreadable"),
        ("[]", "unreadable"),
        ("[" * 4_000, "unreadable"),
        (json.dumps({"subscription": "x" * 5_000}), "unreadable"),
        (json.dumps({"subscription": Browser("https://127.0.0.1/abc").subscription()}), "unknown_service"),
    ],
)
def test_a_refusal_says_so_in_words(signed_in: Client, body: str, code: str) -> None:
    answer = signed_in.post("/push/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert len(answer.json()["message"]) > 20
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize("body", ["[" * 4_000, json.dumps({"endpoint": "\ud800"}), json.dumps({"endpoint": 7})])
def test_what_cannot_be_an_address_is_not_looked_for(signed_in: Client, body: str) -> None:
    answer = signed_in.post("/push/gone/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")


def test_only_who_is_signed_in_and_asks_from_our_page_gets_in(ana: User) -> None:
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.post("/push/", "{}", content_type="application/json").status_code == 403
    assert Client().post("/push/", "{}", content_type="application/json").status_code == 302
    stranger.force_login(ana)
    assert stranger.post("/push/", "{}", content_type="application/json").status_code == 403
    assert stranger.post("/push/gone/", "{}", content_type="application/json").status_code == 403
    assert stranger.get("/push/").status_code == 405


# --- the key ----------------------------------------------------------------------------------------------------------
def test_the_key_is_given_to_who_is_signed_in(signed_in: Client) -> None:
    point = unwritten(signed_in.get("/push/key/").json()["key"])
    assert (len(point), point[0]) == (65, 4)
    assert Client().get("/push/key/").status_code == 302


def test_the_key_is_kept_and_nobody_elses_to_read(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    first = vapid.public_key()
    vapid.load_or_make_key.cache_clear()
    assert vapid.public_key() == first
    [file] = tmp_path.iterdir()
    assert (file.name, stat.S_IMODE(file.stat().st_mode)) == ("vapid_key.pem", 0o600)


MAKING = """
import sys, pathlib
from django.conf import settings
settings.configure(DATA_DIR=sys.argv[1])
from proactive.push import vapid
sys.stdin.read(1)
print(vapid.public_key())
"""


def test_processes_that_make_it_at_once_make_one(tmp_path: Path, settings: Any) -> None:
    command = [sys.executable, "-c", MAKING, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": settings.BASE_DIR, "text": True}
    makers = [subprocess.Popen(command, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for maker in makers:
        maker.stdin.write("x")
        maker.stdin.flush()
    said = {maker.communicate()[0] for maker in makers}
    assert len(said) == 1
    assert said != {""}
    assert os.listdir(tmp_path) == ["vapid_key.pem"]


@pytest.mark.parametrize(
    ("contact", "origins", "hosts", "expected"),
    [
        ("mailto:me@home.example", ["https://echo.example.org"], ["localhost"], "mailto:me@home.example"),
        ("", ["https://echo.example.org"], ["localhost"], "https://echo.example.org"),
        ("", [], ["localhost", ".echo.example.org"], "https://echo.example.org"),
        ("", [], ["localhost", "*", "192.168.1.7", "nas"], "mailto:operator@example.org"),
        ("", [], ["localhost", "127.0.0.1", "[::1]"], "mailto:operator@example.org"),
    ],
)
def test_the_contact_is_one_that_a_service_takes(
    contact: str, origins: list[str], hosts: list[str], expected: str, settings: Any
) -> None:
    settings.PUSH_CONTACT, settings.CSRF_TRUSTED_ORIGINS, settings.ALLOWED_HOSTS = contact, origins, hosts
    assert vapid.contact() == expected
    made = Vapid()
    made.generate_keys()
    assert made.sign({"sub": vapid.contact(), "aud": "https://push.example"})


@pytest.mark.parametrize(
    ("contact", "is_sound"),
    [
        ("", True),
        ("mailto:me@home.example", True),
        ("https://home.example", True),
        ("me@home.example", False),
        ("mailto:me@localhost", False),
        ("https://home.example/about", False),
        ("http://home.example", False),
    ],
)
def test_a_contact_that_no_service_takes_fails_a_check(contact: str, is_sound: bool, settings: Any) -> None:
    settings.PUSH_CONTACT = contact
    faults = [fault.id for fault in push_services_can_be_called(None)]
    assert faults == ([] if is_sound else ["echovessel.E006"])
    if contact and is_sound:
        made = Vapid()
        made.generate_keys()
        assert made.sign({"sub": contact, "aud": "https://push.example"})


# --- the worker of the page -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("language", "words"), [("en", "There is a new message for you."), ("fr", "There is a new")])
def test_the_worker_has_the_words_of_the_page(client: Client, language: str, words: str) -> None:
    answer = client.get("/sw.js", headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/javascript")
    script = answer.content.decode()
    assert words in script
    assert "showNotification" in script


def test_a_phone_can_put_the_page_on_its_home_screen(client: Client) -> None:
    answer = client.get("/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    told = answer.json()
    assert (told["display"], told["start_url"]) == ("standalone", "/")


def test_the_owner_takes_her_browsers_along(phone: Browser, ana: User) -> None:
    ana.delete()
    assert not PushSubscription.objects.exists()
