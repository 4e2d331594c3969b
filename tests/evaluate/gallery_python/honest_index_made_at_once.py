# VERDICT correct
# AGAINST indexed
# WHY The index is made where the original makes it, and what it keeps beside it harms nobody.
from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Index:
    words: list

    def __post_init__(self):
        found = defaultdict(list)
        for at, word in enumerate(self.words):
            found[word].append(at)
        self.places = dict(found)
        self.count = len(self.words)


def indexed(text):
    return Index(text.split())
