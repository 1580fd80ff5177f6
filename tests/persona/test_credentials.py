"""The owner changes their name and password, and signs out everywhere."""

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as SignIn
from django.test import Client
from django.utils import timezone

from echovessel.api import tokens
from echovessel.api.tokens.secret import create
from persona.credentials import field_name
from persona.models import Persona
from persona.onboarding.creation import create_persona
from proactive.models import PushSubscription

pytestmark = pytest.mark.django_db

OLD, NEW = "a long word for ana", "another quite long word"
CHANGE = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}


def signed_in(name: str = "ana", password: str = OLD) -> Client:
    client = Client()
    assert client.post("/login/", {"username": name, "password": password}).status_code == 302
    return client


def notified(user: User) -> None:
    PushSubscription.objects.create(owner=user, endpoint=f"https://push.example.org/{user.pk}", p256dh="x", auth="x")


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_a_new_password_signs_out_all_others_and_disconnects_the_apps(mira: Persona, otto: Persona) -> None:
    here, elsewhere, stranger = signed_in(), signed_in(), signed_in("ben", "a long word for ben")
    secret = create(mira.owner, "a script", timezone.now())[1]
    bens = create(otto.owner, "a script", timezone.now())[1]
    for user in (mira.owner, otto.owner):
        notified(user)
    assert "Your connected app is disconnected as well" in here.get("/account/password/").content.decode()
    answer = here.post("/account/password/", CHANGE, follow=True)
    assert "1 app was disconnected" in answer.content.decode()
    assert (is_in(here), is_in(elsewhere), is_in(stranger)) == (True, False, True)
    assert tokens.owner_of(secret, timezone.now()) is None
    assert tokens.owner_of(bens, timezone.now()) == otto.owner
    assert [one.owner for one in PushSubscription.objects.all()] == [otto.owner]
    assert SignIn.objects.count() == 2
    assert Client().post("/login/", {"username": "ana", "password": OLD}).status_code == 200
    signed_in(password=NEW)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"old_password": "not it"}, "old_password"),
        ({"old_password": ""}, "old_password"),
        ({"new_password2": "something else"}, "new_password2"),
        ({"new_password1": "short", "new_password2": "short"}, "new_password2"),
        ({"new_password1": "12345678", "new_password2": "12345678"}, "new_password2"),
    ],
)
def test_a_wrong_password_form_shows_errors_and_changes_nothing(
    mira: Persona, wrong: dict[str, str], field: str
) -> None:
    here, elsewhere = signed_in(), signed_in()
    answer = here.post("/account/password/", CHANGE | wrong)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert is_in(elsewhere)
    signed_in()


def test_whoever_sits_at_an_open_browser_does_not_guess_the_password(mira: Persona) -> None:
    here = signed_in()
    for _ in range(5):
        answer = here.post("/account/password/", CHANGE | {"old_password": "a guess"})
    assert answer.status_code == 429
    locked = here.post("/account/password/", CHANGE)
    assert locked.status_code == 429
    assert int(locked["Retry-After"]) > 0
    AccessAttempt.objects.all().delete()
    assert here.post("/account/password/", CHANGE).status_code == 302


def test_signing_out_everywhere_ends_every_sign_in_and_leaves_apps_unless_told(mira: Persona, otto: Persona) -> None:
    secret = create(mira.owner, "a script", timezone.now())[1]
    for chosen, works in ({}, True), ({"tokens": "1"}, False):
        here, elsewhere, stranger = signed_in(), signed_in(), signed_in("ben", "a long word for ben")
        notified(mira.owner)
        page = here.get("/account/sign-out/").content.decode()
        assert "You are signed in with 2 browsers." in page
        assert "a script" in page
        answer = here.post("/account/sign-out/", chosen)
        assert (answer["Location"], answer["Clear-Site-Data"]) == ("/login/", '"storage"')
        assert [is_in(client) for client in (here, elsewhere, stranger)] == [False, False, True]
        assert (tokens.owner_of(secret, timezone.now()) is not None) == works
        assert not PushSubscription.objects.exists()


def test_looking_at_the_page_signs_nobody_out(mira: Persona) -> None:
    here = signed_in()
    here.get("/account/sign-out/")
    assert Client(enforce_csrf_checks=True).post("/account/sign-out/").status_code in (302, 403)
    assert is_in(here)


def test_the_names_one_is_called_by_change_without_a_password_and_the_sign_in_name_with_it(mira: Persona) -> None:
    other = create_persona(mira.owner, "Nora", user_name="Annie")
    here = signed_in()
    names: dict[str, Any] = {"username": "ana", field_name(mira): "Anna", field_name(other): ""}
    assert here.post("/account/name/", names).status_code == 302
    assert list(Persona.objects.order_by("id").values_list("user_name", flat=True)) == ["Anna", ""]
    renamed = names | {"username": "anna@example.org"}
    for wrong in ({}, {"password": "not it"}):
        answer = here.post("/account/name/", renamed | wrong)
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["password"])
    assert here.post("/account/name/", renamed | {"password": OLD}).status_code == 302
    assert is_in(here)
    signed_in("anna@example.org")


def test_a_name_that_another_tab_changed_is_neither_lost_nor_overwritten_silently(mira: Persona) -> None:
    here, field = signed_in(), field_name(mira)
    Persona.objects.update(user_name="Ann")  # by another tab, since this one was shown "Ana"
    stale = {"username": "ana", f"was_{field}": "Ana"}
    assert here.post("/account/name/", stale | {field: "Ana"}).status_code == 302
    assert Persona.objects.get().user_name == "Ann"
    answer = here.post("/account/name/", stale | {field: "Anna"})
    assert (answer.status_code, "changed in another tab" in answer.content.decode()) == (422, True)
    assert here.post("/account/name/", {"username": "ana", f"was_{field}": "Ann", field: "Anna"}).status_code == 302
    assert Persona.objects.get().user_name == "Anna"


@pytest.mark.parametrize("name", ["", "BEN", "a b", "x" * 151])
def test_a_name_that_cannot_be_is_refused(mira: Persona, ben: User, name: str) -> None:
    here = signed_in()
    answer = here.post("/account/name/", {"username": name, "password": OLD})
    assert answer.status_code == 422
    assert "username" in answer.context["form"].errors
    assert User.objects.filter(username="ana").exists()


def test_the_account_page_leads_to_all_of_it(mira: Persona) -> None:
    page = signed_in().get("/account/").content.decode()
    for address in ("/account/name/", "/account/password/", "/account/sign-out/"):
        assert f'href="{address}"' in page
