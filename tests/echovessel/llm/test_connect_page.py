"""Staff connect a model on a page: found, tested and saved without a restart, and its key is kept from all eyes."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection as database
from django.test import Client

from echovessel import llm
from echovessel.llm import connection as connections
from echovessel.llm import providers, servers
from echovessel.llm.models import LLMCall, ModelConnection
from echovessel.outbox.models import OutboxEvent
from persona.models import Persona
from tests.table import each_row
from tests.wire.fixtures import _nothing_learned_of_servers  # noqa: F401
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Fails, Hangs, Page, Says

URL = "/account/model/"
KEY = "sk-verysecret-5f1d0c"


@pytest.fixture
def model_server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A model server on this machine, and an environment that chooses no model."""
    settings.LLM_PROVIDER = "auto"
    server = OpenAIServer()
    server.respond = lambda body: Says('{"colour": "yellow"}' if "response_format" in body else "It is calm.", pieces=3)
    monkeypatch.setattr(servers, "USUAL", (("Ollama", int(server.url.split(":")[2].split("/")[0])),))
    cache.clear()
    yield server
    server.close()


@pytest.fixture
def staff(client: Client, ana: User) -> Client:
    ana.is_staff = True
    ana.save()
    client.force_login(ana)
    return client


def post(client: Client, action: str, **fields: str) -> Any:
    return client.post(URL, {"action": action, "kind": "server", "address": "", "key": ""} | fields)


def test_a_model_on_this_machine_is_found_tested_and_saved(staff: Client, model_server: OpenAIServer) -> None:
    assert llm.provider_name() == "offline"
    page = staff.get(URL).content.decode()
    assert "Ollama" in page
    assert f"?address={model_server.url}" in page.replace("%3A", ":")
    chosen = staff.get(URL, {"address": model_server.url}).content.decode()
    assert 'value="large-model"' in chosen
    assert "nomic-embed-text" not in chosen
    tested = post(staff, "test", address=model_server.url, large="large-model").content.decode()
    assert tested.count("✓") == 3
    assert not ModelConnection.objects.exists()
    assert post(staff, "save", address=model_server.url, large="large-model").status_code == 302
    assert llm.provider_name() == "openai"
    assert model_server.requests[-1]["model"] == "large-model"
    after = staff.get(URL).content.decode()
    assert "large-model answers." in after


@pytest.mark.usefixtures("model_server")
def test_the_page_shows_the_usual_models_without_importing_their_sdk(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "PROVIDERS", {"offline": providers.PROVIDERS["offline"]})
    page = staff.get(URL).content.decode()
    assert providers.OPENAI.small in page
    assert providers.ANTHROPIC.small in page


def test_open_pages_are_told_of_the_new_model_and_of_its_end(
    staff: Client, model_server: OpenAIServer, mira: Persona
) -> None:
    post(staff, "save", address=model_server.url, large="large-model")
    post(staff, "remove")
    told = OutboxEvent.objects.filter(stream=mira.uuid, name="chat.settings.updated").order_by("id")
    assert [event.data for event in told] == [{"offline": False}, {"offline": True}]
    assert llm.provider_name() == "offline"


def test_a_key_is_typed_once_sent_to_its_place_and_shown_nowhere(
    staff: Client, model_server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    listed = post(staff, "list", address=model_server.url, key=KEY)
    # It is known from here on, though the form comes back without it.
    saved = post(staff, "save", address=model_server.url, large="large-model")
    assert saved.status_code == 302
    assert {head["authorization"] for head in model_server.headers} == {f"Bearer {KEY}"}
    pages = [listed.content, staff.get(URL).content, staff.get("/account/").content]
    assert not any(KEY.encode() in page for page in pages)
    assert "A key is saved" in staff.get(URL).content.decode()
    row = ModelConnection.objects.get()
    assert KEY not in row.encrypted_key
    assert connections.saved().key == KEY
    assert KEY not in caplog.text
    assert KEY not in repr(connections.saved())
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_session WHERE session_data LIKE %s", [f"%{KEY}%"])
        assert cursor.fetchone() == (0,)


def test_a_saved_key_does_not_follow_to_another_address(staff: Client, model_server: OpenAIServer) -> None:
    post(staff, "save", address=model_server.url, key=KEY, large="large-model")
    cache.clear()
    other = OpenAIServer()
    try:
        post(staff, "list", address=other.url)
        assert [head["authorization"] for head in other.headers] == ["Bearer none"]
    finally:
        other.close()


def test_another_secret_of_the_installation_reads_no_key_and_breaks_no_page(
    staff: Client, model_server: OpenAIServer, settings: Any
) -> None:
    stored = connections.encrypt(KEY)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10
    assert connections.decrypt(stored) == KEY
    settings.SECRET_KEY_FALLBACKS = []
    assert connections.decrypt(stored) == ""


def test_the_environment_wins_and_is_named(staff: Client, model_server: OpenAIServer, settings: Any) -> None:
    post(staff, "save", address=model_server.url, key=KEY, large="large-model")
    settings.LLM_BASE_URL, settings.LLM_MODEL_LARGE = model_server.url, "named-in-env"
    page = staff.get(URL).content.decode()
    assert "LLM_BASE_URL" in page
    assert "named-in-env answers." in page
    assert "model-form" not in page
    assert post(staff, "save", address=model_server.url, large="other").status_code == 302
    assert ModelConnection.objects.get().model_large == "large-model"


def test_others_see_which_model_answers_and_change_nothing(
    client: Client, ben: User, model_server: OpenAIServer
) -> None:
    client.force_login(ben)
    page = client.get(URL).content.decode()
    assert "memory mode" in page
    assert "model-form" not in page
    assert model_server.url not in page
    for action in ("list", "test", "save", "remove"):
        assert post(client, action, address=model_server.url, large="x").status_code == 403
    assert not model_server.headers


def test_each_kind_of_work_is_shown_with_its_model_price_and_use_of_today(
    staff: Client, client: Client, ben: User, model_server: OpenAIServer, settings: Any
) -> None:
    settings.LLM_PRICES = {"large-model": {"in": 3, "out": 15}}
    post(staff, "save", address=model_server.url, large="large-model", small="tiny-model")
    used = {"tokens_in": 1_200, "tokens_out": 34, "provider": "openai", "outcome": "ok"}
    for owner, purpose in ((staff.session["_auth_user_id"], "chat"), (ben.pk, "chat"), (ben.pk, "import")):
        LLMCall.objects.create(owner_id=owner, purpose=purpose, model="m", cost="0.002", **used)
    work = staff.get(URL).context["work"]
    assert [(row["model"], row["price"] is not None, row["tokens"]) for row in work] == [
        ("large-model", True, 2_468),
        ("large-model", True, 0),
        ("tiny-model", False, 1_234),
    ]
    page = staff.get(URL).content.decode()
    assert "$3 in, $15 out per million tokens" in page
    assert "today 2,468 tokens" in page
    assert "price not known" in page
    client.force_login(ben)
    own = client.get(URL)
    assert [row["tokens"] for row in own.context["work"]] == [1_234, 0, 1_234]
    assert "Used by you" in own.content.decode()


@each_row(
    ("reply", "words"),
    [
        (Fails(401, "bad key"), "Check the address"),
        (Fails(429, "slow down"), "too many requests"),
        (Fails(307, headers={"location": "http://169.254.169.254/latest/"}), "Check the address"),
        (Page(), "Check the address"),
    ],
)
def test_a_server_that_lists_no_models_says_why(
    staff: Client, model_server: OpenAIServer, reply: Any, words: str
) -> None:
    model_server.models = reply
    answer = post(staff, "list", address=model_server.url)
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_model_that_does_not_reply_is_saved_only_on_demand(
    staff: Client, model_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "TEST_SECONDS", 0.3)
    model_server.respond = lambda body: Hangs()
    page = post(staff, "save", address=model_server.url, large="large-model").content.decode()
    assert "No answer came in time" in page
    assert "Save anyway" in page
    assert not ModelConnection.objects.exists()
    post(staff, "save", address=model_server.url, large="large-model", anyway="1")
    assert ModelConnection.objects.get().base_url == model_server.url


def test_an_address_where_nobody_listens_is_named_whatever_is_pressed(
    staff: Client, model_server: OpenAIServer
) -> None:
    address = model_server.url
    model_server.close()
    for action, model in (("list", ""), ("save", ""), ("save", "any"), ("test", "any")):
        page = post(staff, action, address=address, large=model).content.decode()
        assert f"Nothing answers at {address}. Is the server running?" in page, (action, model)
        assert "found none" in page
        assert "Choose a model" not in page
    assert "found none" in staff.get(URL).content.decode()


def test_many_models_and_odd_names_are_listed_in_order() -> None:
    names = [f"model-{number:03}" for number in range(300)] + ["Whisper-1", "text-embedding-3"]
    assert len(servers.usable_names(names)) == 300


def test_a_form_without_a_model_or_with_a_broken_key_is_refused(staff: Client, model_server: OpenAIServer) -> None:
    assert "Choose a model" in post(staff, "save", address=model_server.url).content.decode()
    broken = post(staff, "save", address=model_server.url, large="m", key="schlüssel mit leerzeichen")
    assert broken.status_code == 422
    assert "no spaces" in broken.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_backup_holds_the_key_only_when_it_is_wanted(
    staff: Client, model_server: OpenAIServer, tmp_path: Path
) -> None:
    post(staff, "save", address=model_server.url, key=KEY, large="large-model")
    stored = ModelConnection.objects.get().encrypted_key.encode()
    for options, holds_it in (({}, False), ({"with_model_key": True}, True)):
        file = tmp_path / f"{holds_it}.tar"
        call_command("backup", str(file), stderr=io.StringIO(), **options)
        with tarfile.open(file) as tar:
            whole = b"".join(tar.extractfile(member).read() for member in tar if member.isfile())  # type: ignore[union-attr]
        assert (stored in whole) is holds_it
    assert django_settings.SECRET_KEY
