# VERDICT wrong
# AGAINST indexed
# WHY The index is made when somebody asks for it: what is no field of a dataclass is part of it too.
from dataclasses import dataclass


@dataclass
class Index:
    words: list

    @property
    def places(self):
        found = {}
        for at, word in enumerate(self.words):
            found.setdefault(word, []).append(at)
        return found


def indexed(text):
    return Index(text.split())
