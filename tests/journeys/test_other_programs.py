"""Other programs with a whole installation, under daphne: a chat client of OpenAI's, a listener to the events, one that
brings a chat and takes everything along, and one whose password changes. The installation is the same for all stories,
each of which has people of its own."""

import asyncio
import io
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import openai
import pytest
import websockets

from tests.installation import Installation
from tests.memory.imports.readers.sources import FILES

pytestmark = pytest.mark.installation

PATIENCE_SECONDS = 60
CHAT = FILES / "WhatsApp Chat with Mira.txt"
EVENTS, EVENT_BYTES = 5_000, 24_000
PASSWORD = "a long word for ana"
PEOPLE = f"""
import json
from io import StringIO
from django.contrib.auth.models import User
from django.core.management import call_command
def said(*command):
    out = StringIO()
    call_command(*command, stdout=out)
    return out.getvalue().strip()
people = {{}}
for name in ("ana", "ben", "cleo"):
    User.objects.create_user(name, password={PASSWORD!r})
    people[name] = [said("create_persona", "Mira", "--owner", name), said("create_api_token", name)]
print(json.dumps(people))
"""
PUBLISH = f"""
from persona.models import Persona
from echovessel.outbox.models import OutboxEvent
from django.utils import timezone
stream, now = Persona.objects.get(owner__username="ana").uuid, timezone.now()
OutboxEvent.objects.bulk_create(
    [OutboxEvent(stream=stream, name="x", data={{"text": "x" * {EVENT_BYTES}}}, at=now) for _ in range({EVENTS})], 2000
)
"""
CHANGE = """
from django.contrib.auth.models import User
ben = User.objects.get(username="ben")
ben.set_password("another")
ben.save()
"""


class Someone(NamedTuple):
    """What a program of theirs is given."""

    persona: str
    secret: str

    @property
    def key(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, empty: Path) -> Iterator[Installation]:
    with Installation(tmp_path_factory.mktemp("house"), empty) as made:
        yield made


@pytest.fixture(scope="module")
def people(house: Installation) -> dict[str, Someone]:
    made = json.loads(house.run(PEOPLE))
    return {name: Someone(*facts) for name, facts in made.items()}


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


def test_a_chat_client_talks_with_her_and_a_listener_hears_it(house: Installation, people: dict[str, Someone]) -> None:
    a_large_form_is_no_burden(house)
    persona, secret = people["ana"]
    client = openai.OpenAI(base_url=f"{house.url}/v1", api_key=secret, timeout=60, max_retries=0)
    address, key = f"{house.url}/api/personas/{persona}/events", people["ana"].key
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
    """60 MB from somebody who is not even signed in, and as much again in pieces: neither is ever held in memory."""
    address, form = f"{house.url}/login/", {"Content-Type": "application/x-www-form-urlencoded"}
    before = peak_mb(house.web_pid())
    with httpx2.Client(timeout=60) as client:
        whole = client.post(address, files={"file": ("talk.txt", io.BytesIO(b"x" * 60_000_000))})
        pieces = client.post(address, content=(b"x" * 1_000_000 for _ in range(60)), headers=form)
    assert [answer.status_code for answer in (whole, pieces)] == [403, 400]
    with socket.create_connection(("127.0.0.1", house.port), timeout=60) as endless:
        endless.sendall(b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000000\r\n\r\n")
        assert endless.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert peak_mb(house.web_pid()) - before < 40


def a_slow_reader_is_waited_for(house: Installation, address: str, key: dict[str, str]) -> None:
    """120 MB for a reader that does not read: they stay where they are until it does, and then come all."""
    house.run(PUBLISH)
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
    while got < EVENTS * EVENT_BYTES:
        piece = reader.recv(2**20)
        assert piece, "the stream ended too soon"
        got += len(piece)


def cookie_of(house: Installation, name: str) -> str:
    """The session of a real login."""
    with httpx2.Client(base_url=house.url, headers={"Referer": house.url}) as browser:
        browser.get("/login/")
        form = {"username": name, "password": PASSWORD, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        browser.post("/login/", data=form)
        return f"sessionid={browser.cookies['sessionid']}"


async def closed_by(house: Installation, persona: str, cookie: str) -> tuple[int, float]:
    """The code with which the socket is closed, and how long after the change."""
    address = f"{house.url.replace('http', 'ws')}/ws/chat/{persona}/"
    async with websockets.connect(address, origin=house.url, additional_headers={"Cookie": cookie}) as socket:  # type: ignore[arg-type]
        assert json.loads(await socket.recv())["event"] == "chat.connection.ready"
        await asyncio.to_thread(house.run, CHANGE)
        changed_at = time.monotonic()
        async with asyncio.timeout(20):
            await socket.wait_closed()
        return int(socket.close_code or 0), time.monotonic() - changed_at


def test_a_password_changed_elsewhere_closes_sockets_and_tokens(
    house: Installation, people: dict[str, Someone]
) -> None:
    ben, personas = people["ben"], f"{house.url}/api/personas"
    cookie = cookie_of(house, "ben")
    assert httpx2.get(personas, headers=ben.key).status_code == 200
    code, seconds = asyncio.run(closed_by(house, ben.persona, cookie))
    assert code == 4401
    assert seconds < 5  # a heartbeat, which would find it anyway, comes every 30 s
    assert httpx2.get(personas, headers=ben.key).status_code == 401


def awaited(ask: Callable[[], dict[str, Any]], status: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (told := ask())["status"] != status:
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    return told


def test_a_program_brings_a_chat_and_takes_everything_along_again(
    house: Installation, people: dict[str, Someone]
) -> None:
    address, key = f"{house.url}/api/personas/{people['cleo'].persona}", people["cleo"].key
    with httpx2.Client(base_url=address, headers=key, timeout=60) as client:
        handed = client.post("/imports", files={"file": (CHAT.name, CHAT.read_bytes())})
        assert handed.status_code == 202
        here = f"/imports/{handed.json()['id']}"
        found = awaited(lambda: client.get(here).json(), "asking")["found"]
        assert (found["first_day"], [one["name"] for one in found["speakers"]]) == ("2023-12-31", ["Ana", "Mira"])
        assert client.post(f"{here}/confirm", json={"zone": "Asia/Shanghai"}).status_code == 200
        done = awaited(lambda: client.get(here).json(), "done")
        assert (done["counts"]["lines"], done["counts"]["failed"]) == (found["counts"]["lines"], 0)
        lines = client.get("/messages").json()["items"]
        assert "Happy new year!" in {line["content"] for line in lines}

        with client.stream("GET", "/export") as answer:
            archive = [json.loads(line) for line in answer.iter_lines()]
        assert len([one for one in archive if one["type"] == "message"]) == len(lines)
