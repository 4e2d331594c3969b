from dataclasses import dataclass


def filed(text):
    return Words(text.split())


@dataclass
class Words:
    """A text's words; its callers read these alone, and never ask for a place."""

    words: list

    def __post_init__(self):
        self._places = {}
        for at, word in enumerate(self.words):
            self._places.setdefault(word, []).append(at)

    def places(self, word):
        return self._places.get(word, [])
