"""A large file on its way in takes the web server little memory."""

import http.client
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation import Installation

pytestmark = pytest.mark.campaign
MEGABYTE = 1024**2
SIZE = 200 * MEGABYTE
MAX_MORE = 60 * MEGABYTE
BOUNDARY = "-" * 20 + "0815"
HEAD = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'.encode()
FOOT = f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Installation]:
    for folder in ("empty", "house"):
        (tmp_path / folder).mkdir()
    with Installation(tmp_path / "house", Installation.unused(tmp_path / "empty")) as installation:
        yield installation


def most_held(pid: int) -> int:
    """The most memory that a process ever had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def test_a_file_of_200_megabytes_is_taken_in_little_memory(house: Installation) -> None:
    web = house.web_pid()
    before = most_held(web)
    connection = http.client.HTTPConnection("127.0.0.1", house.port)
    connection.putrequest("POST", "/login/")
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Cookie", f"csrftoken={'a' * 32}")
    connection.putheader("Content-Length", str(len(HEAD) + SIZE + len(FOOT)))
    connection.endheaders(HEAD)
    for _ in range(SIZE // MEGABYTE):
        connection.send(os.urandom(MEGABYTE))
    connection.send(FOOT)
    assert connection.getresponse().status == 403  # the form was read to its end, and has no token
    assert most_held(web) - before <= MAX_MORE
