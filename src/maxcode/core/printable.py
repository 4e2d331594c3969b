"""Text from a program or a file, made safe for a terminal, where control sequences clear, retitle and forge lines."""

from __future__ import annotations

import re

_ESCAPED = {"\r": "\\r", "\0": "\\0"}
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")


def printable(text: str) -> str:
    """The text with each character that is not printable as an escape, ``\\x1b`` or ``\\u202e``.

    Line breaks and tabs stay.  Escaped are the control characters C0 and C1, the format characters (among them those
    that change the direction of text), halves of surrogate pairs, and unassigned characters.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else _escape(one) for one in text)


def printable_json(text: str) -> str:
    """The same JSON with each character that is not printable as ``\\uXXXX``, so it decodes to the same values."""
    if text.isprintable():
        return text
    return _BEYOND_ASCII.sub(lambda found: found[0] if found[0].isprintable() else _in_json(found[0]), text)


def _escape(one: str) -> str:
    if one in _ESCAPED:
        return _ESCAPED[one]
    number = ord(one)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _in_json(one: str) -> str:
    """One character as JSON escapes: beyond U+FFFF these are the two halves of its surrogate pair."""
    halves = one.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{int.from_bytes(halves[at : at + 2], 'big'):04x}" for at in range(0, len(halves), 2))
