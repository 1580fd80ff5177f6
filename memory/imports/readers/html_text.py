"""The text of a small piece of HTML, in paragraphs. Nothing is rendered or followed: tags are removed, text is kept.
Pure.

>>> words_of("<p>It <b>snowed</b>.</p><ul><li>cold &amp; wet</li></ul>")
'It snowed.\\n\\n- cold & wet'
"""

import re
from html.parser import HTMLParser

_BLOCKS = frozenset({"p", "div", "ul", "ol", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr"})
_LINES = frozenset({"br", "tr"})
_LONGEST = 512 * 1024
_DECLARATION = re.compile(r"<[!?][^<>]{0,200}>")
_SILENT = frozenset({"script", "style", "head"})


def words_of(html: str) -> str:
    """The text of `html`, which is returned unchanged if it is longer than any message."""
    if len(html) > _LONGEST:
        return html
    reading = _TextParser()
    # Without comments and the like, on which the parser is slow if they are not closed.
    first, *rest = html.split("<!--")
    visible = first + "".join(part.partition("-->")[2] for part in rest)
    reading.feed(_DECLARATION.sub("", visible).replace("<!", "&lt;!").replace("<?", "&lt;?"))
    reading.close()
    lines = (line.strip() for line in "".join(reading.pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _TextParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.silent = 0
        self.laid_out = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in _SILENT
        self.laid_out += tag == "pre"
        if tag in _BLOCKS:
            self.pieces.append("\n\n")
        elif tag in _LINES:
            self.pieces.append("\n")
        elif tag == "li":
            self.pieces.append("\n- ")
        elif tag == "td":
            self.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.silent = max(0, self.silent - (tag in _SILENT))
        self.laid_out = max(0, self.laid_out - (tag == "pre"))
        if tag in _BLOCKS:
            self.pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.pieces.append(data if self.laid_out else re.sub(r"\s+", " ", data))
