"""Other programs with a whole installation, under daphne: a chat client of OpenAI's, and a listener to the events."""

import io
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from tests.installation import Installation

pytestmark = pytest.mark.installation

FLOOD = 60_000
PUBLISH = f"""
from persona.models import Persona
from echovessel.outbox.models import OutboxEvent
from django.utils import timezone
stream, now = Persona.objects.get().uuid, timezone.now()
OutboxEvent.objects.bulk_create(
    [OutboxEvent(stream=stream, name="x", data={{"text": "x" * 2000}}, at=now) for _ in range({FLOOD})], 2000
)
"""


@pytest.fixture
def house(tmp_path: Path, empty: Path) -> Iterator[Installation]:
    made = Installation(tmp_path, empty)
    made.env |= {"DJANGO_SUPERUSER_PASSWORD": "a long word for ana", "DJANGO_SUPERUSER_EMAIL": "ana@example.org"}
    made.manage("createsuperuser", "--noinput", "--username", "ana")
    with made:
        yield made


def resident_mb(pid: int, what: str = "VmRSS") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    raise LookupError(f"no {what}")


def peak_mb(pid: int) -> float:
    return resident_mb(pid, "VmHWM")


def frames(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_a_chat_client_talks_with_her_and_a_listener_hears_it(house: Installation) -> None:
    a_large_form_is_no_burden(house)
    persona = house.manage("create_persona", "Mira", "--owner", "ana").stdout.strip()
    secret = house.manage("create_api_token", "ana").stdout.strip()
    client = openai.OpenAI(base_url=f"{house.url}/v1", api_key=secret, timeout=60, max_retries=0)
    address, key = f"{house.url}/api/personas/{persona}/events", {"Authorization": f"Bearer {secret}"}
    assert [model.id for model in client.models.list()] == ["mira"]
    said: Any = {"role": "user", "content": "My boat is called Petrel."}
    with httpx2.stream("GET", address, headers=key, timeout=60) as answer:
        heard = frames(answer.iter_lines())
        assert next(heard)["event"] == "chat.connection.ready"
        chunks = list(client.chat.completions.create(model="mira", messages=[said], stream=True))
        done = next(frame for frame in heard if frame["event"] == "chat.message.done")
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert done["data"]["content"]
    assert text.endswith(done["data"]["content"])
    a_slow_reader_is_waited_for(house, address, key)


def a_large_form_is_no_burden(house: Installation) -> None:
    """100 MB from somebody who is not even signed in, and as much again in pieces: neither is ever held in memory."""
    address, form = f"{house.url}/login/", {"Content-Type": "application/x-www-form-urlencoded"}
    before = peak_mb(house.web_pid())
    with httpx2.Client(timeout=60) as client:
        whole = client.post(address, files={"file": ("talk.txt", io.BytesIO(b"x" * 100_000_000))})
        pieces = client.post(address, content=(b"x" * 1_000_000 for _ in range(100)), headers=form)
    assert [answer.status_code for answer in (whole, pieces)] == [403, 400]
    with socket.create_connection(("127.0.0.1", house.port), timeout=60) as endless:
        endless.sendall(b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000000\r\n\r\n")
        assert endless.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert peak_mb(house.web_pid()) - before < 40


def a_slow_reader_is_waited_for(house: Installation, address: str, key: dict[str, str]) -> None:
    """120 MB for a reader that does not read: they stay where they are until it does, and then come all."""
    house.manage("shell", "-c", PUBLISH)
    request = f"GET {address.removeprefix(house.url)}?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    request += f"Authorization: {key['Authorization']}\r\n\r\n"

    def asked() -> socket.socket:
        made = socket.create_connection(("127.0.0.1", house.port), timeout=60)
        made.sendall(request.encode())
        return made

    with asked() as first:
        read_all(first)  # what the server takes for a stream at all, it has taken now
    before = resident_mb(house.web_pid())
    with asked() as slow, asked() as fast:
        read_all(fast)  # by then the other one would have been given all, too
        assert resident_mb(house.web_pid()) - before < 80  # what else it does meanwhile takes up to 50
        read_all(slow)


def read_all(reader: socket.socket) -> None:
    got = 0
    while got < FLOOD * 2000:
        piece = reader.recv(2**20)
        assert piece, "the stream ended too soon"
        got += len(piece)
