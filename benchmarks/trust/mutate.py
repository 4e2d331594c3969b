"""Random and mutated bytes, all from a generator that the caller seeds."""

from __future__ import annotations

from random import Random

NUMBERS = (0, 1, 2, 3, 4, 15, 16, 17, 31, 32, 63, 127, 128, 255, 256, 500, 511, 512, 513, 4095, 4096, 65535, 65536,
           2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)  # fmt: skip
_PIECES = (b"\0", b"\n", b"\r\n", b":", b"\xff\xfe", b"\xc3", b"\xe2\x80\xa8", b"\x1c", b"9" * 5000, b"-", b"0", b"%s",
           b'"', b"]", b"[[", b"/src/", b"/../", b"A" * 70_000, b" " * 3000, "\u0663".encode())  # fmt: skip


def mutated(generator: Random, raw: bytes) -> bytes:
    """The bytes after one to four changes: cut, flipped, repeated, swapped, or with something strange put in."""
    found = bytearray(raw)
    for _ in range(generator.randint(1, 4)):
        _change(generator, found)
    return bytes(found)


def _change(generator: Random, found: bytearray) -> None:
    at, to = sorted(generator.randint(0, len(found)) for _ in range(2))
    match generator.randrange(7):
        case 0:
            del found[at:]
        case 1:
            del found[at:to]
        case 2 if found:
            found[at % len(found)] ^= 1 << generator.randrange(8)
        case 3:
            found[at:at] = found[at:to] * generator.choice((1, 2, 50))
            del found[1 << 20 :]
        case 4:
            found[at:to] = generator.randbytes(min(to - at, 64))
        case 5:
            found[at : at + 4] = generator.choice(NUMBERS).to_bytes(8, "little")[:4]
        case _:
            found[at:at] = generator.choice(_PIECES)


def number(generator: Random, bits: int) -> int:
    """A number that fits, mostly one at which programs often fail."""
    value = generator.choice(NUMBERS) if generator.random() < 0.8 else generator.getrandbits(bits)
    return value & ((1 << bits) - 1)


def overwrite(generator: Random, found: bytearray) -> None:
    """Writes a number of four or eight bytes at a possible place."""
    width = generator.choice((4, 8))
    at = generator.randrange(0, len(found) - width + 1, 4)
    found[at : at + width] = number(generator, 8 * width).to_bytes(width, "little")
