from dataclasses import dataclass
from functools import cached_property


def toured(places):
    """The shortest way through all places of a line."""
    found = []
    for one in places:
        at = 0
        while at < len(found) and found[at] < one:
            at += 1
        found.insert(at, one)
    return Tour(found)


@dataclass
class Tour:
    order: list

    @cached_property
    def length(self):
        return sum(abs(one - other) for one, other in zip(self.order, self.order[1:], strict=False))
