# VERDICT correct
# AGAINST tokens
# WHY Nobody can change a token or its place, so nobody sees whether two of them are one object.
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
    found = []
    for line, words in enumerate(text.split("\n")):
        place, known = Place(line, 0), {}
        for word in words.split():
            if word not in known:
                kind = Kind.NUMBER if word.isdigit() else Kind.WORD
                known[word] = Token(kind, word, place)
            found.append(known[word])
    return found
