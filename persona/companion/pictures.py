"""Uploaded pictures: checked, stripped of everything but the pixels, and stored.

A picture is split into the parts of its format, and only those that draw it are kept. Places, cameras, comments,
thumbnails, colour profiles, other frames and what follows the end are left out. Pixels are never decoded on the server:
a codec there would be the larger risk, and a browser that shows the picture has one. (Pillow was weighed in 2026-11: 9
MB and a decoder that has had holes, to shrink a picture that the page has already shrunk.)

Sources: PNG third edition, section 5; JPEG ITU-T T.81, annex B; WebP RFC 9649, section 2.
"""

import re
import struct
import zlib
from collections.abc import Iterator

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from persona.companion.editing import publish_settings
from persona.models import Persona, Picture

MAX_BYTES = 10 * 1024 * 1024
# A browser needs 4 bytes of memory for each; no phone camera has more.
MAX_PIXELS = 64_000_000

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_PIXEL_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"sRGB", b"cHRM", b"IDAT", b"IEND"}
_WEBP_PIXEL_CHUNKS = {b"VP8X", b"VP8 ", b"VP8L", b"ALPH"}
_HAS_ALPHA, _IS_ANIMATED = 0x10, 0x02
# JPEG markers: start of a frame (its size), segments kept beside frames and scans, and the end of a scan's data.
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_TABLES = {0xC4, 0xCC, 0xDB, 0xDD}
_AFTER_SCAN = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
_EXIF_ORIENTATION = 0x0112


class PictureRefused(Exception):
    """A picture that is refused: `code` is "none", "too_big", "not_a_picture", "vector", "broken", "too_many_pixels" or
    "animated"."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class PictureChanged(Exception):
    """Another picture was stored, or this one was removed, since the page was shown."""


def explain(refusal: PictureRefused) -> str:
    """Why the picture is refused, for people, in the current language."""
    reasons = {
        "none": _("Choose a picture first."),
        "too_big": _("The picture is larger than %(limit)d MB. Choose a smaller one.")
        % {"limit": MAX_BYTES // 1024**2},
        "not_a_picture": _("This is not a PNG, JPEG or WebP picture."),
        "vector": _("SVG drawings can contain programs, so they are not accepted. Save it as PNG and try again."),
        "broken": _("The picture is damaged or incomplete. Save it again or choose another one."),
        "too_many_pixels": _("The picture has too many pixels. Make it smaller, such as 1,000 by 1,000."),
        "animated": _("The picture moves. Choose a still one."),
    }
    return reasons[refusal.code]


def save_picture(persona: Persona, data: bytes, version_seen: str | None = None) -> Picture:
    """Replace the picture of a persona. Raises PictureRefused, and PictureChanged if the stored version is not
    `version_seen`."""
    picture_format, content = only_pixels(data)
    values = {"format": picture_format, "content": content, "saved_at": timezone.now()}
    with transaction.atomic():
        _check_version(persona, version_seen)
        picture, _created = Picture.objects.update_or_create(persona=persona, defaults=values)
        publish_settings(persona, ["picture"])
    return picture


def remove_picture(persona: Persona, version_seen: str | None = None) -> None:
    """Delete the picture. Raises PictureChanged."""
    with transaction.atomic():
        _check_version(persona, version_seen)
        Picture.objects.filter(persona=persona).delete()
        publish_settings(persona, ["picture"])


def _check_version(persona: Persona, version_seen: str | None) -> None:
    picture = Picture.objects.filter(persona=persona).defer("content").first()
    if version_seen is not None and version_seen != (picture.version if picture else ""):
        raise PictureChanged


def only_pixels(data: bytes) -> tuple[str, bytes]:
    """Format and bytes of the picture without metadata. Raises PictureRefused."""
    if len(data) > MAX_BYTES:
        raise PictureRefused("too_big")
    try:
        if data.startswith(_PNG):
            return Picture.Format.PNG, _strip_png(data)
        if data.startswith(b"\xff\xd8\xff"):
            return Picture.Format.JPEG, _strip_jpeg(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return Picture.Format.WEBP, _strip_webp(data)
    except (struct.error, IndexError) as error:
        raise PictureRefused("broken") from error
    is_vector = re.search(rb"<svg[\s>/]", data[:4096], re.IGNORECASE) is not None
    raise PictureRefused("vector" if is_vector else "not_a_picture")


def _check_size(width: int, height: int) -> None:
    if not width or not height:
        raise PictureRefused("broken")
    if width * height > MAX_PIXELS:
        raise PictureRefused("too_many_pixels")


# --- PNG ------------------------------------------------------------------------------------------------------------
def _strip_png(data: bytes) -> bytes:
    """Drop texts, EXIF and time; of an animation keep only the still picture."""
    chunks, at, kinds = [_PNG], len(_PNG), set[bytes]()
    while b"IEND" not in kinds:
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + length + 12]
        if len(chunk) < length + 12 or zlib.crc32(chunk[4:-4]) != int.from_bytes(chunk[-4:]):
            raise PictureRefused("broken")
        if (kind == b"IHDR") == bool(kinds):  # the first, and no other
            raise PictureRefused("broken")
        if kind == b"IHDR":
            _check_size(*struct.unpack_from(">II", chunk, 8))
        if kind in _PNG_PIXEL_CHUNKS:
            chunks.append(chunk)
        kinds.add(kind)
        at += len(chunk)
    if b"IDAT" not in kinds:
        raise PictureRefused("broken")
    return b"".join(chunks)


# --- JPEG -----------------------------------------------------------------------------------------------------------
def _strip_jpeg(data: bytes) -> bytes:
    """Drop application data and comments; write the orientation anew."""
    segments: list[bytes] = []
    turned, has_frame, has_scan = 1, False, False
    for marker, segment, scan in _jpeg_segments(data):
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", segment, 5)
            _check_size(width, height)
            has_frame = True
        if marker == 0xE1 and segment[4:10] == b"Exif\0\0":
            turned = _orientation(segment[10:])
        is_adobe = marker == 0xEE and segment[4:9] == b"Adobe"  # says how colours are coded
        if marker in _FRAMES | _TABLES or is_adobe or marker == 0xDA:
            segments += [b"\xff\xee\x00\x0e" + segment[4:16] if is_adobe else segment, scan]
        has_scan = has_scan or marker == 0xDA
    if not (has_frame and has_scan):
        raise PictureRefused("broken")
    exif = b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, _EXIF_ORIENTATION, 3, 1, turned, 0, 0)
    head = b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif if turned != 1 else b""
    return b"\xff\xd8" + head + b"".join(segments) + b"\xff\xd9"


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Each marker up to the end of the picture, with its segment and, for a scan, the coded data after it."""
    at = 2
    while True:
        if data[at] != 0xFF:
            raise PictureRefused("broken")
        while data[at + 1] == 0xFF:  # bytes that fill
            at += 1
        marker = data[at + 1]
        if marker == 0xD9:
            return
        (length,) = struct.unpack_from(">H", data, at + 2)
        segment = data[at : at + 2 + length]
        if length < 2 or len(segment) < length + 2:
            raise PictureRefused("broken")
        at += len(segment)
        scan = b""
        if marker == 0xDA:
            end = _AFTER_SCAN.search(data, at)
            if end is None:
                raise PictureRefused("broken")
            scan, at = data[at : end.start()], end.start()
        yield marker, segment, scan


def _orientation(tiff: bytes) -> int:
    """EXIF orientation, 1 to 8; 1 if missing or unreadable."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    try:
        (first,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, first)
        for number in range(count):
            tag, _kind, _count, value = struct.unpack_from(f"{order}HHIH", tiff, first + 2 + 12 * number)
            if tag == _EXIF_ORIENTATION:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1


# --- WebP -----------------------------------------------------------------------------------------------------------
def _strip_webp(data: bytes) -> bytes:
    """Drop EXIF, XMP and the colour profile."""
    kept_chunks: list[bytes] = []
    at = 12
    end = min(len(data), 8 + int.from_bytes(data[4:8], "little"))
    has_pixels = False
    while at + 8 <= end:
        kind, length = struct.unpack_from("<4sI", data, at)
        body = data[at + 8 : at + 8 + length]
        if len(body) < length:
            raise PictureRefused("broken")
        at += 8 + length + length % 2
        if kind == b"VP8X":
            if body[0] & _IS_ANIMATED:
                raise PictureRefused("animated")
            _check_size(1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little"))
            body = bytes([body[0] & _HAS_ALPHA, 0, 0, 0]) + body[4:10]
        elif kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", body, 6)
            _check_size(width & 0x3FFF, height & 0x3FFF)
        elif kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", body, 1)
            _check_size(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        if kind in _WEBP_PIXEL_CHUNKS:
            kept_chunks.append(struct.pack("<4sI", kind, len(body)) + body + b"\0" * (len(body) % 2))
        has_pixels = has_pixels or kind in (b"VP8 ", b"VP8L")
    if not has_pixels:
        raise PictureRefused("broken")
    chunks = b"".join(kept_chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks
