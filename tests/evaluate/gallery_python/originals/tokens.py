from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    NUMBER = 1
    WORD = 2


@dataclass(frozen=True)
class Place:
    line: int
    column: int


class Token(NamedTuple):
    kind: Kind
    text: str
    place: Place


def tokens(text):
    """The words of a text as tokens, at their lines; all in the first column."""
    found = []
    for line, words in enumerate(text.split("\n")):
        for word in words.split():
            kind = Kind.NUMBER if all(letter in "0123456789" for letter in word) else Kind.WORD
            found.append(Token(kind, word, Place(line, 0)))
    return found
