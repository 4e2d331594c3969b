from dataclasses import dataclass


def indexed(text):
    return Index(text.split())


@dataclass
class Index:
    """A text's words, and where each of them is."""

    words: list

    def __post_init__(self):
        self.places = {}
        for at, word in enumerate(self.words):
            self.places.setdefault(word, []).append(at)
