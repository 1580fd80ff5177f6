"""Downloads on the account page: everything, or one companion in a format that other programs read."""

import io
import json
import zipfile

import pytest
from django.test import Client

from persona.models import Persona

pytestmark = pytest.mark.django_db
PASSWORD = "a long word for ana"


def download_data(client: Client, what: str, password: str = PASSWORD) -> bytes:
    answer = client.post("/account/data/", {"what": what, "password": password})
    assert answer.status_code == 200
    return b"".join(answer)


def test_all_of_it_is_a_zip_of_archives(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    with zipfile.ZipFile(io.BytesIO(download_data(client, ""))) as archive:
        assert archive.namelist() == [f"01-{mira.uuid}.jsonl"]


def test_one_companion_comes_in_the_format_that_is_chosen(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    assert json.loads(download_data(client, f"{mira.uuid}:card"))["data"]["name"] == "Mira"
    assert download_data(client, f"{mira.uuid}:card_png").startswith(b"\x89PNG")
    assert download_data(client, f"{mira.uuid}:pam").startswith(b"PK")
    assert f'value="{mira.uuid}:pam"' in client.get("/account/data/").content.decode()


def test_a_name_is_no_markup_and_anothers_companion_is_no_choice(mira: Persona, otto: Persona, client: Client) -> None:
    Persona.objects.filter(pk=mira.pk).update(name="</option><script>")
    client.force_login(mira.owner)
    page = client.get("/account/data/").content
    assert b"<script>" not in page.split(b'id="sure_what"')[1].split(b"</select>")[0]
    for what in (f"{otto.uuid}:card", f"{mira.uuid}:scroll", "card"):
        answer = client.post("/account/data/", {"what": what, "password": PASSWORD})
        assert answer.status_code == 422
    assert client.post("/account/data/", {"what": f"{mira.uuid}:card", "password": "x"}).status_code == 422
