"""Pictures are checked and keep nothing but what draws them."""

import struct

import pytest

from persona.companion import pictures
from persona.companion.pictures import PictureRefused, only_pixels
from persona.models import Picture
from tests.persona.images import PLACE, jpeg, png, png_with_place, webp
from tests.table import each_row


@each_row(
    ("data", "picture_format"),
    [(png_with_place(), "png"), (jpeg(), "jpeg"), (webp(), "webp"), (png(), "png")],
)
def test_what_is_not_drawn_is_left_out_and_a_second_pass_changes_nothing(data: bytes, picture_format: str) -> None:
    found, content = only_pixels(data)
    assert found == picture_format
    assert PLACE not in content
    assert not any(word in content for word in (b"GPS", b"JFIF", b"ns.adobe", b"iCCP", b"ICCP", b"acTL", b"XMP"))
    assert only_pixels(content) == (found, content)


def test_a_png_without_anything_beside_its_pixels_stays_byte_for_byte() -> None:
    assert only_pixels(png())[1] == png()


def test_a_jpeg_keeps_how_it_is_turned_and_how_its_colours_are_coded() -> None:
    content = only_pixels(jpeg(turned=6))[1]
    assert content[6:12] == b"Exif\0\0"
    assert struct.unpack_from(">HHHIHH", content, 20) == (1, 0x0112, 3, 1, 6, 0)
    assert b"\xff\xee\x00\x0eAdobe\0\x64\0\0\0\0\x01\xff" in content
    assert content.count(b"\x12\xff\x00\x34\xff\xd0\x56") == 2
    assert b"Exif" not in only_pixels(jpeg(turned=1))[1]
    assert b"Exif" not in only_pixels(jpeg(turned=77))[1]


def test_a_webp_keeps_that_it_has_alpha_and_no_more() -> None:
    content = only_pixels(webp())[1]
    assert content[12:21] == b"VP8X" + struct.pack("<I", 10) + b"\x10"
    assert int.from_bytes(content[4:8], "little") == len(content) - 8


@each_row(
    ("data", "code"),
    [
        (b"", "not_a_picture"),
        (b"GIF89a" + b"\0" * 40, "not_a_picture"),
        (b"<html><script>alert(1)</script>", "not_a_picture"),
        (b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "vector"),
        (b"\xef\xbb\xbf  <!-- x --> <SVG\n><script/></SVG>", "vector"),
        (b"\0" * (pictures.MAX_BYTES + 1), "too_big"),
        (png(9_000, 9_000), "too_many_pixels"),
        (jpeg(65_000, 65_000), "too_many_pixels"),
        (webp(16_000, 16_000), "too_many_pixels"),
        (png(0, 5), "broken"),
        (jpeg(0, 5), "broken"),
        (png()[:-4], "broken"),
        (png()[:30], "broken"),
        (png().replace(b"IDAT", b"IDOT"), "broken"),
        (jpeg().split(b"\xff\xda")[0], "broken"),
        (jpeg()[:60], "broken"),
        (b"\xff\xd8\xff\xd9", "broken"),
        (b"\xff\xd8\xff" + b"\xff" * 50, "broken"),
        (webp()[:40], "broken"),
        (b"RIFF\x04\0\0\0WEBP", "broken"),
        (webp(is_animated=True), "animated"),
    ],
)
def test_what_is_no_still_picture_is_refused_with_its_reason(data: bytes, code: str) -> None:
    with pytest.raises(PictureRefused) as refusal:
        only_pixels(data)
    assert refusal.value.code == code
    assert pictures.explain(refusal.value).endswith((".", "。"))


def test_any_prefix_of_a_picture_is_taken_or_refused_and_never_breaks() -> None:
    for whole in (png_with_place(), jpeg(), webp()):
        for length in range(len(whole)):
            try:
                assert only_pixels(whole[:length])[0] in Picture.Format.values
            except PictureRefused:
                continue
