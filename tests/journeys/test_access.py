"""A password that another process changes closes real sockets, and the door for tokens, at once."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import pytest
import websockets

from tests.installation import Installation

pytestmark = pytest.mark.installation

PASSWORD = "a long word for ana"
CHANGE = (
    "from django.contrib.auth.models import User; ana = User.objects.get(); ana.set_password('another'); ana.save()"
)


def cookie_of(house: Installation) -> str:
    """The session of a real login."""
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    browser.open(f"{house.url}/login/").read()
    token = next(one.value for one in jar if one.name == "csrftoken")
    form = urlencode({"username": "ana", "password": PASSWORD, "csrfmiddlewaretoken": token}).encode()
    browser.open(urllib.request.Request(f"{house.url}/login/", form, {"Referer": house.url})).read()
    return next(f"sessionid={one.value}" for one in jar if one.name == "sessionid")


def status_of(house: Installation, secret: str) -> int:
    request = urllib.request.Request(f"{house.url}/api/personas", headers={"Authorization": f"Bearer {secret}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


async def closed_by(house: Installation, persona: str, cookie: str) -> tuple[int, float]:
    """The code with which the socket is closed, and how long after the change."""
    address = f"{house.url.replace('http', 'ws')}/ws/chat/{persona}/"
    async with websockets.connect(address, origin=house.url, additional_headers={"Cookie": cookie}) as socket:  # type: ignore[arg-type]
        assert json.loads(await socket.recv())["event"] == "chat.connection.ready"
        await asyncio.to_thread(house.manage, "shell", "-c", CHANGE)
        changed_at = time.monotonic()
        async with asyncio.timeout(20):
            await socket.wait_closed()
        return int(socket.close_code or 0), time.monotonic() - changed_at


def test_a_password_changed_elsewhere_closes_sockets_and_tokens(tmp_path: Path, empty: Path) -> None:
    house = Installation(tmp_path, empty, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    house.manage("createsuperuser", "--noinput", "--username", "ana", "--email", "ana@example.org")
    persona = house.manage("create_persona", "Mira", "--owner", "ana").stdout.strip()
    secret = house.manage("create_api_token", "ana").stdout.strip()
    with house:
        cookie = cookie_of(house)
        assert status_of(house, secret) == 200
        code, seconds = asyncio.run(closed_by(house, persona, cookie))
        assert code == 4401
        assert seconds < 5  # a heartbeat, which would find it anyway, comes every 30 s
        assert status_of(house, secret) == 401
