"""The first owner and the three steps to a persona."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from echovessel.web import first_run
from persona.models import CoreBlock, Persona

pytestmark = pytest.mark.django_db
PASSWORDS = {"password1": "a long word for ana", "password2": "a long word for ana"}


@pytest.fixture
def data_dir(settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path


def test_the_link_makes_the_first_owner_and_signs_her_in(data_dir: None, client: Client) -> None:
    token = first_run.token()
    assert client.get(f"/welcome/{token}/").status_code == 200
    answer = client.post(f"/welcome/{token}/", {"username": "ana", **PASSWORDS})
    assert answer.headers["location"] == "/welcome/persona/"
    ana = User.objects.get()
    assert ana.is_superuser
    assert client.session["_auth_user_id"] == str(ana.pk)


@pytest.mark.django_db(transaction=True)
def test_the_link_is_gone_once_it_was_used(data_dir: None, client: Client) -> None:
    token = first_run.token()
    client.post(f"/welcome/{token}/", {"username": "ana", **PASSWORDS})
    assert Client().get(f"/welcome/{token}/").status_code == 410
    assert Client().post(f"/welcome/{token}/", {"username": "eve", **PASSWORDS}).status_code == 410
    assert User.objects.count() == 1
    assert first_run.token() is None


@pytest.mark.parametrize("given", ["wrong", "x" * 32, "小黑"])
def test_a_wrong_link_opens_nothing(data_dir: None, client: Client, given: str) -> None:
    first_run.token()
    assert client.get(f"/welcome/{given}/").status_code == 410
    assert client.post(f"/welcome/{given}/", {"username": "eve", **PASSWORDS}).status_code == 410
    assert not User.objects.exists()


def test_weak_passwords_are_refused_in_words(data_dir: None, client: Client) -> None:
    answer = client.post(f"/welcome/{first_run.token()}/", {"username": "ana", "password1": "123", "password2": "123"})
    assert answer.status_code == 200
    assert not User.objects.exists()


def test_three_steps_make_a_persona_with_her_blocks(ana: User, client: Client) -> None:
    client.force_login(ana)
    assert client.get("/").headers["location"] == "/welcome/persona/"
    client.post("/welcome/persona/?step=1", {"name": "Mira", "persona": "Calm.", "next": "1"})
    client.post(
        "/welcome/persona/?step=2", {"user_name": "Ana", "user": "Paints.", "timezone": "Asia/Shanghai", "next": "1"}
    )
    answer = client.post("/welcome/persona/?step=3", {"style": "Short.", "language": "zh", "next": "1"})
    mira = Persona.objects.get()
    assert answer.headers["location"] == f"/chat/{mira.uuid}/"
    assert (mira.owner, mira.name, mira.user_name, mira.timezone, mira.language) == (
        ana,
        "Mira",
        "Ana",
        "Asia/Shanghai",
        "zh",
    )
    assert dict(CoreBlock.objects.values_list("label", "content")) == {
        "persona": "Calm.",
        "user": "Paints.",
        "style": "Short.",
    }
    assert client.get("/").headers["location"] == f"/chat/{mira.uuid}/"


def test_what_was_typed_survives_going_back(ana: User, client: Client) -> None:
    client.force_login(ana)
    client.post("/welcome/persona/?step=1", {"name": "Mira", "persona": "Calm.", "next": "1"})
    answer = client.post(
        "/welcome/persona/?step=2", {"user_name": "A", "user": "half a sen", "timezone": "UTC", "back": "1"}
    )
    assert answer.headers["location"] == "/welcome/persona/?step=1"
    assert b"Calm." in client.get("/welcome/persona/?step=1").content
    assert b"half a sen" in client.get("/welcome/persona/?step=2").content


def test_a_step_cannot_be_reached_before_those_ahead_of_it(ana: User, client: Client) -> None:
    client.force_login(ana)
    for asked in ("3", "99", "x", "-1", ""):
        page = client.get(f"/welcome/persona/?step={asked}")
        assert page.context["step"] == 1


def test_a_block_that_is_too_long_is_refused_in_its_step(ana: User, client: Client) -> None:
    client.force_login(ana)
    page = client.post("/welcome/persona/?step=1", {"name": "Mira", "persona": "x" * 5_001, "next": "1"})
    assert page.status_code == 200
    assert "persona" in page.context["form"].errors


def test_rewriting_a_block_keeps_the_old_version(mira: Persona, ana: User) -> None:
    block = mira.core_blocks.get(label="style")
    block.rewrite("Long sentences.", ana)
    assert block.version == 2
    assert [(old.version, old.content) for old in block.versions.all()] == [(1, "Short sentences.")]


def test_a_second_companion_is_begun_by_the_same_person(client: Client, ana: User, mira: Persona) -> None:
    client.force_login(ana)
    mira.user_name, mira.timezone = "Annie", "Asia/Shanghai"
    mira.save()
    client.post("/welcome/persona/?step=1", {"name": "Juniper", "persona": "", "next": "1"})
    form = client.get("/welcome/persona/?step=2").context["form"]
    assert (form["user_name"].value(), form.initial["timezone"]) == ("Annie", "Asia/Shanghai")
