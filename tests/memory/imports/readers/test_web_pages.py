"""Exports as web pages are refused with what to choose instead."""

import pytest

from memory.imports.readers import recognize
from memory.imports.readers.types import ImportRejected
from tests.memory.imports.readers.sources import source_of, zip_source
from tests.table import each_row

TELEGRAM = "<!DOCTYPE html>\n<html>\n <head><title>Exported Data</title></head><body>Ana: hi\nMira: hello\nAna: so\n"
CHATGPT = "<html>\n<head><title>ChatGPT Data Export</title></head><script>var jsonData = [{}]</script>"
DISCORD = '\ufeff<!-- a --><!doctype html><html lang="en"><div class="chatlog__message-group">Ana: hi</div>'


@each_row(
    ("page", "code"),
    [
        (TELEGRAM, "page_of_telegram"), (CHATGPT, "page_of_chatgpt"), (DISCORD, "page_of_discord"),
    ],
)  # fmt: skip
def test_a_page_is_refused_with_what_to_choose_instead(page: str, code: str) -> None:
    for source in (source_of(page, "messages.html"), zip_source({"Chat/messages.html": page, "Chat/1.jpg": b"x"})):
        with pytest.raises(ImportRejected) as rejected:
            recognize(source)
        assert rejected.value.code == code
        assert "messages.html" in rejected.value.location


def test_a_page_beside_what_can_be_read_does_not_matter() -> None:
    source = zip_source({"_chat.txt": "31/12/2023, 21:06 - Ana: Hello\n", "page.html": TELEGRAM})
    assert recognize(source).name == "whatsapp"


def test_text_that_speaks_of_pages_is_no_page() -> None:
    assert recognize(source_of("Ana: <html> is a tag\nMira: I know\nAna: good\n")).name == "transcript"


def test_a_page_of_nobody_known_is_refused_as_one_and_counted_in_a_zip() -> None:
    page = "<html><body>2024-01-05\nIt rained.</body></html>"
    for source, code in ((source_of(page, "a.html"), "web_page"), (zip_source({"a.html": page}), "unknown_format")):
        with pytest.raises(ImportRejected) as rejected:
            recognize(source)
        assert rejected.value.code == code
