"""The manual: public pages in two languages, which name only existing commands, settings and pages."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import get_commands, load_command_class
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.token import Token

from echovessel import knobs
from echovessel.web import help as manual
from memory.imports.readers import FORMATS
from persona.models import Persona

ROOT = settings.BASE_DIR
LANGUAGES = ("en", "zh")
DOCUMENTS = ("README.md", "CONTRIBUTING.md")
SOURCES = ("echovessel", "persona", "chat", "memory", "proactive", "templates", "static")
OF_OTHER_PROGRAMS = {"OLLAMA_CONTEXT_LENGTH"}
# Paths of the reader's machine, and addresses of other sites.
EXAMPLES = ("/srv/", "/path", "/tmp/")
# Views that take every address below theirs and answer 404.
CATCH_ALL = {"nowhere", "catch_all_view"}
UUID = "00000000-0000-0000-0000-000000000000"

COMMAND = re.compile(r"manage\.py\s+([a-z_]+)([^\n#]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
VARIABLE = re.compile(r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+(?==|$|\s)|[A-Z][A-Z0-9_]+(?==))")
ADDRESS = re.compile(r"(?:(?<=^)|(?<=127\.0\.0\.1:8000))/[\w./{}-]*")
FILE = re.compile(r"^[\w./<>*-]*\.(?:py|md|json|jsonl|txt|toml|html|csv|pem|sqlite3|env|env\.example)$")
FOLDER = re.compile(r"^[\w-]+(?:/[\w.-]+)*/?$")
KNOB = re.compile(r'^"?([a-z_]+\.[a-z0-9_]+)"?(?: = \d+)?$')
PERMISSIONS = {"persona.read_words", "persona.forget_words", "chat.view_crisisflag"}


# --- the pages ------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_anybody_can_read_every_page(client: Client, language: str) -> None:
    client.cookies["django_language"] = {"en": "en", "zh": "zh-hans"}[language]
    for address in ("/help/", *(f"/help/{name}/" for name in manual.PAGES)):
        answer = client.get(address)
        page = answer.content.decode()
        assert answer.status_code == 200, address
        assert page.startswith("<!doctype html>"), address
        assert ("安装与更新" in page) == (language == "zh"), address
        assert not manual.KNOB.search(re.sub(r"<code>.*?</code>", "", page)), address
        assert " style=" not in page, address
        assert "<script>" not in page, address


def test_a_page_that_does_not_exist_is_not_found(client: Client) -> None:
    for name in ("nothing", "..", "en"):
        assert client.get(f"/help/{name}/").status_code == 404


@pytest.mark.django_db
def test_help_is_linked_from_the_pages_people_use(client: Client, mira: Persona) -> None:
    assert 'href="/help/"' in client.get("/login/").content.decode()
    client.force_login(mira.owner)
    for address in ("/account/", f"/chat/{mira.uuid}/", f"/memory/{mira.uuid}/"):
        assert 'href="/help/"' in client.get(address).content.decode(), address
    client.force_login(User.objects.create_superuser("root"))
    assert 'href="/help/"' in client.get("/admin/").content.decode()


def test_numbers_are_those_of_this_installation(settings: Any) -> None:
    settings.KNOBS = {"chat.idle_minutes": 1_234}
    page = next(page for page in manual.load_pages("en") if page.name == "memory")
    assert "1,234 minutes" in page.html


@pytest.mark.django_db
def test_the_page_of_commands_lists_every_knob_with_its_value_and_reason(client: Client, settings: Any) -> None:
    settings.KNOBS = {"chat.idle_minutes": 77}
    page = client.get("/help/commands/").content.decode()
    assert "<code>chat.idle_minutes</code> = 77<" in page
    assert all(f'<dt id="{name}"><code>{name}</code>' in page for name in knobs.REGISTRY)
    assert all(str(escape(knob.why)) in page and str(escape(knob.unit)) in page for knob in knobs.REGISTRY.values())


def test_a_heading_has_the_same_anchor_in_both_languages() -> None:
    for english, chinese in zip(manual.load_pages("en"), manual.load_pages("zh"), strict=True):
        anchors = [heading.anchor for heading in english.headings]
        assert anchors == [heading.anchor for heading in chinese.headings]
        assert len(set(anchors)) == len(anchors)
        assert all(f'id="{anchor}"' in english.html and f'id="{anchor}"' in chinese.html for anchor in anchors)


def test_both_languages_have_the_same_pages_and_say_the_same() -> None:
    """The same headings, lists and tables, and the same names of commands, settings and numbers in the same order."""
    folders = [{path.stem for path in (manual.FOLDER / language).glob("*.md")} for language in LANGUAGES]
    assert folders == [set(manual.PAGES)] * 2
    for name in manual.PAGES:
        english, chinese = (parse(manual.FOLDER / language / f"{name}.md") for language in LANGUAGES)
        for kind in ("heading_open", "list_item_open", "tr_open", "blockquote_open"):
            assert count(english, kind) == count(chinese, kind), (name, kind)
        assert sorted(spans(english)) == sorted(spans(chinese)), name
        assert [without_comments(block) for block in blocks(english)] == [
            without_comments(block) for block in blocks(chinese)
        ], name
        texts = [(manual.FOLDER / language / f"{name}.md").read_text() for language in LANGUAGES]
        assert sorted(manual.KNOB.findall(texts[0])) == sorted(manual.KNOB.findall(texts[1])), name


def test_chinese_paragraphs_have_no_line_breaks() -> None:
    """A browser would show each as a space between two characters."""
    for name in manual.PAGES:
        for token in parse(manual.FOLDER / "zh" / f"{name}.md"):
            assert not any(child.type == "softbreak" for child in token.children or []), (name, token.content)


# --- names in the text ----------------------------------------------------------------------------------------------
def test_every_command_and_option_named_exists() -> None:
    for name, code in all_code():
        for command, rest in COMMAND.findall(code):
            options = options_of(command)
            assert set(OPTION.findall(rest)) <= options, (name, code)
        first, _space, rest = code.partition(" ")
        if first in get_commands() and not COMMAND.search(code):
            assert set(OPTION.findall(rest)) <= options_of(first), (name, code)
        elif code.startswith("--"):
            assert set(OPTION.findall(code)) <= options_of_all() | {"--port"}, (name, code)
        for target in re.findall(r"\bmake ([a-z]+)", code):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), (name, code)


def test_every_option_of_a_command_of_ours_is_named() -> None:
    """Not those of measuring, and of the worker, which Django and django-q declare."""
    options = set().union(*(options_of(name) for name in our_commands() - {"bench", "worker"})) - options_of("check")
    for language in LANGUAGES:
        text = "".join((manual.FOLDER / language / f"{name}.md").read_text() for name in manual.PAGES)
        assert options - set(OPTION.findall(text)) <= {"--skip-checks"}, language


def test_every_environment_variable_named_is_read_and_every_one_read_is_named() -> None:
    read = variables_read()
    for name, code in all_code():
        variables = set(VARIABLE.findall(code)) - OF_OTHER_PROGRAMS
        of_make = {"HOST", "PORT", "WORKERS", "PYTHON"} if "make " in code else set()
        of_settings = {variable for variable in variables if hasattr(settings, variable)}
        assert variables <= read | of_make | of_settings, (name, code)
    for language in LANGUAGES:
        assert read <= set(spans(parse(manual.FOLDER / language / "commands.md")))
    assert read - {"TOMBSTONE_KEY"} <= set(re.findall(r"\b[A-Z_]+\b", (ROOT / ".env.example").read_text()))


def test_every_address_named_leads_somewhere() -> None:
    for name, code in all_code():
        for address in ADDRESS.findall(code):
            if address.startswith(EXAMPLES) or address == "/":
                continue
            assert leads_somewhere(address), (name, code)


def test_every_link_leads_to_a_page_a_heading_or_a_file() -> None:
    anchors = {page.name: {heading.anchor for heading in page.headings} for page in manual.load_pages("en")}
    for path in documents():
        for target in links(parse(path)):
            if target.startswith("/help/"):
                page, _slash, anchor = target.removeprefix("/help/").partition("/")
                assert page in anchors, (path, target)
                assert anchor.removeprefix("#") in anchors[page] | {""}, (path, target)
            elif not target.startswith("https://"):
                assert (path.parent / target.partition("#")[0]).exists(), (path, target)
    linked = re.findall(r"'help_page' '([a-z-]+)' %}(?:#([a-z-]+))?", all_sources())
    assert linked
    assert all(page in anchors and (not anchor or anchor in anchors[page]) for page, anchor in linked)


def test_every_file_named_exists_or_is_read_or_written_by_the_program() -> None:
    sources = all_sources()
    examples = {"mira.jsonl", "all.zip", "messages.txt"}
    for name, code in all_code():
        for word in re.split(r"[\s,、=]+", code.strip()):
            is_named_by_reader = word.isupper() or word in examples or word.startswith(("/", "http", "sqlite:", "-"))
            if FILE.match(word) and not is_named_by_reader and "<" not in word:
                is_source = f"/{word}\n" in sources
                there = is_source if word.endswith(".py") else is_source or Path(word).name in sources
                assert there or (ROOT / word).exists(), (name, code)
            elif "/" in word and FOLDER.match(word) and word.partition("/")[0] in {*SOURCES, "tests"}:
                assert (ROOT / word).exists(), (name, code)


def test_every_knob_named_exists() -> None:
    apps = {name.partition(".")[0] for name in knobs.REGISTRY}
    for name, code in all_code():
        for word in KNOB.findall(code):
            if word.partition(".")[0] in apps and word not in PERMISSIONS:
                assert word in knobs.REGISTRY, (name, code)
    for path in documents():
        assert set(manual.KNOB.findall(path.read_text())) <= set(knobs.REGISTRY), path


def test_every_label_of_the_screen_that_a_page_names_is_on_a_page() -> None:
    """`*…*` marks words that stand on the screen."""
    sources = all_sources()
    translated = (ROOT / "echovessel/locale/zh_Hans/LC_MESSAGES/django.po").read_text()
    for language in LANGUAGES:
        for name in manual.PAGES:
            for label in emphasized(parse(manual.FOLDER / language / f"{name}.md")):
                in_code = f'translate "{label}"' in sources or f'_("{label}")' in sources
                assert in_code if language == "en" else f'msgstr "{label}"' in translated, (language, name, label)


def test_the_import_page_names_every_format() -> None:
    for language in LANGUAGES:
        names = set(spans(parse(manual.FOLDER / language / "import.md")))
        assert {file_format.name for file_format in FORMATS} | {"archive"} <= names


def test_the_page_of_commands_names_every_command_of_ours() -> None:
    for language in LANGUAGES:
        names = {code.partition(" ")[0] for code in spans(parse(manual.FOLDER / language / "commands.md"))}
        assert our_commands() <= names


def test_the_documents_of_the_repository_stay_short() -> None:
    assert (ROOT / "README.md").stat().st_size <= 6 * 1024
    assert (ROOT / "CONTRIBUTING.md").stat().st_size <= 8 * 1024


# --- parsing --------------------------------------------------------------------------------------------------------
def documents() -> Iterator[Path]:
    yield from (ROOT / name for name in DOCUMENTS)
    yield from (path for folder in SOURCES for path in (ROOT / folder).rglob("README.md"))
    yield from (manual.FOLDER / language / f"{name}.md" for language in LANGUAGES for name in manual.PAGES)


@cache
def parse(path: Path) -> list[Token]:
    return MarkdownIt("commonmark", {"html": False}).enable("table").parse(path.read_text(encoding="utf-8"))


@cache
def all_code() -> tuple[tuple[str, str], ...]:
    """Every line of a code block and every code span, each with its file."""
    return tuple(
        (str(path.relative_to(ROOT)), code)
        for path in documents()
        for code in (*spans(parse(path)), *(line for block in blocks(parse(path)) for line in block.splitlines()))
    )


def children(tokens: list[Token]) -> Iterator[Token]:
    return (child for token in tokens for child in token.children or [])


def spans(tokens: list[Token]) -> list[str]:
    return [child.content for child in children(tokens) if child.type == "code_inline"]


def blocks(tokens: list[Token]) -> list[str]:
    return [token.content for token in tokens if token.type == "fence"]


def links(tokens: list[Token]) -> list[str]:
    return [str(child.attrs["href"]) for child in children(tokens) if child.type == "link_open"]


def emphasized(tokens: list[Token]) -> list[str]:
    inline = list(children(tokens))
    return [text.content for opening, text in pairwise(inline) if opening.type == "em_open"]


def count(tokens: list[Token], kind: str) -> int:
    return sum(token.type == kind for token in tokens)


def without_comments(block: str) -> list[str]:
    return [line.partition(" #")[0].rstrip() for line in block.splitlines()]


@cache
def options_of(command: str) -> set[str]:
    """The options of a command, with those of its subcommands. Fails if there is no such command."""
    app = get_commands()[command]
    assert isinstance(app, str)
    parser = load_command_class(app, command).create_parser("manage.py", command)
    parts = [part for action in parser._actions for part in getattr(action, "_name_parser_map", {}).values()]
    return {option for part in (parser, *parts) for action in part._actions for option in action.option_strings}


def our_commands() -> set[str]:
    return {name for name, app in get_commands().items() if str(app).partition(".")[0] in SOURCES}


@cache
def options_of_all() -> set[str]:
    return set().union(*map(options_of, our_commands()))


def variables_read() -> set[str]:
    return set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", (ROOT / "echovessel/settings.py").read_text()))


def leads_somewhere(address: str) -> bool:
    path = re.sub(r"\{\w+\}|\bID\b", UUID, address)
    for attempt in (path, f"{path}/", f"{path}/models"):
        try:
            if resolve(attempt).func.__name__ not in CATCH_ALL:
                return True
        except Resolver404:
            continue
    return False


@cache
def all_sources() -> str:
    """The names and contents of all source files, without the pages of the manual."""
    kinds = (".py", ".html", ".txt", ".toml", ".js")
    return "\n".join(
        f"{path}\n{path.read_text(encoding='utf-8', errors='replace')}"
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds and path.is_file() and path.stat().st_size < 300_000
    )
