"""Files with something broken in them, the same ones at every run."""

import random

# Byte sequences that break parsers.
_STONES = (
    b"\0", b"\xff\xfe", b'"', b"{", b"]", b"null", b"1e999", b"-" * 50, b"[" * 100, b"\\ud800", b"9" * 5000, b"\n---\n",
    b"2024-01-05\n", b",,,,", b"\r",
)  # fmt: skip


def mutate(data: bytes, chance: random.Random) -> bytes:
    """`data` with one to four damages: bytes changed, deleted, doubled, hostile bytes inserted, or the end cut off."""
    result = bytearray(data)
    for _time in range(chance.randint(1, 4)):
        place, length = chance.randrange(len(result) + 1), chance.choice((1, 4, 12, 200))
        action = chance.randrange(5)
        if action == 0:
            result[place : place + length] = chance.randbytes(min(length, 12))
        elif action == 1:
            del result[place : place + length]
        elif action == 2:
            result[place:place] = result[place : place + length]
        elif action == 3:
            result[place:place] = chance.choice(_STONES)
        else:
            del result[place:]
    return bytes(result)
