"""The manual at /help/: Markdown files of `templates/help/<language>/`, readable without signing in.

A page begins with its title (`# …`) and a paragraph about its purpose. `{chat.idle_minutes}` is replaced by the value
of that knob in this installation. A heading has the same anchor in every language, made of its English words, so that a
link to it works for every reader.
"""

import re
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.html import escape
from django.utils.module_loading import autodiscover_modules
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import get_language
from markdown_it import MarkdownIt
from markdown_it.token import Token

from echovessel import knobs

FOLDER = settings.BASE_DIR / "templates" / "help"
# In the order in which a new owner needs them.
PAGES = (
    "install",
    "models",
    "memory",
    "import",
    "forget",
    "backup",
    "reaching-out",
    "care",
    "languages",
    "users",
    "api",
    "commands",
)
KNOB = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)\}")

# `html` is off: pages contain words and links, but no markup of their own.
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class Heading:
    """A section of a page, as its table of contents lists it."""

    anchor: str
    text: str


@dataclass(frozen=True)
class HelpPage:
    """A page of the manual in one language. `body` is our HTML before the values of knobs are filled in."""

    name: str
    title: str
    lead: str
    body: str
    headings: tuple[Heading, ...]

    @property
    def html(self) -> SafeString:
        return mark_safe(fill_in_knobs(self.body))


@login_not_required
def index(request: HttpRequest) -> HttpResponse:
    """The table of contents."""
    return render(request, "help/index.html", {"pages": load_pages(language_of_visitor())})


@login_not_required
def show(request: HttpRequest, page: str) -> HttpResponse:
    """One page of the manual."""
    if page not in PAGES:
        raise Http404
    pages = load_pages(language_of_visitor())
    place = PAGES.index(page)
    return render(
        request,
        "help/page.html",
        {
            "pages": pages,
            "page": pages[place],
            "previous": pages[place - 1] if place else None,
            "next": pages[place + 1] if place + 1 < len(pages) else None,
            "knobs": describe_knobs() if page == "commands" else (),
        },
    )


def language_of_visitor() -> str:
    """The language folder for this visitor's pages; English if there is no manual in their language."""
    language = (get_language() or "en").split("-")[0]
    return language if (FOLDER / language).is_dir() else "en"


@cache
def load_pages(language: str) -> tuple[HelpPage, ...]:
    """All pages in a language, cached for the life of the process, since they only change with the program."""
    autodiscover_modules("knobs")
    pages = []
    for name in PAGES:
        tokens = _parse(name, language)
        anchors = [slugify(text) for text in _section_titles(_parse(name, "en"))]
        headings = tuple(map(Heading, anchors, _section_titles(tokens)))
        for token, heading in zip(filter(_opens_section, tokens), headings, strict=True):
            token.attrSet("id", heading.anchor)
        body = _markdown.renderer.render(tokens[3:], _markdown.options, {"language": language})
        pages.append(HelpPage(name, tokens[1].content, _text(tokens[4]), body, headings))
    return tuple(pages)


def fill_in_knobs(text: str) -> str:
    """`text` with knob names replaced by their values in this installation. Raises KeyError for an unknown name.

    >>> fill_in_knobs("after {chat.idle_minutes} minutes")
    'after 30 minutes'
    """
    return KNOB.sub(lambda match: f"{knobs.REGISTRY[match[1]]():,}", text)


def describe_knobs() -> list[dict[str, Any]]:
    """Every knob by name, with its value here. As dicts, because a template would call a knob that it names."""
    return [asdict(knob) | {"value": knob()} for _name, knob in sorted(knobs.REGISTRY.items())]


def _parse(name: str, language: str) -> list[Token]:
    return _markdown.parse((FOLDER / language / f"{name}.md").read_text(encoding="utf-8"))


def _opens_section(token: Token) -> bool:
    return token.type == "heading_open" and token.tag == "h2"


def _section_titles(tokens: list[Token]) -> list[str]:
    return [_text(text) for opening, text in pairwise(tokens) if _opens_section(opening)]


def _text(token: Token) -> str:
    """The text of an inline token without Markdown marks."""
    return "".join(child.content if child.content else " " for child in token.children or [] if not child.nesting)


def _wrapped_table(renderer: object, tokens: list[Token], place: int, options: object, env: object) -> str:
    """A table in a wrapper that scrolls on a narrow screen, also by keyboard."""
    return '<div class="help__table" tabindex="0"><table>' if tokens[place].nesting == 1 else "</table></div>"


def _code_block(renderer: object, tokens: list[Token], place: int, options: object, env: object) -> str:
    """A code block that scrolls on a narrow screen, also by keyboard."""
    return f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>\n'


def _picture(renderer: object, tokens: list[Token], place: int, options: object, env: dict[str, str]) -> str:
    """A picture of the product in the language of the page: `![What it shows](people)`."""
    token = tokens[place]
    address = static(f"img/help/{token.attrGet('src')}.{env['language']}.webp")
    return f'<img src="{escape(address)}" alt="{escape(token.content)}" width="1280" height="900" loading="lazy">'


_markdown.add_render_rule("image", _picture)
_markdown.add_render_rule("fence", _code_block)
_markdown.add_render_rule("table_open", _wrapped_table)
_markdown.add_render_rule("table_close", _wrapped_table)
