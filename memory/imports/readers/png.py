"""The text in a PNG or APNG: read without decoding the picture, and added without changing it.

By the PNG specification (third edition): a signature, then chunks of length, type, data and CRC-32. Pixels are never
inflated, so a picture that unpacks to gigabytes is just another file; inflated text is limited in size.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The longest chunk that the specification allows; no text worth reading is longer.
LONGEST_CHUNK = 2**31 - 1
LONGEST_TEXT = 24 * 1024 * 1024
MAX_CHUNKS = 100_000
# A picture with more pixels is no portrait, but an attack on the memory of programs that show it.
MAX_PIXELS = 100_000_000
_BLOCK = 64 * 1024
_TEXTS = (b"tEXt", b"zTXt", b"iTXt")


class BrokenPNG(Exception):
    """The fault, as a code, and its byte in the file."""

    def __init__(self, code: str, byte: int) -> None:
        super().__init__(f"{code} at byte {byte}")
        self.code = code
        self.byte = byte


@dataclass(frozen=True)
class Chunk:
    """The place of a chunk; `at` is the byte of its length, its data begin eight bytes later."""

    kind: bytes
    at: int
    length: int


def texts_of(file: BinaryIO, keywords: tuple[str, ...]) -> dict[str, bytes]:
    """The first text under each of the `keywords`, inflated if it is deflated.

    Raises BrokenPNG if the file is no complete PNG.
    """
    text_by_keyword: dict[str, bytes] = {}
    for chunk in chunks(file):
        if chunk.kind in _TEXTS:
            keyword, _, body = _data(file, chunk).partition(b"\0")
            name = keyword.decode("latin-1")
            if name in keywords and name not in text_by_keyword:
                if chunk.kind == b"tEXt":
                    text = body
                elif chunk.kind == b"zTXt":
                    text = _inflated(chunk, body[1:])
                else:
                    deflated = body[:1] == b"\x01"
                    parts = body[2:].split(b"\0", 2)
                    if len(parts) < 3:
                        raise BrokenPNG("broken", chunk.at)
                    text = _inflated(chunk, parts[2]) if deflated else parts[2]
                text_by_keyword[name] = text
    return text_by_keyword


def chunks(file: BinaryIO) -> Iterator[Chunk]:
    """Each chunk up to the end of the picture; bytes after IEND are no part of it."""
    file.seek(0)
    if file.read(len(SIGNATURE)) != SIGNATURE:
        raise BrokenPNG("not_png", 0)
    at = len(SIGNATURE)
    for number in range(MAX_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            raise BrokenPNG("truncated", at)
        length, kind = struct.unpack(">I4s", head)
        if length > LONGEST_CHUNK or not kind.isalpha():
            raise BrokenPNG("broken", at)
        file.seek(at + 8 + length)
        if len(file.read(4)) < 4:
            raise BrokenPNG("truncated", at)
        chunk = Chunk(kind, at, length)
        if number == 0:
            if chunk.kind != b"IHDR" or chunk.length != 13:
                raise BrokenPNG("broken", chunk.at)
            width, height = struct.unpack(">II", _data(file, chunk)[:8])
            if width * height > MAX_PIXELS:
                raise BrokenPNG("too_big", chunk.at)
        yield chunk
        if chunk.kind == b"IEND":
            return
        at += chunk.length + 12
    raise BrokenPNG("too_many", at)


def _data(file: BinaryIO, chunk: Chunk) -> bytes:
    """The chunk's data, which must match its checksum."""
    if chunk.length > LONGEST_TEXT:
        raise BrokenPNG("too_long", chunk.at)
    file.seek(chunk.at + 8)
    data = file.read(chunk.length)
    if struct.pack(">I", zlib.crc32(data, zlib.crc32(chunk.kind))) != file.read(4):
        raise BrokenPNG("broken", chunk.at)
    return data


def _inflated(chunk: Chunk, data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(data, LONGEST_TEXT + 1)
    except zlib.error as error:
        raise BrokenPNG("broken", chunk.at) from error
    if len(text) > LONGEST_TEXT:
        raise BrokenPNG("too_long", chunk.at)
    if not inflater.eof:
        raise BrokenPNG("truncated", chunk.at)
    return text


def with_texts(picture: BinaryIO, texts: Mapping[str, bytes], replacing: tuple[str, ...]) -> Iterator[bytes]:
    """The bytes of `picture` with `texts` as tEXt chunks after its header; texts named in `replacing` are left out.

    Every other chunk is unchanged, byte for byte.
    """
    yield SIGNATURE
    for chunk in chunks(picture):
        if chunk.kind not in _TEXTS:
            is_text_named = False
        else:
            picture.seek(chunk.at + 8)
            keyword, _, _ = picture.read(min(chunk.length, 80)).partition(b"\0")
            is_text_named = keyword.decode("latin-1") in replacing
        if not is_text_named:
            picture.seek(chunk.at)
            bytes_left = chunk.length + 12
            while bytes_left:
                block = picture.read(min(bytes_left, _BLOCK))
                bytes_left -= len(block)
                yield block
        if chunk.kind == b"IHDR":
            yield from (make_chunk(b"tEXt", name.encode("latin-1") + b"\0" + text) for name, text in texts.items())


def make_chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk with its length and checksum."""
    checksum = zlib.crc32(data, zlib.crc32(kind))
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def plain(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """A picture of one colour, for a card without a portrait."""
    row = b"\0" + bytes(colour) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(row * height, 9)
    return SIGNATURE + make_chunk(b"IHDR", header) + make_chunk(b"IDAT", pixels) + make_chunk(b"IEND", b"")
