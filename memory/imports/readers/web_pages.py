"""Exports as web pages (HTML) are refused: they are for people. Each of these programs has another export as well,
which the refusal names. Pure."""

import re
from itertools import islice

from memory.imports.readers.source import Sample
from memory.imports.readers.types import ImportRejected

_PAGE = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_SUFFIXES = (".html", ".htm", ".xhtml")
# Signs near the beginning of each program's pages.
_SIGNS = (
    ("page_of_telegram", re.compile(r"<title>Exported Data</title>|class=\"page_wrap\"", re.I)),
    ("page_of_chatgpt", re.compile(r"<title>ChatGPT\b|var jsonData\s*=|\boai_shared_conversation", re.I)),
    ("page_of_discord", re.compile(r"chatlog__|DiscordChatExporter|class=\"?preamble\b|discord(?:app)?\.com", re.I)),
)
_UNKNOWN = "web_page"
_MEMBERS_LOOKED_AT = 20


def is_page(sample: Sample) -> bool:
    return _PAGE.match(sample.text) is not None


def refuse_page(sample: Sample) -> None:
    """Raises ImportRejected if the file is a web page."""
    if is_page(sample):
        raise ImportRejected(_program_of(sample.text), sample.name)


def refuse_pages(sample: Sample) -> None:
    """Raises ImportRejected if a zip without other content has a page of a program that has another export."""
    for name in islice((name for name in sample.members if name.lower().endswith(_SUFFIXES)), _MEMBERS_LOOKED_AT):
        if is_page(member := sample.inside(name)) and _program_of(member.text) != _UNKNOWN:
            refuse_page(member)


def _program_of(text: str) -> str:
    return next((code for code, sign in _SIGNS if sign.search(text)), _UNKNOWN)
