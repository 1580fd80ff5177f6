"""Files with something broken in them, the same ones at every run."""

import random

# Byte sequences that break parsers.
_STONES = (
    b"\0", b"\xff\xfe", b'"', b"{", b"]", b"null", b"1e999", b"-" * 50, b"[" * 100, b"\\ud800", b"9" * 5000, b"\n---\n",
    b"2024-01-05\n", b",,,,", b"\r",
)  # fmt: skip


def mutate(data: bytes, chance: random.Random) -> bytes:
    """`data` with one to four damages: bytes changed, deleted, doubled, hostile bytes inserted, or the end cut off."""
    changed = bytearray(data)
    for _time in range(chance.randint(1, 4)):
        place, length = chance.randrange(len(changed) + 1), chance.choice((1, 4, 12, 200))
        action = chance.randrange(5)
        if action == 0:
            changed[place : place + length] = chance.randbytes(min(length, 12))
        elif action == 1:
            del changed[place : place + length]
        elif action == 2:
            changed[place:place] = changed[place : place + length]
        elif action == 3:
            changed[place:place] = chance.choice(_STONES)
        else:
            del changed[place:]
    return bytes(changed)
