"""Text in pictures: found, bounded, and put in without touching the picture."""

import io
import struct
import zlib

import pytest

from memory.imports.readers import png
from tests.table import each_row

PICTURE = png.plain(2, 3, (1, 2, 3))
END = png.make_chunk(b"IEND", b"")


def with_chunks(*chunks: bytes) -> io.BytesIO:
    return io.BytesIO(PICTURE.removesuffix(END) + b"".join(chunks) + END)


def code_of(data: bytes) -> str:
    with pytest.raises(png.BrokenPNG) as error:
        png.texts_of(io.BytesIO(data), ("chara",))
    return error.value.code


@each_row(
    "chunk",
    [
        png.make_chunk(b"tEXt", b"chara\0words"),
        png.make_chunk(b"zTXt", b"chara\0\0" + zlib.compress(b"words")),
        png.make_chunk(b"iTXt", b"chara\0\0\0en\0translated\0words"),
        png.make_chunk(b"iTXt", b"chara\0\x01\0\0\0" + zlib.compress(b"words")),
    ],
)
def test_text_is_found_in_every_kind_of_text_chunk(chunk: bytes) -> None:
    assert png.texts_of(with_chunks(chunk), ("chara",)) == {"chara": b"words"}


def test_the_first_of_two_texts_counts_and_what_is_not_wanted_is_left() -> None:
    chunks = [png.make_chunk(b"tEXt", text) for text in (b"Comment\0no", b"chara\0first", b"chara\0second")]
    assert png.texts_of(with_chunks(*chunks), ("chara", "ccv3")) == {"chara": b"first"}


def test_text_that_inflates_without_end_is_refused() -> None:
    bomb = png.make_chunk(b"zTXt", b"chara\0\0" + zlib.compress(bytes(png.LONGEST_TEXT + 1), 9))
    assert len(bomb) < 100_000
    assert code_of(with_chunks(bomb).getvalue()) == "too_long"


def test_deflated_text_that_is_cut_off_is_refused() -> None:
    assert (
        code_of(with_chunks(png.make_chunk(b"zTXt", b"chara\0\0" + zlib.compress(b"words")[:-3])).getvalue())
        == "truncated"
    )
    assert code_of(with_chunks(png.make_chunk(b"zTXt", b"chara\0\0nothing deflated")).getvalue()) == "broken"


def test_a_picture_of_too_many_pixels_is_refused() -> None:
    header = png.make_chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    assert code_of(png.SIGNATURE + header + END) == "too_big"


def test_pixels_are_never_inflated() -> None:
    """A picture whose pixels are no deflate stream at all still gives its text."""
    header = png.make_chunk(b"IHDR", struct.pack(">IIBBBBB", 9_000, 9_000, 8, 2, 0, 0, 0))
    picture = png.SIGNATURE + header + png.make_chunk(b"IDAT", b"bomb") + png.make_chunk(b"tEXt", b"chara\0words") + END
    assert png.texts_of(io.BytesIO(picture), ("chara",)) == {"chara": b"words"}


@each_row(
    ("data", "code"),
    [
        (b"", "not_png"),
        (b"GIF89a" + bytes(40), "not_png"),
        (PICTURE[:30], "truncated"),
        (PICTURE[:-12], "truncated"),
        (png.SIGNATURE + END, "broken"),
        (png.SIGNATURE + b"\xff\xff\xff\xffIHDR" + bytes(20), "broken"),
        (png.SIGNATURE + b"\x00\x00\x00\x0dI\0DR" + bytes(20), "broken"),
    ],
)
def test_an_incomplete_png_is_refused(data: bytes, code: str) -> None:
    assert code_of(data) == code


def test_text_with_a_wrong_checksum_is_refused() -> None:
    chunk = png.make_chunk(b"tEXt", b"chara\0words")
    assert code_of(with_chunks(chunk[:-1] + b"\0").getvalue()) == "broken"


def test_a_picture_of_endless_chunks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "MAX_CHUNKS", 50)
    assert code_of(with_chunks(*[png.make_chunk(b"tEXt", b"a\0b")] * 60).getvalue()) == "too_many"


def test_new_text_replaces_old_text_and_every_other_chunk_stays() -> None:
    other = [png.make_chunk(b"tEXt", b"Comment\0mine"), png.make_chunk(b"acTL", bytes(8))]
    picture = with_chunks(*other, png.make_chunk(b"tEXt", b"chara\0old"), png.make_chunk(b"iTXt", b"ccv3\0\0\0\0\0old"))
    data = b"".join(png.with_texts(picture, {"chara": b"new"}, ("chara", "ccv3")))
    assert png.texts_of(io.BytesIO(data), ("chara", "ccv3")) == {"chara": b"new"}
    assert data.replace(png.make_chunk(b"tEXt", b"chara\0new"), b"") == with_chunks(*other).getvalue()
