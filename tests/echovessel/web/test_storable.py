"""A NUL is dropped from every input, by one rule, and nothing around it is lost."""

import io
import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.models import Message
from chat.openai_api.requests import parse_request
from chat.socket import consumer
from chat.socket.consumer import BadFrame
from echovessel.api.tokens.secret import create
from echovessel.language.plain_text import storable, without_nul
from echovessel.llm.gateway import storable as storable_piece
from memory.archive import import_archive
from memory.imports import analyze_in_process, begin
from memory.imports.readers.types import ImportRejected
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.archive.archives import HEADER, PERSONA, message, session
from tests.memory.imports.readers.sources import source_of

pytestmark = pytest.mark.django_db

SAID, MEANT = "I have\0 a cat.\0", "I have a cat."


def test_the_rule() -> None:
    for text, expected in ((SAID, MEANT), ("\0", ""), ("a\ud800b", "a\ufffdb"), ("\ud83c\udf19", "🌙"), ("", "")):
        assert storable(text) == expected
    value = {"a\0": ["\0b", {"c": "\0"}], "n": 1, "x": None}
    assert without_nul(value) == {"a": ["b", {"c": ""}], "n": 1, "x": None}


def test_the_socket(mira: Persona) -> None:
    frame = {"type": "message", "client_id": str(uuid.uuid4()), "content": SAID}
    parsed = consumer.parse(json.dumps(frame))
    assert isinstance(parsed, consumer.SendMessage)
    assert parsed.content == MEANT
    with pytest.raises(BadFrame) as refused:
        consumer.parse(json.dumps(frame | {"content": "\0\0"}))
    assert refused.value.code == "empty"


def test_the_door_of_openai() -> None:
    body = {"model": "mira", "messages": [{"role": "user", "content": [{"type": "text", "text": SAID}]}]}
    assert parse_request(json.dumps(body).encode()).lines == (MEANT,)


def test_the_api(mira: Persona, client: Client) -> None:
    key = {"Authorization": f"Bearer {create(mira.owner, 'tests', timezone.now())[1]}"}
    address = f"/api/personas/{mira.uuid}"
    data = {"content": SAID, "client_id": str(uuid.uuid4())}
    assert client.post(f"{address}/messages", data, "application/json", headers=key).status_code == 202
    assert Message.objects.get().content == MEANT
    assert (
        client.post(f"{address}/messages", data | {"content": "\0"}, "application/json", headers=key).status_code == 422
    )
    client.patch(address, {"user_name": "An\0a", "facts": {"city\0": "Shang\0hai"}}, "application/json", headers=key)
    mira.refresh_from_db()
    assert (mira.user_name, mira.facts) == ("Ana", {"city": "Shanghai"})
    assert client.get(f"{address}/nodes?q=c%00at", headers=key).status_code == 200


def test_forms_and_queries_of_pages(mira: Persona, client: Client, remember: Any) -> None:
    node = remember(mira, MEANT)
    client.force_login(mira.owner)
    names = {"username": "an\0a", f"called_{mira.uuid.hex}": "An\0nie"}
    assert client.post("/account/name/", names).status_code == 302
    mira.refresh_from_db()
    assert (mira.user_name, mira.owner.username) == ("Annie", "ana")
    response = client.get(f"/memory/{mira.uuid}/", {"q": "c\0at"})
    assert response.status_code == 200
    assert MEANT in response.content.decode()
    wrong = client.post(f"/memory/{mira.uuid}/nodes/{node.uuid}/correct/", {"description": "I have\0 two cats."})
    assert wrong.context["form"]["description"].value() == "I have two cats."
    assert client.post("/login/", {"username": "ana\0", "password": "a long word for ana"}).status_code == 302


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("[2024-01-05, 10:14:22] Ana: I have\0 a cat.\n[2024-01-05, 10:15:22] Mira: How\0 lovely.\n", "_chat.txt"),
        ("Ana: I have\0 a cat.\nMira: How lovely.\n" * 3, "talk.txt"),
        (
            json.dumps([{"role": "user", "content": SAID}, {"role": "assistant", "content": "How lovely."}]),
            "messages.json",
        ),
    ],
)
def test_imports(mira: Persona, content: str, name: str) -> None:
    upload = source_of(content, name)
    job = begin(mira.owner, mira, upload, timezone.now(), keep=True)
    analyze_in_process(job, upload)
    job.refresh_from_db()
    assert job.status != "failed"


def test_a_file_of_bytes_is_still_no_text() -> None:
    with pytest.raises(ImportRejected):
        list(source_of(b"\x89PNG" + b"\0\x01\0\x02" * 50).lines())


def test_an_archive(ana: User) -> None:
    records = [HEADER, PERSONA, session("s1"), message("m1", SAID + " \\u0000")]
    file = io.BytesIO("\n".join(json.dumps(record) for record in records).encode())
    import_archive(file, ana)
    assert Message.objects.get().content == MEANT + " \\u0000"  # a backslash and letters: they are no NUL
    assert not ConceptNode.objects.exists()


def test_a_piece_of_a_reply_has_no_null_and_no_half_character() -> None:
    assert storable_piece("a\0b\ud83c") == ("ab", "\ud83c")
