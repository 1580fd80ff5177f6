"""Pictures in miniature, with what cameras and editors write beside the pixels."""

import struct
import zlib

PLACE = b"GPS 59.3293 N 18.0686 E"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 1, height: int = 1, extra: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\x88\x66\x44" * width) * height) if width * height < 10_000 else b"x"
    body = chunk(b"IHDR", header) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def png_with_place() -> bytes:
    texts = chunk(b"tEXt", b"Comment\0" + PLACE) + chunk(b"eXIf", b"MM\0*" + PLACE) + chunk(b"iCCP", PLACE)
    return png(extra=texts + chunk(b"acTL", b"\0" * 8)) + PLACE


def segment(marker: int, data: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def jpeg(width: int = 4, height: int = 2, turned: int = 6) -> bytes:
    """As cameras write it: EXIF with a place, a thumbnail, XMP, a comment, two scans, and more behind the end."""
    tiff = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, turned, 0, 0) + PLACE
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"
    scan = segment(0xDA, b"\x01\x01\x00\x00\x3f\x00") + b"\x12\xff\x00\x34\xff\xd0\x56"
    return (
        b"\xff\xd8"
        + segment(0xE0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0" + PLACE)
        + segment(0xE1, b"Exif\0\0" + tiff)
        + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + PLACE)
        + segment(0xEE, b"Adobe\0\x64\0\0\0\0\x01" + PLACE)
        + segment(0xFE, PLACE)
        + segment(0xDB, b"\0" + bytes(range(1, 65)))
        + b"\xff"
        + segment(0xC2, frame)
        + segment(0xC4, b"\0" * 17)
        + scan
        + scan
        + b"\xff\xd9"
        + PLACE
    )


def webp(width: int = 3, height: int = 2, *, is_animated: bool = False) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    flags = 0x10 | 0x08 | 0x04 | 0x20 | (0x02 if is_animated else 0)
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    pixels = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\x07\x10"
    chunks = part(b"VP8X", bytes([flags, 0, 0, 0]) + canvas) + part(b"ICCP", PLACE) + part(b"VP8L", pixels)
    chunks += part(b"EXIF", b"MM\0*" + PLACE) + part(b"XMP ", PLACE)
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks + PLACE
