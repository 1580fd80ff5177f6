"""Which addresses of model servers may be called."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from echovessel.llm import addresses
from echovessel.llm.addresses import check_address
from tests.table import each_row

NAMES = {
    "models.example": "93.184.216.34",
    "metadata.google.internal": "169.254.169.254",
    "rebound.example": "169.254.169.254",
    "nas.home.example": "192.168.1.20",
}


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that lead where the table says, without a name server."""
    look_up = addresses.socket.getaddrinfo

    def look_up_name(host: str, port: int, **how: Any) -> Any:
        if host in NAMES:
            return look_up(NAMES[host], port, **how)
        is_name = host.endswith((".example", ".invalid", ".internal"))
        if is_name:
            raise OSError("no such name")
        return look_up(host, port, **how)

    monkeypatch.setattr(addresses.socket, "getaddrinfo", look_up_name)


@each_row(
    "text",
    [
        "http://127.0.0.1:11434/v1",
        "http://localhost:1234/v1/",
        "http://[::1]:8080/v1",
        "http://192.168.1.20:8000/v1",
        "http://10.0.0.5/v1",
        "http://nas.home.example:11434/v1",
        "https://models.example/v1",
        "  https://models.example/v1  ",
    ],
)
def test_servers_at_home_and_over_https_may_be_called(text: str) -> None:
    assert check_address(text).url == text.strip().rstrip("/")


@each_row(
    ("text", "code"),
    [
        ("", "address"),
        ("127.0.0.1:11434", "address"),
        ("ftp://127.0.0.1/v1", "address"),
        ("file:///etc/passwd", "address"),
        ("gopher://127.0.0.1:6379/_x", "address"),
        ("javascript:alert(1)", "address"),
        ("http://", "address"),
        ("http:///v1", "address"),
        ("http://127.0.0.1:99999/v1", "address"),
        ("http://127.0.0.1:0/v1", "address"),
        ("http://user:word@127.0.0.1/v1", "address"),
        ("http://models.example@127.0.0.1/v1", "address"),
        ("http://127.0.0.1/v1?x=1", "address"),
        ("http://127.0.0.1/v1#x", "address"),
        ("http://127.0.0.1/a b", "address"),
        ("http://127.0.0.1\\@models.example/", "address"),
        ("http://127.0.0.1/\r\nHost: x", "address"),
        ("https://models.example/" + "a" * 400, "address"),
        ("http://[::1", "address"),
        ("http://nowhere.invalid/v1", "unknown"),
        ("http://169.254.169.254/latest/meta-data", "forbidden"),
        ("https://169.254.169.254/v1", "forbidden"),
        ("http://169.254.170.2/v1", "forbidden"),
        ("http://2852039166/v1", "forbidden"),
        ("http://0xa9fea9fe/v1", "forbidden"),
        ("http://0251.0376.0251.0376/v1", "forbidden"),
        ("http://metadata.google.internal/computeMetadata/v1", "forbidden"),
        ("https://rebound.example/v1", "forbidden"),
        ("http://100.100.100.200/latest", "forbidden"),
        ("http://168.63.129.16/v1", "forbidden"),
        ("http://[fd00:ec2::254]/latest", "forbidden"),
        ("http://[fe80::1]/v1", "forbidden"),
        ("http://[::ffff:169.254.169.254]/v1", "forbidden"),
        ("http://[64:ff9b::a9fe:a9fe]/v1", "forbidden"),
        ("http://[2002:a9fe:a9fe::]/v1", "forbidden"),
        ("http://0.0.0.0:11434/v1", "forbidden"),
        ("http://[::]/v1", "forbidden"),
        ("http://224.0.0.1/v1", "forbidden"),
        ("http://255.255.255.255/v1", "forbidden"),
        ("http://models.example/v1", "insecure"),
        ("http://93.184.216.34/v1", "insecure"),
    ],
)
def test_no_other_place_may_be_called(text: str, code: str) -> None:
    with pytest.raises(ValidationError) as refused:
        check_address(text)
    assert refused.value.code == code
