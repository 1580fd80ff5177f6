"""Bytes to text: detects the encoding, and decodes piece by piece. Pure.

UTF-8, UTF-16 and GBK (as GB18030) are distinguished; everything else is refused rather than guessed, because wrong
letters would be stored for good.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from django.utils.translation import gettext as _

from echovessel.language.plain_text import NUL
from memory.imports.readers.types import ImportRejected

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
# Chinese text consists of GB 2312 punctuation and common hanzi. Other alphabets read as GBK do not.
_PUNCTUATION = range(0xA1, 0xAA)
_HANZI = range(0xB0, 0xF8)
_SHARE_OF_GB2312 = 0.8
_SHARE_OF_TEXT = 0.95
MAX_ZEROS = 3  # of a short file; of a longer one a hundredth


def encoding_of(chunks: Iterable[bytes]) -> str:
    """The codec of a file that begins with `chunks`. Reads only as many as needed: the first, or if that is plain
    ASCII, up to the first that is not. Raises ImportRejected."""
    for number, chunk in enumerate(chunks):
        if not number and (encoding := _encoding_by_mark(chunk)):
            return encoding
        if not chunk.isascii():
            # A file in neither encoding is read as UTF-8, which reports the place of the error.
            if _decodes(chunk, "utf-8") is None or _decodes(chunk, "gb18030") is not None:
                return "utf-8"
            pairs = re.findall(rb"[\x80-\xff].", chunk, re.DOTALL)
            common = sum(trail >= 0xA1 and (lead in _PUNCTUATION or lead in _HANZI) for lead, trail in pairs)
            return "gb18030" if pairs and common >= _SHARE_OF_GB2312 * len(pairs) else "utf-8"
    return "utf-8"


def decode(chunks: Iterable[bytes], encoding: str) -> Iterator[str]:
    """The text of `chunks`, without a byte order mark. Raises ImportRejected with the line and byte of the first
    error."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    fed, line_count, first = 0, 1, True
    zeros = read = 0
    for chunk, last in chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        fed += len(chunk)
        try:
            text = decoder.decode(chunk, last)
        except UnicodeDecodeError as error:
            line_number = line_count + error.object[: error.start].count(b"\n")
            raise ImportRejected("encoding", _place(line_number, fed - len(error.object) + error.start)) from error
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        zeros, read = zeros + text.count(NUL), read + len(text)
        if not _are_few(zeros, read):
            raise ImportRejected("binary", _("line %d") % (line_count + text[: text.index(NUL)].count("\n")))
        line_count += text.count("\n")
        if text := text.replace(NUL, ""):
            yield text


def _encoding_by_mark(chunk: bytes) -> str:
    """The codec by a byte order mark or by zeros in the first bytes of a file; "" if there are none."""
    if chunk.startswith(_UTF_32):
        raise ImportRejected("encoding", _place(1, 0))
    for mark, encoding in _MARKS:
        if chunk.startswith(mark):
            return encoding
    if b"\0" in chunk:
        # Text may contain a few stray zeros: they are dropped, as in all other inputs.
        rest = chunk.replace(b"\0", b"")
        is_utf_8 = _decodes(rest, "utf-8") is None and _is_text(rest.decode("utf-8", "ignore"))
        if is_utf_8 and _are_few(len(chunk) - len(rest), len(chunk)):
            return ""
        # In UTF-16 every second byte is zero, at least for blanks and digits; a few signs like 一 (4E00) have zeros in
        # the other byte. The result has to be text.
        encoding = "utf-16-le" if chunk[1::2].count(0) > chunk[::2].count(0) else "utf-16-be"
        if _decodes(chunk, encoding) is None and _is_text(chunk.decode(encoding, "ignore")):
            return encoding
        raise ImportRejected("binary", _place(chunk[: chunk.index(0)].count(b"\n") + 1, chunk.index(0)))
    return ""


def _are_few(zeros: int, length: int) -> bool:
    return zeros <= max(MAX_ZEROS, length // 100) and 8 * zeros <= length


def _is_text(letters: str) -> bool:
    readable = sum(letter.isprintable() or letter.isspace() for letter in letters)
    return "\0" not in letters and readable >= _SHARE_OF_TEXT * len(letters)


def _decodes(chunk: bytes, encoding: str) -> int | None:
    """None if `chunk` is the beginning of text in `encoding`, else the place of the first error."""
    try:
        codecs.getincrementaldecoder(encoding)("strict").decode(chunk, final=False)
    except UnicodeDecodeError as error:
        return error.start
    return None


def _place(line_number: int, byte: int) -> str:
    return _("line %(line)d, byte %(byte)d") % {"line": line_number, "byte": byte}
