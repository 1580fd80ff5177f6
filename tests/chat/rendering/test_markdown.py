"""Replies as HTML: links ask first, pictures become words, and no bubble is empty."""

import html
import re
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.rendering.links import Destination, destination, question_address
from chat.rendering.markdown import as_html, is_visible
from tests.table import each_row

QUESTION = re.compile(r'<a href="(/leave/\?to=[^"]+)" target="_blank" rel="noopener noreferrer nofollow">(.*?)</a>')


def links(text: str) -> list[tuple[str, str]]:
    return [(html.unescape(address), words) for address, words in QUESTION.findall(as_html(text))]


def test_no_link_leads_out_by_itself() -> None:
    cases = {
        "[here](https://example.org/a?b=1&c=2)": "here",
        "<https://example.org/>": "https://example.org/",
        "[mail](mailto:ana@example.org)": "mail",
        "see [a **bold** one](http://example.org)": "a <strong>bold</strong> one",
        "[](https://example.org/empty)": "https://example.org/empty",
        "[\u200b](https://example.org/unseen)": "https://example.org/unseen",
        "[r]\n\n[r]: https://example.org": "r",
    }
    for text, words in cases.items():
        [(address, shown)] = links(text)
        assert words in shown, text
        assert address.startswith("/leave/?to=")
        assert 'href="http' not in as_html(text)
        assert 'href="mailto' not in as_html(text)


def test_unsafe_links_are_rendered_as_text() -> None:
    for address in (
        "javascript:alert(1)",
        "/logout/",
        "//example.org",
        "ftp://example.org",
        "https://",
        "data:x",
        "?a",
    ):
        shown = as_html(f"[words]({address})")
        assert "<a" not in shown, address
        assert "words" in shown


def test_a_picture_becomes_its_words_and_its_address() -> None:
    shown = as_html("![a cat asleep](https://example.org/cat.png)")
    assert "a cat asleep" in shown
    assert "picture not shown" in shown
    assert "<img" not in shown
    [(_address, words)] = links("![a cat asleep](https://example.org/cat.png)")
    assert words == "https://example.org/cat.png"
    assert "picture not shown" in as_html("![](https://example.org/cat.png)")
    assert "picture not shown" in as_html("![x](data:image/png;base64,AAAA)")
    linked = as_html("[![cat](https://a.example/cat.png)](https://b.example/)")
    assert linked.count("<a ") == linked.count("</a>") == 1
    assert "<script" not in as_html('![<script>alert(1)</script>](https://example.org/"onx=1)')


def test_no_reply_is_an_empty_bubble() -> None:
    replies = (
        "<div></div>", "<!-- nothing -->", "```\n```", "```python\n```", "😀", "#", "> ", "-", "[](<>)", "***",
        "&nbsp;", "[a]: https://x.example", "![](https://x.example/a.png)", "![]()", "\u200b", "&#8203;", "\u2800",
        "<img src=x>", "\\\n", "**  **",
    )  # fmt: skip
    for reply in replies:
        shown = as_html(reply)
        words = html.unescape(re.sub(r"<[^>]*>", "", shown))
        assert "<hr>" in shown or is_visible(words), reply


def test_where_an_address_leads_is_told_as_people_and_as_machines_read_it() -> None:
    cases = {
        "https://example.org/a": ("example.org", "example.org", False),
        "https://xn--pple-43d.com/": ("аpple.com", "xn--pple-43d.com", False),
        "https://bücher.example/": ("bücher.example", "xn--bcher-kva.example", False),
        "https://bank.example@evil.example/": ("evil.example", "evil.example", True),
        "http://[::1]:80/": ("::1", "::1", False),
        "mailto:ana@example.org": ("ana@example.org", "ana@example.org", False),
    }
    for address, (host, ascii_host, has_user) in cases.items():
        scheme = address.partition(":")[0]
        assert destination(address) == Destination(address, scheme, host, ascii_host, has_user)
    for address in (
        "https://[bad/",
        "https://example.org:99999/",
        "https://a b/",
        "mailto:",
        "https://x/\u202e",
        "x" * 9_000,
    ):
        assert destination(address) is None, address


@pytest.mark.django_db
def test_the_question_shows_the_address_and_opens_nothing_that_was_not_signed(ana: User) -> None:
    client = Client()
    question = question_address("https://user@xn--pple-43d.com/path?<b>=1")
    assert client.get(question).status_code == 302, "only for who is signed in"
    client.force_login(ana)
    answer = client.get(question)
    page = answer.content.decode()
    assert "аpple.com" in page
    assert "xn--pple-43d.com" in page
    assert 'href="https://user@xn--pple-43d.com/path?&lt;b&gt;=1"' in page
    assert 'rel="noopener noreferrer nofollow" referrerpolicy="no-referrer"' in page
    assert 'data-testid="leave-disguise"' in page
    assert 'data-testid="leave-user"' in page
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    for forged in ("/leave/", "/leave/?to=https://evil.example/", f"{question}x"):
        assert client.get(forged).status_code == 404


@each_row(
    ("text", "holds", "not_in"),
    [
        ("| a | b |\n|---|:-:|\n| heron | grey |", ["<table>", "<th>a</th>", "<td>heron</td>"], ["style"]),
        ("| a |\n|---|\n| <script>x()</script> |", ["<table>", "&lt;script&gt;"], ["<script"]),
        ("| a |\n|---|\n| [x](https://a.example) |", ["<td><a href=", "leave"], ['href="https']),
        ("a | b\nno table", ["a | b"], ["<table"]),
        ("~~old~~ new", ["<s>old</s>"], []),
    ],
)
def test_tables_are_tables_and_as_harmless_as_the_rest(text: str, holds: list[str], not_in: list[str]) -> None:
    html = as_html(text)
    assert all(part in html for part in holds), html
    assert not any(part in html for part in not_in), html


@each_row(
    ("text", "addresses"),
    [
        ("See https://birds.example.org/heron.", ["https://birds.example.org/heron"]),
        ("看 https://a.example/鹭，很好。", ["https://a.example/鹭"]),
        ("（https://a.example/x）和http://b.example!", ["https://a.example/x", "http://b.example"]),
        ("(https://a.example/x?y=1&z=2), **https://b.example**", ["https://a.example/x?y=1&z=2", "https://b.example"]),
        ("`https://a.example` and javascript:alert(1)", []),
        ("[https://a.example](https://b.example)", ["https://b.example"]),
        ("https:// and https://", []),
        ("<https://a.example>", ["https://a.example"]),
    ],
)
def test_an_address_that_stands_in_the_text_leads_to_the_question_as_any_link(text: str, addresses: list[str]) -> None:
    signed = [html.unescape(address) for address, _words in links(text)]
    assert [unquote(address.split("to=")[1].rsplit("%3A", 1)[0]) for address in signed] == addresses
    assert 'href="http' not in as_html(text)
