"""What can be said about the pages without a browser: a strict content policy, and every word in both languages."""

import gettext
import re
from pathlib import Path

import pytest

from tests.table import each_row

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))
CATALOG = ROOT / "echovessel" / "locale" / "zh_Hans" / "LC_MESSAGES"
NOT_PAGES = {"prompts", "admin"}
TEMPLATES = sorted(
    path
    for path in (ROOT / "templates").rglob("*.html")
    if path.relative_to(ROOT / "templates").parts[0] not in NOT_PAGES
)
INLINE = re.compile(r"""<style|\sstyle\s*=|\son[a-z]+\s*=\s*["']|javascript:|<script(?![^>]*\ssrc=)""")
ELSEWHERE = re.compile(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//""")
TRANSLATED = re.compile(r"""{%\s*translate\s+(["'])(.*?)\1(?:\s+context\s+"(.*?)")?""")


@pytest.fixture(scope="module")
def chinese() -> gettext.GNUTranslations:
    with (CATALOG / "django.mo").open("rb") as compiled:
        return gettext.GNUTranslations(compiled)


@each_row("template", TEMPLATES, ids=lambda path: path.name)
def test_a_page_holds_nothing_that_the_content_policy_refuses(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert INLINE.findall(text) == []
    assert ELSEWHERE.findall(text) == []


@each_row("template", TEMPLATES, ids=lambda path: path.name)
def test_every_word_of_a_page_has_its_chinese(template: Path, chinese: gettext.GNUTranslations) -> None:
    words = [(word, context) for _, word, context in TRANSLATED.findall(template.read_text(encoding="utf-8"))]
    told = [chinese.pgettext(context, word) if context else chinese.gettext(word) for word, context in words]
    assert [word for (word, _), chinese_word in zip(words, told, strict=True) if chinese_word == word] == []


def test_every_word_a_script_asks_for_stands_in_the_page() -> None:
    page = (ROOT / "templates" / "chat" / "_words.html").read_text(encoding="utf-8")
    offered = {re.sub(r"-(.)", lambda m: m[1].upper(), name) for name in re.findall(r"data-([a-z-]+)=", page)}
    text = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    asked = set(re.findall(r"\b(?:word|numbered)\('(\w+)'", text))
    counted = {f"{name}{n}" for name in re.findall(r"\bcounted\('(\w+)'", text) for n in ("One", "Other")}
    assert asked | counted <= offered


@each_row("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_imports_only_what_is_there(script: Path) -> None:
    names = re.findall(r"from '\./([\w.]+)'", script.read_text(encoding="utf-8"))
    assert [name for name in names if not (script.parent / name).is_file()] == []
