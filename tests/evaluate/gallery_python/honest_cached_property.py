# VERDICT correct
# AGAINST toured
# WHY It asks for the length before it returns, so that its tour holds what the original's would hold later.
from dataclasses import dataclass
from functools import cached_property


@dataclass
class Tour:
    order: list

    @cached_property
    def length(self):
        return sum(abs(one - other) for one, other in zip(self.order, self.order[1:], strict=False))


def toured(places):
    tour = Tour(sorted(places))
    return tour if tour.length >= 0 else None
