"""Replies as safe HTML: CommonMark without raw HTML, then an allow-list.

Pictures are left out because loading them would reveal the reader to their host; their description and address are
shown instead. Links lead to a page that shows the address and asks first (`chat.rendering.links`). A reply that would
render to nothing visible is shown as it was written.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence

import nh3
from django.utils.html import escape
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chat.rendering.links import question_address

# Rendering is linear but slow on hostile nesting (measured: 3.3 s for 50,000 nested divs); no real reply is this long.
LONGEST_RENDERED = 20_000
LONGEST_SHOWN_ADDRESS = 80
TAGS = {
    "p",
    "br",
    "em",
    "strong",
    "s",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "hr",
    "a",
    "h1",
    "h2",
    "h3",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}

_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
_LINE_SIGN = re.compile(r"^(?:[-*+•]|#{1,6})\s+")
_EMPHASIS = re.compile(r"(\*\*|__|`)(\S(?:.*?\S)?)\1")
_TAG = re.compile(r"<[^>]*>")
# A bare address in the text, without the punctuation of either language that ends a sentence.
_BARE_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`，。；：！？、（）【】「」『』《》“”‘’]*[^\s<>\"'`，。；：！？、（）【】「」『』《》“”‘’.,;:!?*_)\]}]"
)


def as_line(text: str) -> str:
    """`text` on one line without the marks of lists, headings and emphasis, for places that quote a message in a line.

    >>> as_line("I **remember**:\\n- the cat\\n- the sea")
    'I remember: the cat · the sea'
    """
    plain = ""
    for row in filter(None, map(str.strip, text.splitlines())):
        words = _LINE_SIGN.sub("", row)
        is_next = words != row and not plain.endswith((":", "："))
        plain += (" · " if is_next else " ") * bool(plain) + words
    return _EMPHASIS.sub(r"\2", plain)


def as_html(text: str) -> str:
    """`text` rendered and sanitised; text over the limit is shown unrendered."""
    if len(text) > LONGEST_RENDERED:
        return f"<p>{nh3.clean_text(text)}</p>"
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.children:
            token.children = list(_make_harmless(list(_with_bare_links(token.children))))
    rendered = nh3.clean(
        _markdown.renderer.render(tokens, _markdown.options, {}),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes=set(),
        url_relative="pass_through",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    if "<hr>" in rendered or is_visible(html.unescape(_TAG.sub("", rendered))):
        return rendered
    return f"<p>{nh3.clean_text(text)}</p>" if is_visible(text) else f"<p><em>{_('(nothing to be seen)')}</em></p>"


def is_visible(text: str) -> bool:
    """Whether any of the text can be seen, that is, not only spaces, joiners and marks."""
    return any(unicodedata.category(character)[0] not in "CMZ" for character in text)


def _with_bare_links(tokens: Sequence[Token]) -> Iterator[Token]:
    """The inline tokens, with bare addresses in text turned into links."""
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "text" or depth:
            yield token
            continue
        at = 0
        for address in _BARE_ADDRESS.finditer(token.content):
            yield Token("text", "", 0, content=token.content[at : address.start()])
            yield Token("link_open", "a", 1, attrs={"href": address[0]})
            yield Token("text", "", 0, content=address[0])
            yield Token("link_close", "a", -1)
            at = address.end()
        yield Token("text", "", 0, content=token.content[at:])


def _make_harmless(tokens: Sequence[Token]) -> Iterator[Token]:
    """The inline tokens, with links that ask first, and text in place of pictures."""
    links: list[str] = []
    shown_before: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            links.append(address)
            shown_before.append(False)
            token.attrs = {"href": question_address(address)}
            yield token if token.attrs["href"] else _markup("")
        elif token.type == "link_close":
            address, was_shown = links.pop(), shown_before.pop()
            if not was_shown:
                yield _markup(escape(_shorten_address(address)))
            yield token if question_address(address) else _markup("")
        elif token.type == "image":
            # A picture is replaced by its description and address.
            shown_before[:] = [True] * len(shown_before)
            source = str(token.attrs.get("src", ""))
            question, label = question_address(source), escape(_shorten_address(source))
            left_out = _("picture not shown")
            if question:
                left_out += f": {label}" if links else f': <a href="{escape(question)}">{label}</a>'
            yield _markup(f"{escape(token.content)} <em>({left_out})</em>".strip())
        else:
            if is_visible(token.content):
                shown_before[:] = [True] * len(shown_before)
            yield token


def _shorten_address(address: str) -> str:
    return address if len(address) <= LONGEST_SHOWN_ADDRESS else f"{address[: LONGEST_SHOWN_ADDRESS - 1]}…"


def _markup(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)
